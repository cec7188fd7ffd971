/** A part of a plugin that waits for an approval. */
import { messages } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { type BodyProps, type Card, part, Whole } from "../card";

const t = messages("inbox_cards_plugin", {
  sentence_programs: "The plugin {plugin} wants to run programs.",
  sentence_texts: "The plugin {plugin} wants to add skills, agents and commands.",
  sentence_changed: "The plugin {plugin} has changed on the disk since you approved it.",
  read: "See what it brings",
  label_approve: "Approve",
  label_reject: "Reject",
  done_approve: "The plugin {plugin} is approved.",
  done_reject: "The plugin {plugin} runs no programs.",
});

const Body = ({ item: { details } }: BodyProps) => <Whole text={details.contains ?? said(String(details.problem ?? ""))} />;

export const card: Card = {
  icon: "capabilities",
  t,
  parts: ({ title }) => ({ plugin: part(/plugin (\S+)/.exec(title)?.[1] ?? title) }),
  sentence: ({ details }) => `sentence_${details.part === "programs" || details.part === "texts" ? details.part : "changed"}`,
  Body,
  isRead: true,
};
