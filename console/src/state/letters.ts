/** Entries and recordings that are not on the computer yet, on the disk of this device: letters, and the slices of their sound. */
import { signal } from "@preact/signals";
import { clear, createStore, delMany, entries, get, getMany, keys, set, setMany, type UseStore } from "idb-keyval";

export interface Letter {
  /** With which the computer takes it once, however often it is sent. */
  id: string;
  kind: "journal" | "dictation";
  /** Time of writing. */
  at: string;
  /** The day of the journal that it is for. */
  date: string;
  content: string;
  /** `path`: where the computer has it already. */
  sound?: { type: string; name: string; seconds: number; path?: string };
  /** Nobody has said yet that it is to be sent: a recording that goes on, or was broken off. */
  isHeld?: boolean;
  /** Sent without the computer's confirmation: to be sent again. */
  isWaiting?: boolean;
  /** Reason why the computer has not taken it. */
  problem?: string;
  /** Refused, and not sent again automatically. */
  isRefused?: boolean;
}

/** All that wait, the oldest first, without a recording that goes on. */
export const letters = signal<readonly Letter[]>([]);

let opened: UseStore | undefined;
const store = () => (opened ??= createStore("parachute-outbox", "letters"));
const place = (id: string) => ["letter", id];
/** Other windows show the same. */
const others = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("outbox");
if (others) others.onmessage = () => void refresh();

const lockOf = (id: string) => `recording/${id}`;

/** Hold the sign that a recording goes on until the answer is called; it ends with the page, too. */
export function holdRecording(id: string): () => void {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  void navigator.locks.request(lockOf(id), () => ended);
  return end;
}

export async function refresh(): Promise<void> {
  const found = (await entries<string[], Letter>(store())).filter(([key]) => key[0] === "letter").map(([, letter]) => letter);
  const held = navigator.locks ? ((await navigator.locks.query()).held ?? []).map(({ name }) => name) : [];
  for (const { id } of found) if (held.includes(lockOf(id))) lookAfter(lockOf(id));
  letters.value = found.filter(({ id }) => !held.includes(lockOf(id))).sort((one, other) => one.at.localeCompare(other.at));
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

async function changed(): Promise<void> {
  await refresh();
  others?.postMessage("changed");
}

export const find = (id: string) => get<Letter>(place(id), store());

export async function put(letter: Letter): Promise<void> {
  await set(place(letter.id), letter, store());
  await changed();
}

/** Keep the next slice of a letter's sound, together with how long it is by now. */
export function addSlice(letter: Letter, number: number, slice: Blob): Promise<void> {
  return setMany([[place(letter.id), letter], [["slice", letter.id, number], slice]], store());
}

export async function soundOf(letter: Letter): Promise<Blob> {
  const slices = await getMany<Blob>(await slicesOf(letter.id), store());
  return new Blob(slices.flatMap((slice) => slice ?? []), { type: letter.sound?.type });
}

export async function remove(id: string): Promise<void> {
  await delMany([place(id), ...(await slicesOf(id))], store());
  await changed();
}

export async function removeAll(): Promise<void> {
  await clear(store());
  await changed();
}

async function slicesOf(id: string): Promise<IDBValidKey[]> {
  // In the order of their numbers: the database sorts its keys.
  return (await keys<(string | number)[]>(store())).filter((key) => key[0] === "slice" && key[1] === id);
}
