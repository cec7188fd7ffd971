/** A task whose day has come. */
import { messages, moment } from "~/text/messages";
import { type BodyProps, type Card, part, whole } from "../card";

const t = messages("inbox_cards_task", {
  sentence: "Task: {text}",
  due: "It is due on {day}.",
  stands: "It stands in {path}.",
  label_done: "Done",
  label_later: "Tomorrow",
  done_done: "The task is ticked in its file.",
  done_later: "You are told of it again tomorrow.",
});

const Body = ({ item: { details } }: BodyProps) => (
  <>
    <p class="muted">{t("due", { day: moment(`${details.due}T00:00`, { dateStyle: "full" }) })}</p>
    <p class="muted">
      <bdi>{t("stands", { path: whole(details.path) })}</bdi>
    </p>
  </>
);

export const card: Card = {
  icon: "check",
  t,
  parts: ({ title }) => ({ text: part(title, 500) }),
  Body,
};
