/** Answers kept for reading without a connection, encrypted, where the browser allows that: over TLS, or on the computer itself. */
import { clear, createStore, delMany, entries, get, set, type UseStore } from "idb-keyval";
import { ApiError, listeners } from "~/api/client";

const WORKER = "/console/worker.js";

interface Trusting {
  trustedTypes?: { createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(url: string): unknown } };
}

let registered: Promise<ServiceWorkerRegistration | undefined> | undefined;

/** Let the service worker keep the program. */
export function keepForLater(): void {
  if (!isSecureContext || !("serviceWorker" in navigator) || registered) return;
  const policy = (window as Trusting).trustedTypes?.createPolicy("parachute", { createScriptURL: () => WORKER });
  const url = (policy?.createScriptURL(WORKER) ?? WORKER) as string;
  // Without it, in a private window for one, the console works all the same.
  registered = navigator.serviceWorker.register(url, { scope: "/" }).catch(() => undefined);
}

/** The registration of the service worker, undefined where there is none. */
export function registration(): Promise<ServiceWorkerRegistration | undefined> {
  return registered ?? Promise.resolve(undefined);
}

/** Paths whose answers are kept: the session, what lists and conversations were read, the journal, and what is known. */
const READABLE = [
  /^\/api\/pairing\/me$/,
  /^\/api\/chat$/,
  /^\/api\/chat\/[0-9a-f-]{36}$/,
  /^\/api\/inbox$/,
  /^\/api\/workspaces$/,
  /^\/api\/modules$/,
  /^\/api\/daily\/(today|entries|days)$/,
  /^\/api\/brain\/entities(\/by_id)?$/,
];
const MOST = 250;
/** Characters of one answer that is kept. */
const LONGEST = 2_000_000;
/** Milliseconds to wait for a computer while there is something to show. */
const PATIENCE = 4000;

interface Sealed {
  iv: Uint8Array<ArrayBuffer>;
  data: ArrayBuffer;
  at: number;
}

let opened: UseStore | undefined;
const store = () => (opened ??= createStore("parachute-reading", "answers"));
const BASE = "key";

/** The half of the key that the computer gives each session, in a cookie that ends with it. */
const part = () => /(?:^|; )(?:__Host-)?parachute-reading=([\w-]{43})/.exec(document.cookie)?.[1];

let derived: { part: string; key: Promise<CryptoKey | undefined> } | undefined;

/** The key of this session, made of that half and one that no program can read; undefined where there is none to be. */
function keyOf(session: string, isNew: boolean): Promise<CryptoKey | undefined> {
  if (derived?.part !== session) derived = { part: session, key: derive(session, isNew) };
  return derived.key.then((key) => {
    if (key || !isNew) return key;
    derived = { part: session, key: derive(session, true) };
    return derived.key;
  });
}

async function derive(session: string, isNew: boolean): Promise<CryptoKey | undefined> {
  let base = await get<CryptoKey>(BASE, store());
  if (!base && isNew) {
    base = await crypto.subtle.importKey("raw", crypto.getRandomValues(new Uint8Array(32)), "HKDF", false, ["deriveKey"]);
    await set(BASE, base, store());
  }
  if (!base) return undefined;
  const how = { name: "HKDF", hash: "SHA-256", salt: new TextEncoder().encode(session), info: new TextEncoder().encode("reading") };
  return crypto.subtle.deriveKey(how, base, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

/** The name of an answer: its address may have somebody's words in it. */
async function nameOf(session: string, address: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${session} ${address}`)));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Grows when what is kept is forgotten: what was asked for before is not kept. */
let reign = 0;

/** Forget all answers and the key to them, since nobody is signed in any more. */
export async function forget(): Promise<void> {
  reign += 1;
  derived = undefined;
  await clear(store()).catch(() => undefined);
}

/** Keep an answer as if it had been asked for at this address. */
export async function keep(address: string, text: string): Promise<void> {
  const [session, begun] = [part(), reign];
  if (!session || !isSecureContext || text.length > LONGEST) return;
  const key = await keyOf(session, true);
  if (!key) return;
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new TextEncoder().encode(text));
  const name = await nameOf(session, address);
  if (begun === reign) await set(name, { iv, data, at: Date.now() } satisfies Sealed, store());
  // Somebody has signed out meanwhile: not even a key stays.
  if (begun !== reign) await forget();
}

/** Remove the oldest of what is too much. */
export async function prune(): Promise<void> {
  const known = (await entries<string, Sealed>(store())).filter(([name]) => name !== BASE);
  const old = known.sort(([, one], [, other]) => other.at - one.at).slice(MOST);
  await delMany(old.map(([name]) => name), store());
}

/** Return the kept answer of an address. */
export async function kept(address: string): Promise<string | undefined> {
  const session = part();
  if (!session || !isSecureContext) return undefined;
  const key = await keyOf(session, false);
  const found = await get<Sealed>(await nameOf(session, address), store());
  if (!key || !found) return undefined;
  return new TextDecoder().decode(await crypto.subtle.decrypt({ name: "AES-GCM", iv: found.iv }, key, found.data));
}

/** Behind a proxy that is up while the computer is not, somebody else answers. */
const isAway = (error: unknown) => error instanceof ApiError && (error.status === 0 || error.status >= 502);

listeners.read = async (address, ask) => {
  const path = address.split("?", 1)[0] ?? "";
  if (!READABLE.some((known) => known.test(path))) return ask();
  const network = ask();
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE));
  const answer = await Promise.race([network, late]).catch((error: unknown) => {
    if (!isAway(error)) throw error;
  });
  if (answer === undefined) return (await kept(address).catch(() => undefined)) ?? network;
  void keep(address, answer).catch(() => undefined);
  return answer;
};
