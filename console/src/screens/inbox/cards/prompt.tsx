/** A file that steers direct conversations and has changed. */
import { messages } from "~/text/messages";
import { type Card, part, TextChange } from "../card";

const t = messages({
  en: {
    sentence: "{file} has changed; conversations with your own rights ignore it until you approve its new text.",
    read: "See what has changed",
    label_approve: "Approve",
    done_approve: "The new text of {file} is approved.",
  },
  de: {
    sentence: "{file} hat sich geändert; Gespräche mit deinen eigenen Rechten beachten es erst, wenn du den neuen Text genehmigst.",
    read: "Ansehen, was sich geändert hat",
    label_approve: "Genehmigen",
    done_approve: "Der neue Text von {file} ist genehmigt.",
  },
});

export const card: Card = {
  icon: "edit",
  t,
  parts: ({ source }) => ({ file: part(source) }),
  Body: TextChange,
  isRead: true,
};
