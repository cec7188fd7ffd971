/** A module that waits for an approval. */
import { api } from "~/api/client";
import { Loaded } from "~/components/layout";
import { useResource } from "~/state/resource";
import { messages } from "~/text/messages";
import { type BodyProps, type Card, part, Whole } from "../card";

const t = messages("inbox_cards_module", {
  sentence: "The module {module} is not the one that you approved, and does not run until you approve it.",
  sentence_staged: "A module from {source} wants to be installed.",
  read: "See what it may do",
  label_approve: "Approve",
  label_reject: "Reject",
  done_approve: "The module is approved.",
  done_reject: "The module was not installed.",
});

const named = (approval: unknown) => String(approval).split("/")[3] ?? "";

function Body({ item: { details } }: BodyProps) {
  return details.staged ? <Whole text={details.text} /> : <Pending name={named(details.approval)} hash={String(details.pending_hash)} />;
}

function Pending({ name, hash }: { name: string; hash: string }) {
  const found = useResource((signal) => api.get("/api/modules/{name}/approval", { params: { name }, signal }), hash);
  return <Loaded of={found}>{({ text }) => <Whole text={text} />}</Loaded>;
}

export const card: Card = {
  icon: "modules",
  t,
  parts: ({ details, source }) => ({ module: part(named(details.approval)), source: part(source) }),
  sentence: ({ details }) => (details.staged ? "sentence_staged" : "sentence"),
  Body,
  isRead: true,
};
