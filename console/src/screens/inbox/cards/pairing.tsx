/** Somebody unknown who wants to talk to a bot. */
import { messages } from "~/text/messages";
import { type BodyProps, type Card, part } from "../card";

const t = messages("inbox_cards_pairing", {
  sentence: "{who} wants to talk to your bot.",
  sentence_private: "Somebody on {where} wants to talk to your bot.",
  sentence_group: "A group on {where} wants to talk to your bot.",
  grant_guest: "a guest",
  grant_family: "family",
  grant_project: "a project",
  grant_personal: "yourself",
  called: "The name that it gives itself:",
  number: "Known on {where} as:",
  code: "Compare the code that the person was sent:",
  label_approve: "Let in",
  label_approve_grant: "Let in as {grant}",
  label_reject: "Reject",
  done_approve: "{who} may talk to your bot.",
  done_approve_grant: "{who} may talk to your bot, as {grant}.",
  done_reject: "{who} stays out.",
});

const Body = ({ item: { details, source } }: BodyProps) => (
  <>
    {details.title || details.name ? (
      <p>
        {t("called")} <bdi>{part(details.title || details.name)}</bdi>
      </p>
    ) : null}
    <p class="muted">
      {t("number", { where: part(source) })} <bdi>{part(details.chat_type === "group" ? details.chat_id : details.user_id)}</bdi>
    </p>
    {details.code ? (
      <p>
        {t("code")} <code>{part(details.code)}</code>
      </p>
    ) : null}
  </>
);

export const card: Card = {
  icon: "bots",
  t,
  parts: ({ title, source }) => ({ who: part(title.replace(/ wants to talk to your bot$/, "")), where: part(source) }),
  sentence: ({ details }) => (details.code ? "sentence_private" : "sentence_group"),
  grant: (name) => t(`grant_${name}` as "grant_guest"),
  Body,
};
