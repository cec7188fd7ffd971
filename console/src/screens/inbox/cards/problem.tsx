/** A problem that the doctor found. */
import { Sentence } from "~/components/sentence";
import { mending } from "~/state/mending";
import { to } from "~/state/router";
import { messages } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { type BodyProps, type Card, part, Whole } from "../card";

const t = messages("inbox_cards_problem", {
  sentence: "{message}",
  fix: "Repair: {fix}",
  details: "Details",
  open_doctor: "Open the doctor",
  label_repair: "Repair",
  label_look_again: "Check again",
  label_hide: "Hide for a week",
  done_repair: "{title}: repaired.",
  done_look_again: "{title}: all is well.",
  done_hide: "{title} is hidden for a week.",
  all_look_again: "Check all {n} problems again",
  all_hide: "Hide all {n} problems for a week",
});

/** The place for what is mended on no screen of its own. */
const DOCTOR = { key: "open_doctor", href: () => to("computer", ["doctor"]) };

function Body({ item: { details } }: BodyProps) {
  const lines = Array.isArray(details.details) ? details.details : [];
  return (
    <>
      {details.next ? (
        <p class="muted">
          <Sentence text={String(details.next)} />
        </p>
      ) : null}
      {details.fix ? (
        <p class="muted">
          <bdi>{t("fix", { fix: said(String(details.fix)) })}</bdi>
        </p>
      ) : null}
      {lines.length > 0 && (
        <details class="fold">
          <summary>{t("details")}</summary>
          <Whole text={lines.map((line) => said(String(line)))} />
        </details>
      )}
    </>
  );
}

export const card: Card = {
  icon: "warning",
  t,
  parts: ({ title, details }) => ({ message: part(said(title), 500), title: part(said(String(details.title ?? ""))) }),
  Body,
  together: ["look-again", "hide"],
  mends: ({ details }) => mending(String(details.check)) ?? { key: DOCTOR.key, href: DOCTOR.href() },
};
