/** Days as the journal writes them, YYYY-MM-DD, without time zones: a day is what its file is called. */
import { moment } from "~/text/messages";

const DATE = /^\d{4}-\d{2}-\d{2}$/;

function read(date: string): Date {
  return new Date(`${date}T12:00:00Z`);
}

function written(date: Date): string {
  return date.toISOString().slice(0, 10);
}

export function isDate(text: string | undefined): text is string {
  return text !== undefined && DATE.test(text) && !Number.isNaN(read(text).getTime());
}

/** The day some days later. */
export function shifted(date: string, days: number): string {
  const found = read(date);
  found.setUTCDate(found.getUTCDate() + days);
  return written(found);
}

/** The first day of the month some months later. */
export function month(date: string, months = 0): string {
  const found = read(`${date.slice(0, 7)}-01`);
  found.setUTCMonth(found.getUTCMonth() + months);
  return written(found);
}

/** Weeks from Monday to Sunday that hold a month; days of other months are undefined. */
export function weeks(first: string): (string | undefined)[][] {
  const length = Number(shifted(month(first, 1), -1).slice(8));
  const before = (read(first).getUTCDay() + 6) % 7;
  const all = Array.from({ length }, (_, index) => shifted(first, index));
  const cells: (string | undefined)[] = [...Array<undefined>(before).fill(undefined), ...all];
  while (cells.length % 7) cells.push(undefined);
  return Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(week * 7, week * 7 + 7));
}

export function dayName(date: string): string {
  const year = date.slice(0, 4) === String(new Date().getFullYear()) ? undefined : "numeric";
  return moment(`${date}T12:00:00Z`, { weekday: "long", day: "numeric", month: "long", year, timeZone: "UTC" });
}

export function fullDay(date: string): string {
  return moment(`${date}T12:00:00Z`, { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

export function monthName(date: string): string {
  return moment(`${date}T12:00:00Z`, { month: "long", year: "numeric", timeZone: "UTC" });
}

/** Monday to Sunday, short and long. */
export function weekdays(): { short: string; long: string }[] {
  return Array.from({ length: 7 }, (_, index) => {
    const day = `2024-01-0${index + 1}T12:00:00Z`;
    return { short: moment(day, { weekday: "short", timeZone: "UTC" }), long: moment(day, { weekday: "long", timeZone: "UTC" }) };
  });
}
