/** The limits of a grant while they are chosen: nothing is, at first. */
import type { Schema } from "~/api/client";

export const ANY = "*";
export const TIMES = ["", "month", "year", "all", "span"] as const;
export type Times = (typeof TIMES)[number];
const KILOBYTE = 1000;
const USUAL_DAYS = 90;

export interface Chosen {
  tools: string[];
  folders: string[];
  kinds: string[];
  workspaces: string[];
  times: Times;
  since: string;
  until: string;
  ends: string;
  kilobytes: string;
}

/** Nothing, for three months. */
export function nothing(today: string): Chosen {
  return { tools: [], folders: [], kinds: [], workspaces: [], times: "", since: "", until: "", ends: after(today, USUAL_DAYS), kilobytes: "1000" };
}

/** Limits as they are, to be changed. */
export function chosen(limits: Schema<"ShownLimits">): Chosen {
  const { tools, folders, kinds, workspaces, since, until } = limits;
  const times = since || until ? "span" : "all";
  const kilobytes = String(limits.bytes_a_day / KILOBYTE);
  return { tools, folders, kinds, workspaces, times, since: since ?? "", until: until ?? "", ends: limits.ends_on, kilobytes };
}

/** True if something could be answered with these. */
export function isEnough(of: Chosen): boolean {
  const hasPlace = of.folders.length + of.workspaces.length > 0;
  return of.tools.length > 0 && hasPlace && of.kinds.length > 0 && of.times !== "" && of.ends !== "" && Number(of.kilobytes) >= 1;
}

/** The body of a request. */
export function body(of: Chosen, today: string): Schema<"NewLimits"> {
  const { tools, folders, kinds, workspaces } = of;
  const spans: Record<Times, [string | null, string | null]> = {
    "": [null, null],
    all: [null, null],
    month: [after(today, -30), null],
    year: [`${today.slice(0, 4)}-01-01`, null],
    span: [of.since || null, of.until || null],
  };
  const [since, until] = spans[of.times];
  return { tools, folders, kinds, workspaces, since, until, ends_on: of.ends, bytes_a_day: Math.round(Number(of.kilobytes) * KILOBYTE) };
}

function after(day: string, days: number): string {
  const date = new Date(`${day}T12:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}
