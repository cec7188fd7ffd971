/** A call of a tool that no rule allows. */
import { Details } from "~/components/details";
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

type Wanted = { command?: string; file_path?: string };

function Body({ item: { details } }: BodyProps) {
  const wanted = (details.input ?? {}) as Wanted;
  return (
    <>
      {wanted.command ? <Whole text={wanted.command} /> : <Details value={wanted} />}
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
  parts: (item) => {
    const { command, file_path } = (item.details.input ?? {}) as Wanted;
    return { ...asker(item), what: part(command ?? file_path ?? item.details.tool) };
  },
  sentence: ({ details }) => {
    const { command, file_path } = (details.input ?? {}) as Wanted;
    if (command) return "sentence_run";
    if (file_path) return details.tool === "Read" ? "sentence_read" : "sentence_change";
    return "sentence_use";
  },
  Body,
};
