/** Titles of settings and topics, and what the numbers of settings count. */
import { said } from "~/text/server_sentences";
import type { Setting } from "./models";
import { t } from "./texts";

const UNITS: Record<string, Parameters<typeof t>[0]> = {
  minutes: "unit_minutes",
  seconds: "unit_seconds",
  days: "unit_days",
  tokens: "unit_tokens",
  "US dollars": "unit_dollars",
};

export function titleOf({ name, title }: Setting): string {
  return title ? said(title) : name;
}

export function topicTitle({ title }: { title: string }): string {
  return said(title);
}

/** Title of a setting with what its number counts. */
export function labelOf(setting: Setting): string {
  const { unit } = setting;
  if (!unit || unit === "time") return titleOf(setting);
  const known = UNITS[unit];
  return `${titleOf(setting)} (${known ? t(known) : unit})`;
}
