/** A host that a conversation wants to reach. */
import { api } from "~/api/client";
import { messages } from "~/text/messages";
import { asker, type Card, part } from "../card";

const t = messages({
  en: {
    sentence: "The agent of {workspace} wants to reach {host}.",
    sentence_chat: "The agent in “{source}” wants to reach {host}.",
    chats: "chats without a workspace",
    label_once: "Allow for this conversation",
    label_always: "Always in {place}",
    label_never: "Never",
    done_once: "Allowed {host} for this conversation.",
    done_always: "{host} is always allowed in {place}.",
    done_never: "{host} is refused in {place}, and not asked about again.",
  },
  de: {
    sentence: "Der Agent von {workspace} möchte {host} erreichen.",
    sentence_chat: "Der Agent in „{source}“ möchte {host} erreichen.",
    chats: "Chats ohne Workspace",
    label_once: "Für dieses Gespräch erlauben",
    label_always: "Immer in {place}",
    label_never: "Nie",
    done_once: "{host} ist für dieses Gespräch erlaubt.",
    done_always: "{host} ist in {place} immer erlaubt.",
    done_never: "{host} ist in {place} gesperrt; du wirst nicht mehr gefragt.",
  },
});

export const card: Card = {
  icon: "link",
  t,
  parts: (item) => ({ ...asker(item), host: part(item.details.host), place: item.details.workspace ? part(item.details.workspace) : t("chats") }),
  sentence: (item) => (item.details.workspace ? "sentence" : "sentence_chat"),
  undo: ({ details }, word) => {
    const query = { host: String(details.host), workspace: details.workspace as string | undefined };
    return word === "once" ? undefined : () => api.delete("/api/network/decisions", { query });
  },
};
