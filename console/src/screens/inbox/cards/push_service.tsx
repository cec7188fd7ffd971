/** A push service by which a device wants to be told. */
import { api } from "~/api/client";
import { messages } from "~/text/messages";
import { type Card, part, whole } from "../card";

const t = messages("inbox_cards_push_service", {
  sentence: "{device} wants to get notices by {host}.",
  label_always: "Allow",
  label_never: "Refuse",
  done_always: "Notices go out by {host}.",
  done_never: "No notices go out by {host}.",
});

export const card: Card = {
  icon: "link",
  t,
  parts: ({ details }) => ({ device: part(details.device), host: whole(details.host) }),
  undo: ({ details }) => () => api.delete("/api/network/decisions", { query: { host: String(details.host), workspace: "@notices" } }),
};
