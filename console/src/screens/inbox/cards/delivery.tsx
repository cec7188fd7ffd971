/** A message that could not be delivered. */
import { messages } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { type BodyProps, type Card, part, Whole } from "../card";

const t = messages("inbox_cards_delivery", {
  sentence: "A message to {chat} on {platform} could not be delivered.",
  label_retry: "Send again",
  label_discard: "Delete",
  done_retry: "The message is sent again.",
  done_discard: "The message was deleted.",
  all_retry: "Send all {n} messages again",
});

const Body = ({ item: { details } }: BodyProps) => (
  <>
    <p class="muted">
      <bdi>{said(String(details.problem))}</bdi>
    </p>
    <Whole text={details.text} />
  </>
);

export const card: Card = {
  icon: "bots",
  t,
  parts: ({ details, source }) => ({ chat: part(details.chat_id), platform: part(source) }),
  Body,
  together: ["retry"],
};
