/** A part of a plugin that waits for an approval. */
import { messages } from "~/text/messages";
import { type BodyProps, type Card, part, Whole } from "../card";

const t = messages({
  en: {
    sentence_programs: "The plugin {plugin} wants to run programs.",
    sentence_texts: "The plugin {plugin} wants to add skills, agents and commands.",
    sentence_changed: "The plugin {plugin} has changed on the disk since you approved it.",
    read: "See what it brings",
    label_approve: "Approve",
    label_reject: "Reject",
    done_approve: "The plugin {plugin} is approved.",
    done_reject: "The plugin {plugin} runs no programs.",
  },
  de: {
    sentence_programs: "Das Plugin {plugin} möchte Programme ausführen.",
    sentence_texts: "Das Plugin {plugin} möchte Skills, Agenten und Befehle hinzufügen.",
    sentence_changed: "Das Plugin {plugin} hat sich auf der Platte geändert, seit du es genehmigt hast.",
    read: "Ansehen, was es mitbringt",
    label_approve: "Genehmigen",
    label_reject: "Ablehnen",
    done_approve: "Das Plugin {plugin} ist genehmigt.",
    done_reject: "Das Plugin {plugin} führt keine Programme aus.",
  },
});

const Body = ({ item: { details } }: BodyProps) => <Whole text={details.contains ?? details.problem} />;

export const card: Card = {
  icon: "capabilities",
  t,
  parts: ({ title }) => ({ plugin: part(/plugin (\S+)/.exec(title)?.[1] ?? title) }),
  sentence: ({ details }) => `sentence_${details.part === "programs" || details.part === "texts" ? details.part : "changed"}`,
  Body,
  isRead: true,
};
