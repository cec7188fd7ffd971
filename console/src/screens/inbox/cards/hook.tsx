/** A hook that waits for an approval, or a mistake for which hooks do not run. */
import { to } from "~/state/router";
import { messages } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { type BodyProps, type Card, Files, part, Whole } from "../card";

const t = messages("inbox_cards_hook", {
  sentence: "A hook wants to run at {event}, with your own rights.",
  sentence_mistake: "Some hooks do not run: hooks.yaml has a mistake.",
  read: "See what it runs",
  mend: "Open the hooks",
  label_approve: "Approve",
  done_approve: "The hook is approved.",
});

const Body = ({ item: { details } }: BodyProps) => (
  <>
    <Whole text={details.problem ? said(String(details.problem)) : details.command} />
    <Files of={details.files} />
  </>
);

export const card: Card = {
  icon: "play",
  t,
  parts: ({ details }) => ({ event: part(details.event) }),
  sentence: ({ details }) => (details.problem ? "sentence_mistake" : "sentence"),
  Body,
  isRead: true,
  mends: ({ details }) => (details.problem ? { key: "mend", href: to("computer", ["hooks"]) } : undefined),
};
