/** A scheduled agent that waits for an approval. */
import { messages } from "~/text/messages";
import { type BodyProps, type Card, part, Whole } from "../card";

const t = messages({
  en: {
    sentence: "The scheduled agent {agent} is new or has changed, and does not run until you approve it.",
    read: "Read its instructions",
    label_approve: "Approve",
    done_approve: "The scheduled agent {agent} is approved.",
  },
  de: {
    sentence: "Der geplante Agent {agent} ist neu oder geändert und läuft erst, wenn du ihn genehmigst.",
    read: "Seine Anweisungen lesen",
    label_approve: "Genehmigen",
    done_approve: "Der geplante Agent {agent} ist genehmigt.",
  },
});

export const card: Card = {
  icon: "schedule",
  t,
  parts: ({ details }) => ({ agent: part(details.name) }),
  Body: ({ item }: BodyProps) => <Whole text={item.details.text} />,
  isRead: true,
};
