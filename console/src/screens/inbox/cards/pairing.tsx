/** Somebody unknown who wants to talk to a bot. */
import { messages } from "~/text/messages";
import { type BodyProps, type Card, part } from "../card";

const t = messages({
  en: {
    sentence: "{who} wants to talk to your bot.",
    called: "The name that it gives itself:",
    code: "Compare the code that the person was sent:",
    label_approve: "Let in",
    label_approve_grant: "Let in as {grant}",
    label_reject: "Reject",
    done_approve: "{who} may talk to your bot.",
    done_approve_grant: "{who} may talk to your bot, as {grant}.",
    done_reject: "{who} stays out.",
  },
  de: {
    sentence: "{who} möchte mit deinem Bot sprechen.",
    called: "Name, den sich dieser Chat gibt:",
    code: "Vergleiche den Code, den die Person bekommen hat:",
    label_approve: "Zulassen",
    label_approve_grant: "Als {grant} zulassen",
    label_reject: "Ablehnen",
    done_approve: "{who} darf mit deinem Bot sprechen.",
    done_approve_grant: "{who} darf als {grant} mit deinem Bot sprechen.",
    done_reject: "{who} bleibt draußen.",
  },
});

const Body = ({ item: { details } }: BodyProps) => (
  <>
    {details.title || details.name ? (
      <p>
        {t("called")} <bdi>{part(details.title || details.name)}</bdi>
      </p>
    ) : null}
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
  parts: ({ title }) => ({ who: part(title.replace(/ wants to talk to your bot$/, "")) }),
  Body,
};
