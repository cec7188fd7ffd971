/** Answers of the module Daily; its README describes these routes. */
import { api, send } from "~/api/client";
import { decoded } from "~/state/router";

export interface Entry {
  id: string | null;
  date: string;
  time: string | null;
  title: string;
  content: string;
  /** Another one when its title or its text is another one. */
  version: string;
  type: string;
  path: string;
  audio_path: string | null;
  mentions: string[];
  fields: Record<string, unknown>;
  snippet?: string;
  found_by?: string;
}

export interface DayOf {
  date: string;
  entries: Entry[];
}

export interface Version {
  id: number;
  path: string;
  size: number;
  kept_at: string;
  why: string;
}

const BASE = "/api/daily";

/** A day with its entries; without a date, today by the computer's clock. */
export async function dayOf(date: string | undefined, signal: AbortSignal): Promise<DayOf> {
  if (!date) return api.module<DayOf>("GET", `${BASE}/today`, { signal });
  const { entries } = await api.module<DayOf>("GET", `${BASE}/entries`, { query: { date, limit: 1000 }, signal });
  return { date, entries };
}

/** The number of entries of each day that has some. */
export async function days(from: string, to: string, signal: AbortSignal): Promise<Map<string, number>> {
  const query = { from, to };
  const found = await api.module<{ days: { date: string; entries: number }[] }>("GET", `${BASE}/days`, { query, signal });
  return new Map(found.days.map(({ date, entries }) => [date, entries]));
}

export interface EarlierDay {
  date: string;
  ago: { unit: "year" | "month" | "week"; count: number };
  entries: Entry[];
}

/** Entries of the same day in earlier years; without any, of a month and a week ago. */
export async function onThisDay(date: string, signal: AbortSignal): Promise<EarlierDay[]> {
  const query = { date, limit: 20 };
  return (await api.module<{ days: EarlierDay[] }>("GET", `${BASE}/on-this-day`, { query, signal })).days;
}

export interface Label {
  name: string;
  entries: number;
}

/** Tags or places, the most frequent first. */
export async function labels(kind: "tags" | "places", signal: AbortSignal): Promise<Label[]> {
  const found = await api.module<Partial<Record<"tags" | "places", Label[]>>>("GET", `${BASE}/${kind}`, { signal });
  return found[kind] ?? [];
}

export interface Filter {
  tags: string[];
  place: string;
}

export const NOTHING: Filter = { tags: [], place: "" };

export async function search(words: string, { tags, place }: Filter, signal: AbortSignal): Promise<Entry[]> {
  const query = { q: words, limit: 50, tag: tags.join(",") || undefined, place: place || undefined };
  return (await api.module<{ entries: Entry[] }>("GET", `${BASE}/search`, { query, signal })).entries;
}

export async function problems(signal: AbortSignal): Promise<{ path: string; problem: string }[]> {
  return (await api.module<{ problems: { path: string; problem: string }[] }>("GET", `${BASE}/problems`, { signal })).problems;
}

export const remove = (id: string) => api.module("DELETE", `${BASE}/entries/{id}`, { params: { id } });

export const restore = (id: string, date: string) =>
  api.module<Entry>("POST", `${BASE}/entries/{id}/restore`, { params: { id }, body: { date } });

/** The address of the smaller copy of a picture, or of the picture where none is needed. */
export const smallAddress = (path: string) => `${assetAddress(path)}?size=small`;

/** The address of a recording or picture, from its path within the vault or the journal. */
export function assetAddress(path: string): string {
  const inner = path.replace(/^Daily\//, "").split("/").map(encodeURIComponent).join("/");
  return `${BASE}/${inner}`;
}

export async function versions(date: string, signal: AbortSignal): Promise<Version[]> {
  const query = { path: `journals/${date}.md`, limit: 50 };
  return (await api.module<{ versions: Version[] }>("GET", `${BASE}/versions`, { query, signal })).versions;
}

export async function versionText(id: number, signal: AbortSignal): Promise<string> {
  return (await send("GET", `${BASE}/versions/{id}`, { params: { id }, signal })).text();
}

export const bringBack = (id: number) => api.module("POST", `${BASE}/versions/{id}/restore`, { params: { id } });

/** Files beside pictures, as links to them. */
const FILE = /(?<!!)\[([^\]]+)\]\((assets\/[^)\s]+)\)/g;

const PICTURE = /!\[([^\]]*)\]\((?:\.\.\/|\.\/)?(?:Daily\/)?(assets\/[^)\s]+)\)/g;

/** A text without the pictures and files that it shows, and those. */
export function pictures({ content, fields }: Entry): { text: string; shown: { path: string; alt: string }[]; files: { path: string; name: string }[] } {
  const shown = [...content.matchAll(PICTURE)].map(([, alt = "", path = ""]) => ({ path: decoded(path), alt }));
  const own = fields.image;
  if (typeof own === "string" && /^(?:Daily\/)?assets\//.test(own)) shown.push({ path: own, alt: "" });
  const files = [...content.matchAll(FILE)].map(([, name = "", path = ""]) => ({ path: decoded(path), name }));
  return { text: content.replace(PICTURE, "").replace(FILE, "").trim(), shown, files };
}
