/** A file that steers direct conversations and has changed. */
import { messages } from "~/text/messages";
import { type Card, part, TextChange } from "../card";

const t = messages("inbox_cards_prompt", {
  sentence: "{file} has changed; conversations with your own rights ignore it until you approve its new text.",
  read: "See what has changed",
  label_approve: "Approve",
  done_approve: "The new text of {file} is approved.",
});

export const card: Card = {
  icon: "edit",
  t,
  parts: ({ source }) => ({ file: part(source) }),
  Body: TextChange,
  isRead: true,
};
