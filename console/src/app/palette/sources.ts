/** The searches of the computer behind one field, each of which answers when it is ready. */
import { api } from "~/api/client";
import { passageOf, placeOf } from "~/screens/conversations/data";
import { folderOf, placeOf as placeOfFile } from "~/screens/files/models";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { moment } from "~/text/messages";
import { typeName } from "~/text/names";
import { plain, plainJoined } from "~/text/plain";
import { beginOf, dayOf, type Filters } from "./filters";
import { fitting } from "./found";
import type { Answer, Found, Group, Searched } from "./groups";
import { t } from "./texts";

const MOST = 5;
/** So many, if one kind is asked for. */
const MOST_OF_ONE = 30;
/** Hits that are asked for where a filter is applied here. */
const MOST_FILTERED = 100;
const MOST_PEOPLE = 500;
const LONGEST_TEXT = 160;

const short = (text: string, words = plain) => words(text.slice(0, 2 * LONGEST_TEXT)).slice(0, LONGEST_TEXT);
const joined = (...parts: string[]) => parts.filter(Boolean).join(" · ");
const leadsTo = (address: string) => () => go(address);
const most = ({ kind }: Filters) => (kind ? MOST_OF_ONE : MOST);

type Source = (words: string, filters: Filters, signal: AbortSignal) => Promise<Answer>;

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

/** People of Knowledge by name; none where it is not there. */
export async function people(signal: AbortSignal): Promise<{ id: string; name: string }[]> {
  if (!(await isThere("brain"))) return [];
  interface Person {
    para_id: string;
    name: string;
  }
  const query = { type: "person", limit: MOST_PEOPLE };
  const { results } = await api.module<{ results: Person[] }>("GET", "/api/brain/entities", { query, signal });
  return results.map(({ para_id, name }) => ({ id: para_id, name }));
}

async function conversations(words: string, filters: Filters, signal: AbortSignal): Promise<Answer> {
  const begin = beginOf(filters.period);
  const limit = begin ? MOST_FILTERED : most(filters);
  const query = { limit, search: words || undefined, passages: words ? true : undefined, folded: true };
  const { sessions, searched } = await api.get("/api/chat", { query, signal });
  const found = sessions
    .filter(({ updatedAt }) => !begin || new Date(updatedAt) >= begin)
    .slice(0, most(filters))
    .map((session): Found => ({
      id: `conversation-${session.id}`,
      icon: "chat",
      title: session.title ?? t("untitled"),
      text: passageOf(session).slice(0, LONGEST_TEXT) || moment(session.updatedAt),
      isByMeaning: session.found_by === "meaning",
      run: leadsTo(placeOf(session, words)),
    }));
  return { found, searched };
}

async function journal(words: string, filters: Filters, signal: AbortSignal): Promise<Answer> {
  interface Entry {
    id: string | null;
    date: string;
    content: string;
    snippet?: string;
    found_by?: string;
  }
  const begin = beginOf(filters.period);
  const query = { q: words, limit: most(filters), from: begin && dayOf(begin), about: filters.person || undefined };
  const { entries, searched } = await api.module<{ entries: Entry[]; searched?: Searched }>("GET", "/api/daily/search", { query, signal });
  const found = entries.map(({ id, date, content, snippet, found_by }, index): Found => ({
    id: `entry-${id ?? `${date}-${index}`}`,
    icon: "journal",
    title: moment(`${date}T12:00`, { dateStyle: "full" }),
    text: short(snippet || content),
    isByMeaning: found_by === "meaning",
    run: leadsTo(to("journal", [date])),
  }));
  return { found, searched };
}

async function knowledge(words: string, filters: Filters, signal: AbortSignal): Promise<Answer> {
  interface Entity {
    para_id: string;
    type: string;
    name: string;
    summary: string;
    path: string;
    snippet?: string;
    found_by?: string;
  }
  const linked = filters.person ? await linkedWith(filters.person, signal) : undefined;
  const query = { q: words, limit: linked ? MOST_FILTERED : most(filters) };
  const { results, searched } = await api.module<{ results: Entity[]; searched?: Searched }>("GET", "/api/brain/search", { query, signal });
  const found = results
    .filter(({ para_id }) => !linked || linked.has(para_id))
    .slice(0, most(filters))
    .map(({ para_id, type, name, summary, path, snippet, found_by }): Found => ({
      id: `entity-${para_id}`,
      icon: "knowledge",
      title: name,
      text: joined(typeName(type), path, short(snippet || summary, plainJoined)),
      isByMeaning: found_by === "meaning",
      run: leadsTo(to("knowledge", ["entity", para_id])),
    }));
  return { found, searched };
}

/** The ids of somebody and of all that links lead to and from. */
async function linkedWith(person: string, signal: AbortSignal): Promise<Set<string | null>> {
  const { links } = await api.module<{ links: { para_id: string | null }[] }>("GET", "/api/brain/links", { query: { id: person }, signal });
  return new Set([person, ...links.map(({ para_id }) => para_id)]);
}

async function files(words: string, filters: Filters, signal: AbortSignal): Promise<Answer> {
  const begin = beginOf(filters.period);
  const query = { q: words, limit: begin ? MOST_FILTERED : most(filters) };
  const { results, searched } = await api.get("/api/files/search", { query, signal });
  const found = results
    .filter(({ lastModified }) => !begin || new Date(lastModified) >= begin)
    .slice(0, most(filters))
    .map(({ path, name, snippet, page, chapter, line, found_by }): Found => ({
      id: `file-${path}`,
      icon: "files",
      title: page ? t("on_page", { name, n: page }) : chapter ? t("in_chapter", { name, n: chapter }) : line ? t("on_line", { name, n: line }) : name,
      text: joined(folderOf(path), short(snippet, plainJoined)),
      isByMeaning: found_by === "meaning",
      run: leadsTo(placeOfFile(folderOf(path), name, { page, chapter, line })),
    }));
  return { found, searched };
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
  return async (words, filters, signal) => ((await isThere(name)) ? source(words, filters, signal) : { found: [] });
}

async function isThere(name: string): Promise<boolean> {
  if (!may("modules")) return true;
  modulesOfComputer ??= api.get<{ modules: { name: string; state: string }[] }>("/api/modules").catch((error: unknown) => {
    modulesOfComputer = undefined;
    throw error;
  });
  const { modules } = await modulesOfComputer;
  return modules.some((each) => each.name === name && each.state === "ready");
}

async function settings(words: string, filters: Filters): Promise<Answer> {
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
  return { found: fitting(found, words).slice(0, most(filters)) };
}
