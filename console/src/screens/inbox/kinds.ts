/** The texts and abilities of an item, by its kind. */
import { CARDS } from "screens:cards";
import { answer, type Item } from "~/state/inbox";
import { attempt, toast } from "~/state/toasts";
import type { Card, Values } from "./card";
import { t } from "./texts";

/** A text of a kind; a grant such as that of `allow Bash(git:*)` stands in it as {grant}. */
function said(card: Card, what: string, word: string, parts: Record<string, string>): string {
  const [first = word, ...grant] = word.split(" ");
  const key = `${what}_${first.replace(/-/g, "_")}${grant.length ? "_grant" : ""}`;
  const granted = grant.join(" ");
  return card.t(key as never, { ...parts, grant: card.grant?.(granted) ?? granted });
}

export interface Shown {
  item: Item;
  card: Card;
  parts: Record<string, string>;
  /** The sentence with its braces, and with its names. */
  template: string;
  sentence: string;
  label: (word: string) => string;
}

/** An item as a card, nothing for a kind that this console does not know: the computer is newer than it. */
export function shown(item: Item): Shown | undefined {
  const card = CARDS[item.kind];
  if (!card) return undefined;
  const parts = card.parts(item);
  const key = (card.sentence?.(item) ?? "sentence") as never;
  return { item, card, parts, template: card.t(key), sentence: card.t(key, parts), label: (word) => said(card, "label", word, parts) };
}

/** Answer an item as it was shown, and offer to take that back where it can be. */
export async function give({ item, card, parts, sentence, label }: Shown, word: string, values?: Values): Promise<void> {
  const given = values ? Object.values(values).flat().join(", ") : label(word);
  if (!(await answer(item, word, values, `${sentence}\n${given}`))) return;
  const undo = card.undo?.(item, word);
  const action = undo && { label: t("undo"), run: () => void attempt(async () => toast(await undo().then(() => t("undone")))) };
  toast(said(card, "done", word, parts), action ? { action } : {});
}

/** Answer several, the oldest first, each as it was shown; one that fails ends it. */
export async function giveAll(items: Item[], word: string): Promise<void> {
  let n = 0;
  for (const item of items) if (await answer(item, word)) n += 1;
  if (n) toast(t("all_done", { n }));
}

export interface Group {
  word: string;
  label: string;
  items: Item[];
}

/** Answers that may be given to all items of a kind at once, where there are several. */
export function groups(items: Item[]): Group[] {
  const found: Group[] = [];
  for (const [kind, card] of Object.entries(CARDS)) {
    for (const word of card.together ?? []) {
      const those = items.filter((item) => item.kind === kind && item.may_answer && item.answers.includes(word));
      const key = `all_${word.replace(/-/g, "_")}` as never;
      if (those.length > 1) found.push({ word, label: card.t(key, { n: those.length }), items: those });
    }
  }
  return found;
}
