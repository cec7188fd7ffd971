/** A repository that a conversation wants to use. */
import { api } from "~/api/client";
import { messages } from "~/text/messages";
import { asker, type Card, part, whole } from "../card";

const t = messages("inbox_cards_repository", {
  sentence_push: "The agent of {workspace} wants to push to {repository}.",
  sentence_fetch: "The agent of {workspace} wants to fetch from {repository}.",
  sentence_chat_push: "The agent in “{source}” wants to push to {repository}.",
  sentence_chat_fetch: "The agent in “{source}” wants to fetch from {repository}.",
  chats: "chats without a workspace",
  label_once: "Allow for this conversation",
  label_always: "Always in {place}",
  label_never: "Never",
  done_once: "{repository} is allowed for this conversation.",
  done_always: "{repository} is always allowed in {place}.",
  done_never: "{repository} is refused in {place}, and not asked about again.",
});

export const card: Card = {
  icon: "branch",
  t,
  parts: (item) => ({
    ...asker(item),
    repository: whole(item.details.repository),
    place: item.details.workspace ? part(item.details.workspace) : t("chats"),
  }),
  sentence: ({ details }) => `sentence_${details.workspace ? "" : "chat_"}${details.access === "push" ? "push" : "fetch"}`,
  undo: ({ details }, word) => {
    const query = { repository: String(details.repository), workspace: details.workspace as string | undefined };
    return word === "once" ? undefined : () => api.delete("/api/git/decisions", { query });
  },
};
