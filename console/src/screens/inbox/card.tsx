/** A kind of item as a card: a file in `cards/` each, named as the kind is. */
import type { ComponentType } from "preact";
import { Difference } from "~/components/difference";
import type { IconName } from "~/components/icons";
import type { Item } from "~/state/inbox";

export type Values = Record<string, string | string[]>;

export interface BodyProps {
  item: Item;
  /** Answers to the questions of an agent. */
  values: Values;
  onChange: (values: Values) => void;
}

export interface Card {
  icon: IconName;
  /** Its texts: the sentence, `label_WORD` for the button of an answer, `done_WORD` for afterwards, `read` and `all_WORD`. */
  t: (key: never, values?: Record<string, string | number>) => string;
  /** The names in its texts. */
  parts: (item: Item) => Record<string, string>;
  /** Key of its sentence, where it is not `sentence`. */
  sentence?: (item: Item) => string;
  /** The words for a grant of its answers, such as that of `approve guest`; without it the grant is shown as it is. */
  grant?: (name: string) => string;
  /** Everything that an answer decides about and the sentence does not say. */
  Body?: ComponentType<BodyProps>;
  /** A yes is given only where all of it is read: in the list a button opens it. */
  isRead?: boolean;
  isComplete?: (item: Item, values: Values) => boolean;
  /** Answers that may be given to all items of this kind at once. */
  together?: readonly string[];
  /** Take an answer back, where the server can. */
  undo?: (item: Item, word: string) => (() => Promise<unknown>) | undefined;
  /** The place at which it is mended, with the words of its button. */
  mends?: (item: Item) => { key: string; href: string } | { label: string; href: string } | undefined;
}

/** Text of others as a part of a sentence: one line, and none of what turns its direction or drives a screen reader astray. */
export function part(value: unknown, most = 120): string {
  const text = String(value ?? "").replace(/\s+/g, " ").replace(/\p{C}/gu, "").trim();
  return text.length > most ? `${text.slice(0, most - 1)}…` : text || "–";
}

/** A name that is not cut, a host or a path: its end says whose it is. */
export const whole = (value: unknown): string => part(value, 5_000);

/** A translated sentence in which each name stands for itself, whatever its letters are. */
export function Filled({ text, parts }: { text: string; parts: Record<string, string> }) {
  return (
    <>
      {text.split(/(\{\w+\})/).map((piece, index) => {
        const value = parts[piece.slice(1, -1)];
        return piece.startsWith("{") && value !== undefined ? <bdi key={index}>{value}</bdi> : piece;
      })}
    </>
  );
}

/** Long text of others as it is. */
export function Whole({ text }: { text: unknown }) {
  const shown = Array.isArray(text) ? text.join("\n") : String(text ?? "");
  return shown ? <pre class="text-block" tabIndex={0}>{shown}</pre> : null;
}

/** Files with their hashes. */
export function Files({ of }: { of: unknown }) {
  const found = Array.isArray(of) ? (of as { path: string; sha256: string }[]) : [];
  return <Whole text={found.map(({ path, sha256 }) => `${whole(path)}  ${sha256.slice(0, 12)}`)} />;
}

/** The workspace of an item, or the title of its conversation: who asks. */
export function asker(item: Item): { workspace: string; source: string } {
  return { workspace: part(item.details.workspace), source: part(item.source) };
}

/** The difference of one file, or a note why there is none, and the files beside it. */
export function TextChange({ item: { details } }: BodyProps) {
  return (
    <>
      {details.note ? <p>{String(details.note)}</p> : null}
      {details.diff ? <Difference text={String(details.diff)} /> : null}
      <Files of={details.files} />
    </>
  );
}
