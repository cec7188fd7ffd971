/** A reminder whose time has come. */
import { messages, moment } from "~/text/messages";
import { type BodyProps, type Card, part } from "../card";

const t = messages("inbox_cards_reminder", {
  sentence: "Reminder: {text}",
  due: "It was due {time}.",
  again: "It comes again: {schedule}",
  label_done: "Done",
  label_in_an_hour: "In an hour",
  label_tomorrow: "Tomorrow",
  done_done: "The reminder is done.",
  done_in_an_hour: "You are reminded again in an hour.",
  done_tomorrow: "You are reminded again tomorrow.",
});

const Body = ({ item: { details } }: BodyProps) => (
  <>
    <p class="muted">{t("due", { time: moment(String(details.due)) })}</p>
    {details.schedule ? <p class="muted">{t("again", { schedule: String(details.schedule) })}</p> : null}
  </>
);

export const card: Card = {
  icon: "schedule",
  t,
  parts: ({ title }) => ({ text: part(title, 500) }),
  Body,
};
