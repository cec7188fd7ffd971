/** Conversations as lists have them. */
import { api, type Schema } from "~/api/client";
import { to } from "~/state/router";
import { plain } from "~/text/plain";

export type Session = Schema<"ListedSession">;

export interface Shown {
  search: string;
  workspace: string;
  archived: boolean;
}

export interface Page {
  sessions: Session[];
  hasMore: boolean;
}

export const PAGE = 50;
const MOST = 1000;
const MOST_PINNED = 100;

async function fetched({ search, workspace, archived }: Shown, offset: number, limit: number, signal?: AbortSignal): Promise<Session[]> {
  // A single letter finds too much to be asked for.
  const words = search.trim().length > 1 ? search.trim() : undefined;
  const query = { limit, offset, archived: archived || undefined, workspaceId: workspace, search: words, passages: words && true, folded: true };
  return (await api.get("/api/chat", { query, signal })).sessions;
}

/** The newest conversations, as many as were shown before; one more tells whether there are others. */
export async function newest(shown: Shown, count: number, signal: AbortSignal): Promise<Page> {
  const limit = Math.min(count + 1, MOST);
  const sessions = await fetched(shown, 0, limit, signal);
  return { sessions: sessions.slice(0, limit - 1), hasMore: sessions.length === limit };
}

/** A page with the next ones behind it. */
export async function further(shown: Shown, page: Page): Promise<Page> {
  const next = await fetched(shown, page.sessions.length, PAGE + 1);
  const known = new Set(page.sessions.map(({ id }) => id));
  const added = next.slice(0, PAGE).filter(({ id }) => !known.has(id));
  return { sessions: [...page.sessions, ...added], hasMore: next.length > PAGE };
}

/** Conversations that are kept on top. */
export async function pinned(workspace: string, signal: AbortSignal): Promise<Session[]> {
  return (await api.get("/api/chat", { query: { pinned: true, workspaceId: workspace, limit: MOST_PINNED, folded: true }, signal })).sessions;
}

/** The address of a conversation, at the place that has the words by which it was found. */
export function placeOf(session: Session, search: string): string {
  return to("chat", [session.id], session.passage ? { find: search.trim() } : {});
}

/** The conversation and the older versions of it for which its line stands. */
export function versionsOf({ id, versions }: Session): string[] {
  return [id, ...(versions ?? [])];
}

/** The words of the place that a search has found; none where the title says the same. */
export function passageOf({ title, passage }: Session): string {
  const text = plain(passage ?? "");
  return title && text.startsWith(title) && text.length < title.length + 3 ? "" : text;
}

export async function workspaces(signal: AbortSignal): Promise<Schema<"Workspace">[]> {
  return (await api.get("/api/workspaces", { signal })).workspaces;
}

export async function answering(signal: AbortSignal): Promise<Set<string>> {
  return new Set((await api.get("/api/chat/active-streams", { signal })).streams);
}
