/** A skill that direct conversations leave out. */
import { messages } from "~/text/messages";
import { type Card, part, TextChange } from "../card";

const t = messages("inbox_cards_skill", {
  sentence: "The skill {name} is new or has changed; conversations with your own rights leave it out until you approve it.",
  read: "Read the skill",
  label_approve: "Approve",
  done_approve: "The skill {name} is approved.",
});

export const card: Card = {
  icon: "capabilities",
  t,
  parts: ({ title }) => ({ name: part(title.replace(/^Skill /, "")) }),
  Body: TextChange,
  isRead: true,
};
