/** A question of an agent at work. */
import { type Question, Questions } from "~/components/questions";
import { messages } from "~/text/messages";
import { asker, type BodyProps, type Card } from "../card";

const t = messages("inbox_cards_question", {
  sentence: "The agent in “{source}” has a question.",
  label_answer: "Answer",
  label_skip: "Skip",
  done_answer: "Your answer was sent.",
  done_skip: "The agent goes on without an answer.",
});

const of = (details: Record<string, unknown>) => details.questions as Question[];

export const card: Card = {
  icon: "chat",
  t,
  parts: asker,
  Body: ({ item, values, onChange }: BodyProps) => <Questions questions={of(item.details)} values={values} onChange={onChange} />,
  isComplete: ({ details }, values) => of(details).every(({ question }) => values[question]?.length),
};
