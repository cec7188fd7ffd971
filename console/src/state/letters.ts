/** Entries and recordings that are not on the computer yet, as this page shows them. */
import { signal } from "@preact/signals";
import { all, forget, forgetAll, keep, type Letter } from "./letter_store";

export { addSlice, contentsOf, find, soundOf, type Letter } from "./letter_store";

/** All that wait, the oldest first, without a recording that goes on. */
export const letters = signal<readonly Letter[]>([]);

/** Other windows and the service worker show and send the same. */
const others = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("outbox");
if (others) others.onmessage = () => void refresh();

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

export async function put(letter: Letter): Promise<void> {
  await keep(letter);
  await refresh();
}

export async function remove(id: string): Promise<void> {
  await forget(id);
  await refresh();
}

export async function removeAll(): Promise<void> {
  await forgetAll();
  await refresh();
}
