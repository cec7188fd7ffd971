/** A call of a tool that no rule allows. */
import { Details } from "~/components/details";
import type { Item } from "~/state/inbox";
import { messages } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { asker, type BodyProps, type Card, part, Whole } from "../card";

const t = messages("inbox_cards_permission", {
  sentence_run: "The agent in “{source}” wants to run {what}.",
  sentence_read: "The agent in “{source}” wants to read {what}.",
  sentence_change: "The agent in “{source}” wants to change {what}.",
  sentence_use: "The agent in “{source}” wants to use {what}.",
  label_allow: "Allow once",
  label_allow_grant: "Allow {grant} in this conversation",
  label_deny: "Refuse",
  done_allow: "Allowed once: {what}.",
  done_allow_grant: "Allowed in this conversation: {grant}.",
  done_deny: "Refused: {what}.",
});

const CHANGING = ["Edit", "MultiEdit", "NotebookEdit", "Write"];

/** The deed and its object; tools of others have fields with the same names. */
function deed({ details }: Item): { key: "run" | "read" | "change" | "use"; what: unknown } {
  const { command, file_path } = (details.input ?? {}) as { command?: string; file_path?: string };
  if (details.tool === "Bash" && command) return { key: "run", what: command };
  if (details.tool === "Read" && file_path) return { key: "read", what: file_path };
  if (CHANGING.includes(String(details.tool)) && file_path) return { key: "change", what: file_path };
  return { key: "use", what: details.tool };
}

function Body({ item }: BodyProps) {
  const { details } = item;
  const { key, what } = deed(item);
  const wanted = { ...(details.input as object | undefined) };
  if (key === "run") Object.assign(wanted, { command: undefined });
  return (
    <>
      {key === "run" && <Whole text={what} />}
      <Details value={wanted} />
      {details.reason ? (
        <p class="muted">
          <bdi>{said(String(details.reason))}</bdi>
        </p>
      ) : null}
    </>
  );
}

export const card: Card = {
  icon: "warning",
  t,
  parts: (item) => ({ ...asker(item), what: part(deed(item).what) }),
  sentence: (item) => `sentence_${deed(item).key}`,
  Body,
};
