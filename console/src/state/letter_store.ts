/** Letters and the slices of their sound on the disk of this device, for pages and for the service worker. */
import { clear, createStore, delMany, entries, get, getMany, keys, set, setMany, type UseStore } from "idb-keyval";
import type { Shared, Target } from "./shared";

export interface Letter {
  /** With which the computer takes it once, however often it is sent. */
  id: string;
  kind: "journal" | "dictation" | "shared";
  /** Time of writing. */
  at: string;
  /** The day of the journal that it is for. */
  date: string;
  content: string;
  sound?: { type: string; name: string; seconds: number };
  /** Title, link and files that another app has given; the files themselves are its slices. */
  shared?: Shared;
  /** The place where that goes, once somebody has said so. */
  target?: Target;
  /** Nobody has said yet that it is to be sent: a recording that goes on, or was broken off. */
  isHeld?: boolean;
  /** Sent without the computer's confirmation: to be sent again. */
  isWaiting?: boolean;
  /** Reason why the computer has not taken it. */
  problem?: string;
  /** Refused, and not sent again automatically. */
  isRefused?: boolean;
}

let opened: UseStore | undefined;
const store = () => (opened ??= createStore("parachute-outbox", "letters"));
const place = (id: string) => ["letter", id];
const others = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("outbox");
/** Let all windows show what is here now. */
const tell = () => others?.postMessage("changed");

export const find = (id: string) => get<Letter>(place(id), store());

/** All that are here, the oldest first. */
export async function all(): Promise<Letter[]> {
  const found = (await entries<string[], Letter>(store())).filter(([key]) => key[0] === "letter").map(([, letter]) => letter);
  return found.sort((one, other) => one.at.localeCompare(other.at));
}

export async function keep(letter: Letter): Promise<void> {
  await set(place(letter.id), letter, store());
  tell();
}

/** Keep the next slice of a letter's sound, together with how long it is by now. */
export function addSlice(letter: Letter, number: number, slice: Blob): Promise<void> {
  return setMany([[place(letter.id), letter], [["slice", letter.id, number], slice]], store());
}

/** Keep a letter with all of its slices, or nothing of it. */
export async function keepWhole(letter: Letter, slices: readonly Blob[]): Promise<void> {
  const numbered = slices.map((slice, number): [IDBValidKey, unknown] => [["slice", letter.id, number], slice]);
  await setMany([[place(letter.id), letter], ...numbered], store());
  tell();
}

/** The slices of a letter, in their order. */
export async function contentsOf(id: string): Promise<Blob[]> {
  return (await getMany<Blob>(await slicesOf(id), store())).flatMap((slice) => slice ?? []);
}

export async function soundOf(letter: Letter): Promise<Blob> {
  return new Blob(await contentsOf(letter.id), { type: letter.sound?.type });
}

export async function forget(id: string): Promise<void> {
  await delMany([place(id), ...(await slicesOf(id))], store());
  tell();
}

export async function forgetAll(): Promise<void> {
  await clear(store());
  tell();
}

async function slicesOf(id: string): Promise<IDBValidKey[]> {
  // In the order of their numbers: the database sorts its keys.
  return (await keys<(string | number)[]>(store())).filter((key) => key[0] === "slice" && key[1] === id);
}
