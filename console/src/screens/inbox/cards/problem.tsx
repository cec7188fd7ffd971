/** A problem that the doctor found. */
import { to } from "~/state/router";
import { messages } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { type BodyProps, type Card, part, Whole } from "../card";

const t = messages("inbox_cards_problem", {
  sentence: "{message}",
  fix: "Repair: {fix}",
  details: "Details",
  open_backups: "Open the backups",
  open_keys: "Open keys and devices",
  open_modules: "Open the modules",
  open_settings: "Open the settings",
  open_hooks: "Open the hooks",
  open_model: "Open the model",
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

/** The screen on which a check is mended; every other one on that of the doctor. */
const PLACES: Record<string, { key: string; href: () => string }> = {
  backup: { key: "open_backups", href: () => to("computer", ["backups"]) },
  keys: { key: "open_keys", href: () => to("keys") },
  modules: { key: "open_modules", href: () => to("modules") },
  "module-packages": { key: "open_modules", href: () => to("modules") },
  settings: { key: "open_settings", href: () => to("computer", ["settings"]) },
  hooks: { key: "open_hooks", href: () => to("computer", ["hooks"]) },
  credentials: { key: "open_model", href: () => to("computer", ["model"]) },
};
const DOCTOR = { key: "open_doctor", href: () => to("computer", ["doctor"]) };

function Body({ item: { details } }: BodyProps) {
  const lines = Array.isArray(details.details) ? details.details : [];
  return (
    <>
      {details.next ? (
        <p class="muted">
          <bdi>{said(String(details.next))}</bdi>
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
  mends: ({ details }) => {
    const { key, href } = PLACES[String(details.check)] ?? DOCTOR;
    return { key, href: href() };
  },
};
