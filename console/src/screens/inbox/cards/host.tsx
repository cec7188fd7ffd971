/** A host that a conversation wants to reach. */
import { api } from "~/api/client";
import { messages } from "~/text/messages";
import { asker, type Card, part, whole } from "../card";

const t = messages("inbox_cards_host", {
  sentence: "The agent of {workspace} wants to reach {host}.",
  sentence_chat: "The agent in “{source}” wants to reach {host}.",
  chats: "chats without a workspace",
  label_once: "Allow for this conversation",
  label_always: "Always in {place}",
  label_never: "Never",
  done_once: "Allowed {host} for this conversation.",
  done_always: "{host} is always allowed in {place}.",
  done_never: "{host} is refused in {place}, and not asked about again.",
});

export const card: Card = {
  icon: "link",
  t,
  parts: (item) => ({ ...asker(item), host: whole(item.details.host), place: item.details.workspace ? part(item.details.workspace) : t("chats") }),
  sentence: (item) => (item.details.workspace ? "sentence" : "sentence_chat"),
  undo: ({ details }, word) => {
    const query = { host: String(details.host), workspace: details.workspace as string | undefined };
    return word === "once" ? undefined : () => api.delete("/api/network/decisions", { query });
  },
};
