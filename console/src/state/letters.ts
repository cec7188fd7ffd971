/** All that is not on the computer yet, as this page shows it. */
import { computed, signal } from "@preact/signals";
import { all, type Begun, forget, forgetAll, keep, type Letter } from "./letter_store";

export { addSlice, filesOf, find, keepFiles, moveFiles, soundOf, type Begun, type Letter, type Said } from "./letter_store";

/** All that are kept here, the oldest first, without a recording that goes on. */
export const letters = signal<readonly Letter[]>([]);

/** Letters that this page sends at this moment. */
export const underway = signal<ReadonlySet<string>>(new Set());

/** Letters that wait: all others, whatever became of the attempt to send them. */
export const waiting = computed(() => letters.value.filter(({ id }) => !underway.value.has(id)));

/** Messages of a conversation that wait; all that have none yet begin the same one. */
export const waitingIn = (session: string | undefined) => waiting.value.filter(({ chat }) => chat && chat.session === session);

/** The time of a message that is written now: after all that wait, also where the clock was set back. */
export const timeOfNow = () => new Date(Math.max(Date.now(), ...letters.value.map(({ chat, at }) => (chat ? Date.parse(at) + 1 : 0)))).toISOString();

/** The message by which a conversation began that somebody had written without a connection. */
export const begun = signal<Begun | undefined>(undefined);

/** Show a letter as being sent, until the answer is called. */
export function send(id: string): () => void {
  underway.value = new Set([...underway.value, id]);
  return () => void (underway.value = new Set([...underway.value].filter((other) => other !== id)));
}

/** Other windows and the service worker show and send the same. */
const others = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("outbox");
if (others) {
  others.onmessage = ({ data }: MessageEvent<Begun | "changed">) => {
    if (data !== "changed") begun.value = data;
    void refresh();
  };
}

const lockOf = (id: string) => `recording/${id}`;

/** Hold the sign that a recording goes on until the answer is called; it ends with the page, too. */
export function holdRecording(id: string): () => void {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  void navigator.locks?.request(lockOf(id), () => ended);
  return end;
}

export async function refresh(): Promise<void> {
  const found = await all();
  const held = navigator.locks ? ((await navigator.locks.query()).held ?? []).map(({ name }) => name) : [];
  for (const { id } of found) if (held.includes(lockOf(id))) lookAfter(lockOf(id));
  letters.value = found.filter(({ id }) => !held.includes(lockOf(id)));
}

const awaited = new Set<string>();

/** Look again once a recording has ended: a page that was closed takes a moment to let its sign go. */
function lookAfter(lock: string): void {
  if (awaited.has(lock)) return;
  awaited.add(lock);
  void navigator.locks.request(lock, () => {
    awaited.delete(lock);
    // Not in here: the sign must be gone by then.
    setTimeout(() => void refresh());
  });
}

export async function put(letter: Letter, files?: readonly unknown[]): Promise<void> {
  await keep(letter, files);
  await refresh();
}

export async function remove(id: string, session?: string): Promise<void> {
  await forget(id, session);
  await refresh();
}

export async function removeAll(): Promise<void> {
  await forgetAll();
  await refresh();
}
