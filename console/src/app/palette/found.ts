/** The searches behind one field, each of which answers when it is ready. */
import { api } from "~/api/client";
import type { IconName } from "~/components/icons";
import { mayStop, askToStop } from "~/components/panic";
import { screens } from "~/screens";
import { passageOf, placeOf } from "~/screens/conversations/data";
import { folderOf, placeOf as placeOfFile } from "~/screens/files/models";
import { appearance, isDark } from "~/state/preferences";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import { plain } from "~/text/plain";
import { opened } from "./open";
import { t } from "./texts";

export interface Found {
  id: string;
  icon: IconName;
  title: string;
  text?: string;
  run: () => unknown;
}

export const GROUPS = ["commands", "screens", "conversations", "journal", "knowledge", "files", "settings"] as const;
/** Before a word is typed. */
export const FIRST: readonly Group[] = ["conversations", "commands", "screens"];
export type Group = (typeof GROUPS)[number];

const MOST = 5;
const LONGEST_TEXT = 160;

const short = (text: string) => plain(text.slice(0, 2 * LONGEST_TEXT)).slice(0, LONGEST_TEXT);
const leadsTo = (address: string) => () => go(address);

/** Results that the page knows by itself: they are there with the letter that is typed. */
export function local(words: string): Partial<Record<Group, Found[]>> {
  return { commands: fitting(commands(), words), screens: fitting(allScreens(), words) };
}

function allScreens(): Found[] {
  return screens()
    .filter(({ group }) => group !== null)
    .map(({ name, icon, title }) => ({ id: `screen-${name}`, icon, title: title(), run: leadsTo(to(name)) }));
}

function commands(): Found[] {
  const backUp = async () => {
    await api.post("/api/backups");
    toast(t("backing_up"));
    go(to("computer", ["backups"]));
  };
  const other = isDark.value ? "light" : "dark";
  const all: (Found | false)[] = [
    may("chat", "write") && { id: "new", icon: "plus", title: t("new_conversation"), run: leadsTo(to("chat")) },
    may("*", "admin") && { id: "backup", icon: "archive", title: t("back_up"), run: backUp },
    mayStop() && { id: "stop", icon: "stop", title: t("stop"), run: askToStop },
    { id: "appearance", icon: "settings", title: t(`appearance_${other}`), run: () => (appearance.value = other) },
    { id: "shortcuts", icon: "list", title: t("shortcuts"), run: () => (opened.value = "shortcuts") },
  ];
  return all.filter((each) => each !== false);
}

function fitting(found: Found[], words: string): Found[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return found.filter(({ title, text = "" }) => wanted.every((word) => `${title} ${text}`.toLowerCase().includes(word)));
}

type Source = (words: string, signal: AbortSignal) => Promise<Found[]>;

/** The searches of the computer that this browser may ask. */
export function sources(): Partial<Record<Group, Source>> {
  return {
    ...(may("chat") && { conversations }),
    ...(may("daily") && { journal: ofModule("daily", journal) }),
    ...(may("brain") && { knowledge: ofModule("brain", knowledge) }),
    ...(may("vault") && { files }),
    ...(may("*", "admin") && { settings }),
  };
}

async function conversations(words: string, signal: AbortSignal): Promise<Found[]> {
  const query = { limit: MOST, search: words || undefined, passages: words ? true : undefined, folded: true };
  const { sessions } = await api.get("/api/chat", { query, signal });
  return sessions.map((session) => ({
    id: `conversation-${session.id}`,
    icon: "chat",
    title: session.title ?? t("untitled"),
    text: passageOf(session).slice(0, LONGEST_TEXT) || moment(session.updatedAt),
    run: leadsTo(placeOf(session, words)),
  }));
}

async function journal(words: string, signal: AbortSignal): Promise<Found[]> {
  interface Entry {
    id: string | null;
    date: string;
    content: string;
    snippet?: string;
  }
  const { entries } = await api.module<{ entries: Entry[] }>("GET", "/api/daily/search", { query: { q: words, limit: MOST }, signal });
  return entries.map(({ id, date, content, snippet }, index) => ({
    id: `entry-${id ?? `${date}-${index}`}`,
    icon: "journal",
    title: moment(`${date}T12:00`, { dateStyle: "full" }),
    text: short(snippet || content),
    run: leadsTo(to("journal", [date])),
  }));
}

async function knowledge(words: string, signal: AbortSignal): Promise<Found[]> {
  interface Entity {
    para_id: string;
    type: string;
    name: string;
    summary: string;
    snippet?: string;
  }
  const { results } = await api.module<{ results: Entity[] }>("GET", "/api/brain/search", { query: { q: words, limit: MOST }, signal });
  return results.map(({ para_id, type, name, summary, snippet }) => ({
    id: `entity-${para_id}`,
    icon: "knowledge",
    title: name,
    text: short(`${type}: ${snippet || summary}`),
    run: leadsTo(to("knowledge", ["entity", para_id])),
  }));
}

async function files(words: string, signal: AbortSignal): Promise<Found[]> {
  const { results } = await api.get("/api/files/search", { query: { q: words, limit: MOST }, signal });
  return results.map(({ path, name, snippet, page, chapter, line }) => {
    const at = { page, chapter, line };
    const place = page ? t("on_page", { name, n: page }) : chapter ? t("in_chapter", { name, n: chapter }) : name;
    const run = leadsTo(placeOfFile(folderOf(path), name, at));
    return { id: `file-${path}`, icon: "files", title: place, text: short(snippet.replace(/^---\s[^]*?\s---\s/, "")), run };
  });
}

let settingsOfComputer: Promise<{ settings: { name: string; description: string }[] }> | undefined;
let modulesOfComputer: Promise<{ modules: { name: string; state: string }[] }> | undefined;

/** Forget what was read of the computer: it may be otherwise when the search is opened again. */
export function forgetComputer(): void {
  settingsOfComputer = undefined;
  modulesOfComputer = undefined;
}

/** A search of a module, which is not asked where the module is not there; who may not read which there are asks it. */
function ofModule(name: string, source: Source): Source {
  return async (words, signal) => {
    if (!may("modules")) return source(words, signal);
    modulesOfComputer ??= api.get<{ modules: { name: string; state: string }[] }>("/api/modules").catch((error: unknown) => {
      modulesOfComputer = undefined;
      throw error;
    });
    const { modules } = await modulesOfComputer;
    return modules.some((each) => each.name === name && each.state === "ready") ? source(words, signal) : [];
  };
}

async function settings(words: string): Promise<Found[]> {
  settingsOfComputer ??= api.get("/api/config").catch((error: unknown) => {
    settingsOfComputer = undefined;
    throw error;
  });
  const { settings: all } = await settingsOfComputer;
  const found = all.map(({ name, description }): Found => ({
    id: `setting-${name}`,
    icon: "settings",
    title: name,
    text: short(description),
    run: leadsTo(to("computer", ["settings"], { search: name })),
  }));
  return fitting(found, words).slice(0, MOST);
}
