/** Filters of the search over everything, and the searches to which each applies. */
import type { Group } from "./groups";

export const PERIODS = ["any", "today", "week", "month", "year"] as const;
export type Period = (typeof PERIODS)[number];

export interface Filters {
  kind: Group | "";
  period: Period;
  /** The id of somebody in Knowledge. */
  person: string;
}

export const NONE: Filters = { kind: "", period: "any", person: "" };

/** Searches whose hits have a day: of an entry, of the last answer, of the last change. */
const DATED: readonly Group[] = ["conversations", "journal", "files"];
/** Searches that know of whom their texts are. */
const OF_PEOPLE: readonly Group[] = ["journal", "knowledge"];

/** Return false for a search to which one of the filters cannot be applied: it is left out. */
export function applies({ kind, period, person }: Filters, group: Group): boolean {
  return (!kind || kind === group) && (period === "any" || DATED.includes(group)) && (!person || OF_PEOPLE.includes(group));
}

/** The first moment of a period by the clock of this device; weeks begin on Monday. */
export function beginOf(period: Period, now = new Date()): Date | undefined {
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  if (period === "week") day.setDate(day.getDate() - ((day.getDay() + 6) % 7));
  else if (period === "month") day.setDate(1);
  else if (period === "year") day.setMonth(0, 1);
  return period === "any" ? undefined : day;
}

/** A day as the journal has it, such as 2026-01-31. */
export function dayOf(moment: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}
