/** Reading ahead, so that the last month of the journal and the newest conversations are here without a connection. */
import { api } from "~/api/client";
import { idle } from "~/text/seen";
import { keep, kept, prune } from "./kept";
import { may } from "./session";

const DAYS = 31;
const CONVERSATIONS = 20;
const FIRST_READ = 50;

interface Known {
  id: string;
  updatedAt: string;
}

/** Read ahead once the browser has nothing else to do. */
export function readAhead(): void {
  if (!isSecureContext) return;
  idle(() => void Promise.all([may("daily") && journal(), may("chat") && conversations()]).then(prune).catch(() => undefined));
}

/** The days of the last month, each as its screen asks for it. */
async function journal(): Promise<void> {
  if (!may("modules")) return;
  const { modules } = await api.get<{ modules: { name: string; state: string }[] }>("/api/modules");
  if (!modules.some(({ name, state }) => name === "daily" && state === "ready")) return;
  const { date: today } = await api.module<{ date: string }>("GET", "/api/daily/today");
  const dates = Array.from({ length: DAYS }, (_, back) => new Date(Date.parse(`${today}T12:00:00Z`) - back * 86_400_000).toISOString().slice(0, 10));
  const query = { from: dates.at(-1), to: today, limit: 1000 };
  const { entries, total } = await api.module<{ entries: { date: string }[]; total: number }>("GET", "/api/daily/entries", { query });
  // Of more than that the oldest are not here whole.
  const oldest = total > entries.length ? entries.at(-1)?.date ?? today : "";
  for (const date of dates.filter((each) => each > oldest)) {
    const found = entries.filter((entry) => entry.date === date).reverse();
    await keep(`/api/daily/entries?date=${date}&limit=1000`, JSON.stringify({ entries: found, total: found.length }));
  }
}

/** The newest conversations and those on top, of which only what has changed is asked for again. */
async function conversations(): Promise<void> {
  const newest = await api.get("/api/chat", { query: { limit: FIRST_READ + 1, offset: 0, folded: true } });
  const pinned = await api.get("/api/chat", { query: { pinned: true, limit: 100, folded: true } });
  for (const { id, updatedAt } of [...pinned.sessions, ...newest.sessions].slice(0, CONVERSATIONS + pinned.sessions.length)) {
    const params = { session: id };
    const before = await kept(`/api/chat/${id}?limit=${FIRST_READ}`);
    if (before && (JSON.parse(before) as Known).updatedAt === updatedAt) continue;
    await api.get("/api/chat/{session}", { params, query: { limit: FIRST_READ } }).catch(() => undefined);
  }
}
