/** A run of a module's agent that asks first. */
import { Details } from "~/components/details";
import { messages, moment } from "~/text/messages";
import { type BodyProps, type Card, part, Whole } from "../card";

const t = messages("inbox_cards_agent_run", {
  sentence: "The module {module} wants to run its agent {agent} in a sandbox.",
  sentence_direct: "The module {module} wants to run its agent {agent} without a sandbox, with all of your rights.",
  until: "It waits until {time}.",
  rights: "What it may do",
  read: "Read what it is told",
  label_allow: "Allow this run",
  label_deny: "Refuse",
  done_allow: "{agent} runs.",
  done_deny: "{agent} does not run.",
});

const SAID = ["request", "module", "agent", "prompt", "session_id", "until"];

function Body({ item: { details } }: BodyProps) {
  const rights = Object.fromEntries(Object.entries(details).filter(([name]) => !SAID.includes(name)));
  return (
    <>
      <Whole text={details.prompt} />
      <p class="muted">{t("until", { time: moment(String(details.until)) })}</p>
      <details class="fold" open>
        <summary>{t("rights")}</summary>
        <Details value={rights} />
      </details>
    </>
  );
}

export const card: Card = {
  icon: "play",
  t,
  parts: ({ details }) => ({ module: part(details.module), agent: part(details.agent) }),
  sentence: ({ title }) => (title.endsWith("without a sandbox, with all of your rights") ? "sentence_direct" : "sentence"),
  Body,
  isRead: true,
};
