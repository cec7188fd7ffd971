/** Letters, the slices of their sound and their files, on the disk of this device, for pages and for the service worker. */
import { clear, createStore, del, delMany, entries, get, getMany, keys, promisifyRequest, set, setMany, type UseStore } from "idb-keyval";
import type { Shared, Target } from "./shared";

/** The title and the text of an entry, with the version by which the computer knows them. */
export interface Said {
  title: string;
  content: string;
  version: string;
}

export interface Letter {
  /** With which the computer takes it once, however often it is sent. */
  id: string;
  kind: "journal" | "dictation" | "chat" | "edit" | "answer" | "shared";
  /** Time of writing. */
  at: string;
  /** The day of the journal that it is for. */
  date: string;
  content: string;
  sound?: { type: string; name: string; seconds: number };
  /** Names of its files, which lie beside it. */
  files?: readonly string[];
  /** The conversation that it goes on with; without one it begins one, with these settings. */
  chat?: { session?: string; beginning?: object };
  /** The entry that it changes, as it was then; `theirs` is what the computer has instead, null if it was deleted there. */
  edit?: { entry: string; title: string; before: Said; theirs?: Said | null };
  /** The item of the inbox that it answers, exactly as it was shown. */
  answer?: { id: string; hash: string; word: string; values?: Record<string, string | string[]> };
  /** Title, link and files that another app has given. */
  shared?: Shared;
  /** The place where that goes, once somebody has said so. */
  target?: Target;
  /** Nobody has said yet that it is to be sent: a recording that goes on, or was broken off. */
  isHeld?: boolean;
  /** Reason why the computer has not taken it. */
  problem?: string;
  /** Refused, and not sent again automatically. */
  isRefused?: boolean;
}

/** A message that the computer has, and its conversation. */
export interface Begun {
  id: string;
  session: string;
}

let opened: UseStore | undefined;
const store = () => (opened ??= createStore("parachute-outbox", "letters"));
const place = (id: string) => ["letter", id];
const others = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("outbox");
/** Let all windows show what is here now. */
const tell = (begun?: Begun) => others?.postMessage(begun ?? "changed");

export const find = (id: string) => get<Letter>(place(id), store());

/** The letter that stands in the place of one meanwhile, with other words. */
export async function replaced({ id, at }: Letter): Promise<Letter | undefined> {
  const now = await find(id).catch(() => undefined);
  return now && now.at !== at ? now : undefined;
}

/** All that are here, the oldest first. */
export async function all(): Promise<Letter[]> {
  const found = (await entries<string[], Letter>(store())).filter(([key]) => key[0] === "letter").map(([, letter]) => letter);
  return found.sort((one, other) => one.at.localeCompare(other.at));
}

/** Keep a letter, with its files in the same step. */
export async function keep(letter: Letter, files?: readonly unknown[]): Promise<void> {
  if (files?.length) await setMany([[place(letter.id), letter], [["files", letter.id], files]], store());
  else await set(place(letter.id), letter, store());
  tell();
}

/** Keep files that are chosen for what is being written under a name. */
export async function keepFiles(name: string, files: readonly unknown[]): Promise<void> {
  await (files.length ? set(["files", name], files, store()) : del(["files", name], store()));
}

/** Have chosen files go along where what they belong to has got another name. */
export async function moveFiles(from: string, to: string): Promise<void> {
  await store()("readwrite", async (places) => {
    const found = await promisifyRequest(places.get(["files", from]));
    if (!found) return;
    places.put(found, ["files", to]);
    places.delete(["files", from]);
  });
}

export const filesOf = async <T>(id: string): Promise<T[]> => (await get<T[]>(["files", id], store())) ?? [];

/** Keep the next slice of a letter's sound, together with how long it is by now. */
export function addSlice(letter: Letter, number: number, slice: Blob): Promise<void> {
  return setMany([[place(letter.id), letter], [["slice", letter.id, number], slice]], store());
}

export async function soundOf(letter: Letter): Promise<Blob> {
  const slices = await getMany<Blob>(await slicesOf(letter.id), store());
  return new Blob(slices.flatMap((slice) => slice ?? []), { type: letter.sound?.type });
}

/** Remove a letter; with `begun` its conversation has begun, and the other first messages go on with it. */
export async function forget(id: string, begun?: string): Promise<void> {
  const letter = begun === undefined ? undefined : await find(id);
  if (letter?.chat && !letter.chat.session) {
    const next = (await all()).filter(({ id: other, chat, isRefused }) => other !== id && chat && !chat.session && !isRefused);
    await setMany(next.map((other) => [place(other.id), { ...other, chat: { session: begun } }]), store());
  }
  await delMany([place(id), ["files", id], ...(await slicesOf(id))], store());
  tell(begun === undefined ? undefined : { id, session: begun });
}

export async function forgetAll(): Promise<void> {
  await clear(store());
  tell();
}

async function slicesOf(id: string): Promise<IDBValidKey[]> {
  // In the order of their numbers: the database sorts its keys.
  return (await keys<(string | number)[]>(store())).filter((key) => key[0] === "slice" && key[1] === id);
}
