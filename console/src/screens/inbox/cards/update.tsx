/** An update that came back, or that nothing watches. */
import { to } from "~/state/router";
import { messages } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { type BodyProps, type Card, part, Whole } from "../card";

const t = messages("inbox_cards_update", {
  sentence: "{message}",
  mend: "Open the updates",
  label_hide: "Hide",
  done_hide: "The message about the update is hidden.",
});

const Body = ({ item: { details } }: BodyProps) => (
  <>
    <Whole text={details.since} />
    {details.next ? <p>{said(String(details.next))}</p> : null}
  </>
);

export const card: Card = {
  icon: "refresh",
  t,
  parts: ({ title }) => ({ message: part(said(title), 500) }),
  Body,
  mends: () => ({ key: "mend", href: to("computer", ["updates"]) }),
};
