/** Suggestions while one writes: skills and commands after `/`, files, people and agents after `@`. */
import { api } from "~/api/client";
import type { IconName } from "~/components/icons";
import { may } from "~/state/session";
import { t } from "./composer_texts";

/** The word with a sign that stands before the cursor; `from` and `to` are its place in the text. */
export interface Typed {
  sign: "/" | "@";
  words: string;
  from: number;
  to: number;
}

export interface Suggestion {
  /** The text that takes the place of the word. */
  text: string;
  label: string;
  hint: string;
  icon: IconName;
  /** A folder: what is in it is suggested next. */
  isOpen?: boolean;
}

/** The parts of a conversation that decide which skills its agent has. */
export interface Place {
  isBegun: boolean;
  workspace?: string | null;
  agent?: string | null;
}

const MOST = 8;
const MOST_OF_A_KIND = 4;
const ENTRIES = 200;
const HINT = 120;

export function typedAt(text: string, cursor: number): Typed | undefined {
  const before = text.slice(0, cursor);
  // A command is the beginning of the message, and nothing else in it is one.
  const [, command] = /^\/([\w:-]{0,64})$/.exec(before) ?? [];
  if (command !== undefined) return { sign: "/", words: command, from: 0, to: cursor };
  const [, words] = /(?:^|[\s(])@([^\s@]{0,100})$/.exec(before) ?? [];
  return words === undefined ? undefined : { sign: "@", words, from: cursor - words.length - 1, to: cursor };
}

/** The suggestions with a word, those that begin with it first. */
export function matching(all: readonly Suggestion[], words: string): Suggestion[] {
  const wanted = words.toLowerCase();
  const name = ({ label }: Suggestion) => label.toLowerCase().replace(/^\//, "");
  const rank = (each: Suggestion) => (name(each).startsWith(wanted) ? 0 : 1);
  return all.filter((each) => name(each).includes(wanted)).sort((one, other) => rank(one) - rank(other)).slice(0, MOST);
}

/** Skills that this conversation has, and the one command of the agent's program that is of use here. */
export async function commands({ isBegun, workspace, agent }: Place, signal: AbortSignal): Promise<Suggestion[]> {
  const own = isBegun ? [{ text: "/compact", label: "/compact", hint: t("compact"), icon: "settings" as const }] : [];
  if (!may("skills")) return own;
  const [{ skills }, chosen, { agents }] = await Promise.all([
    api.get("/api/skills", { signal }),
    chosenSkills(workspace, signal),
    agent && may("agents") ? api.get("/api/agents", { signal }) : { agents: [] },
  ]);
  const answering = agents.find(({ name, path }) => name === agent || path === agent);
  const isWithout = answering?.tools.length ? !answering.tools.includes("Skill") : false;
  const has = (name: string) =>
    !isWithout && (chosen === "all" || (chosen !== "none" && chosen.includes(name))) && (answering?.skills?.includes(name) ?? true);
  const found = skills.filter(({ name, problem }) => !problem && has(name));
  return [...found.map(({ name, description }) => ({ text: `/${name}`, label: `/${name}`, hint: description.slice(0, HINT), icon: "capabilities" as const })), ...own];
}

/** The skills that the workspace allows, or without one the settings; names, or `all` or `none`. */
async function chosenSkills(workspace: string | null | undefined, signal: AbortSignal): Promise<string | readonly string[]> {
  if (workspace) {
    const { workspaces } = await api.get("/api/workspaces", { signal });
    return workspaces.find(({ slug }) => slug === workspace)?.capabilities.skills ?? "none";
  }
  if (!may("config", "admin")) return "all";
  const { settings } = await api.get("/api/config", { signal });
  return (settings.find(({ name }) => name === "default_capabilities.skills")?.value ?? "all") as string | string[];
}

/** Files, entities of Brain and agents for a word; what does not answer is left out. */
export async function mentions(words: string, hasBrain: boolean, signal: AbortSignal): Promise<Suggestion[]> {
  const kinds = [files(words, signal), people(words, hasBrain, signal), helpers(words, signal), texts(words, signal)];
  const answers = await Promise.allSettled(kinds);
  const found = new Map<string, Suggestion>();
  for (const answer of answers) {
    for (const each of answer.status === "fulfilled" ? answer.value : []) if (!found.has(each.text)) found.set(each.text, each);
  }
  return [...found.values()].slice(0, MOST);
}

/** A path that has a space is held together by the signs of code. */
const written = (path: string) => (/\s/.test(path) ? `\`${path}\`` : path);

/** Entries of the folder that the word names. */
async function files(words: string, signal: AbortSignal): Promise<Suggestion[]> {
  if (!may("vault")) return [];
  const end = words.lastIndexOf("/");
  const { entries } = await api.get("/api/ls", { query: { path: words.slice(0, Math.max(0, end)), limit: ENTRIES }, signal });
  const all = entries.map(({ name, relativePath, isDirectory }) => ({
    text: isDirectory ? `@${relativePath}/` : written(relativePath),
    label: name,
    hint: isDirectory ? t("folder") : relativePath,
    icon: isDirectory ? ("files" as const) : ("list" as const),
    isOpen: isDirectory,
  }));
  return matching(all, words.slice(end + 1)).slice(0, end < 0 ? MOST_OF_A_KIND : MOST);
}

/** Texts anywhere in the vault whose name has the word. */
async function texts(words: string, signal: AbortSignal): Promise<Suggestion[]> {
  if (!may("vault") || words.length < 2 || words.includes("/")) return [];
  const { results } = await api.get("/api/files/search", { query: { q: words, limit: MOST }, signal });
  return results.map(({ name, path }) => ({ text: written(path), label: name, hint: path, icon: "list" as const })).slice(0, MOST_OF_A_KIND);
}

async function people(words: string, hasBrain: boolean, signal: AbortSignal): Promise<Suggestion[]> {
  if (!hasBrain || !words || words.includes("/")) return [];
  type Found = { results: { name: string; type: string }[] };
  const { results } = await api.module<Found>("GET", "/api/brain/search", { query: { q: words, limit: MOST_OF_A_KIND }, signal });
  return results.map(({ name, type }) => ({ text: name, label: name, hint: type, icon: "knowledge" as const }));
}

async function helpers(words: string, signal: AbortSignal): Promise<Suggestion[]> {
  if (!may("agents") || words.includes("/")) return [];
  const { agents } = await api.get("/api/agents", { signal });
  const all = agents.filter(({ problem }) => !problem).map(({ name, description }) => {
    return { text: name, label: name, hint: description?.slice(0, HINT) || t("agent"), icon: "bots" as const };
  });
  return matching(all, words).slice(0, MOST_OF_A_KIND);
}
