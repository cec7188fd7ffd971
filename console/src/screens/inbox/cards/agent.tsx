/** A scheduled agent that waits for an approval. */
import { messages } from "~/text/messages";
import { type BodyProps, type Card, part, Whole } from "../card";

const t = messages("inbox_cards_agent", {
  sentence: "The scheduled agent {agent} is new or has changed, and does not run until you approve it.",
  read: "Read its instructions",
  label_approve: "Approve",
  done_approve: "The scheduled agent {agent} is approved.",
});

export const card: Card = {
  icon: "schedule",
  t,
  parts: ({ details }) => ({ agent: part(details.name) }),
  Body: ({ item }: BodyProps) => <Whole text={item.details.text} />,
  isRead: true,
};
