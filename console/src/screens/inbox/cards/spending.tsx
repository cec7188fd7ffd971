/** A limit of spending that is nearly reached. */
import { to } from "~/state/router";
import { messages } from "~/text/messages";
import { type BodyProps, type Card, part } from "../card";

const t = messages("inbox_cards_spending", {
  sentence_day: "{subject} has used {used} of {limit} today.",
  sentence_month: "{subject} has used {used} of {limit} this month.",
  computer: "This computer",
  reached: "Nothing more is spent until you raise the limit or it starts again.",
  mend: "Open costs and limits",
});

export const card: Card = {
  icon: "costs",
  t,
  parts: ({ details }) => ({
    subject: details.subject === "computer" ? t("computer") : part(details.subject),
    used: part(details.used),
    limit: part(details.limit),
  }),
  sentence: ({ details }) => (details.per === "month" ? "sentence_month" : "sentence_day"),
  Body: ({ item }: BodyProps) => (item.details.is_reached ? <p>{t("reached")}</p> : null),
  mends: () => ({ key: "mend", href: to("costs") }),
};
