/** A change that a module, an agent or a conversation proposes. */
import { api } from "~/api/client";
import { canTakeBack, type Suggestion, SuggestionBody } from "~/components/suggestion";
import { messages } from "~/text/messages";
import { moduleName } from "~/text/names";
import { type Card, part } from "../card";

const t = messages("inbox_cards_suggestion", {
  sentence_create: "{who} suggests adding {name} to {module}.",
  sentence_update: "{who} suggests changing {name} in {module}.",
  sentence_delete: "{who} suggests deleting {name} from {module}.",
  sentence_link: "{who} suggests linking {name} in {module}.",
  sentence_batch: "Suggestions that belong together: {name}.",
  conversation: "A conversation",
  outside: "A chat of your bot",
  label_approve: "Approve",
  label_reject: "Reject",
  done_approve: "{name}: approved.",
  done_reject: "{name}: rejected.",
  all_approve: "Approve all {n} suggestions",
  all_reject: "Reject all {n} suggestions",
});

const of = (details: unknown) => details as Suggestion;

function who(source: string): string {
  const [name = ""] = source.split("/");
  return name === "conversation" || name === "outside" ? t(name) : part(moduleName(source));
}

export const card: Card = {
  icon: "suggestions",
  t,
  parts: ({ details, source }) => {
    const { title, target_id, target_module } = of(details);
    return { who: who(source), name: part(title || target_id), module: part(moduleName(target_module)) };
  },
  sentence: ({ details }) => `sentence_${of(details).action}`,
  Body: ({ item }) => <SuggestionBody suggestion={of(item.details)} />,
  together: ["approve", "reject"],
  undo: ({ details }, word) => {
    const suggestion = of(details);
    const params = { identifier: suggestion.id };
    return word === "reject" || canTakeBack(suggestion) ? () => api.post("/api/suggestions/{identifier}/undo", { params }) : undefined;
  },
};
