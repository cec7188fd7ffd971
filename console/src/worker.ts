/**
 * The service worker: the program itself opens without a connection, with the last lists to read.
 * It sees every request of the page and touches only those below; answers of anything but GET never come near it. What other apps share is a request that it answers by itself.
 */
import { KEPT_LISTS } from "./state/kept_name";
import { all } from "./state/letter_store";
import { isUrgent, sendAll } from "./state/sending";
import { isShare, received } from "./state/shared";

/** The program's files, and what stands for this build of it; build.mjs fills both in. */
declare const FILES: string[];
declare const VERSION: string;

interface LaterEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface RequestEvent extends LaterEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface SyncEvent extends LaterEvent {
  readonly tag: string;
}
interface Worker {
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
  addEventListener(type: "install" | "activate", listener: (event: LaterEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: RequestEvent) => void): void;
  addEventListener(type: "sync", listener: (event: SyncEvent) => void): void;
  addEventListener(type: "message", listener: (event: MessageEvent<unknown> & LaterEvent) => void): void;
}

const worker = self as unknown as Worker;
const SHELL = `shell-${VERSION}`;
const MOST_LISTS = 60;
/** Milliseconds to wait for a computer while there is something to show. */
const PATIENCE = 4000;

/** Paths of the API whose answers are kept: the session, lists of conversations and modules, conversations that were read, and days of the journal. */
const READABLE = [
  /^\/api\/pairing\/me$/,
  /^\/api\/chat$/,
  /^\/api\/chat\/[0-9a-f-]{36}$/,
  /^\/api\/workspaces$/,
  /^\/api\/modules$/,
  /^\/api\/daily\/(today|entries|days)$/,
];
/** Characters of one answer that is kept. */
const LONGEST = 2_000_000;

worker.addEventListener("install", (event) => {
  const keep = async () => {
    const shell = await caches.open(SHELL);
    await shell.addAll(FILES.map((name) => `/console/${name}`));
    await shell.put("/", await page(new Request("/", { headers: { accept: "text/html" } })));
    await worker.skipWaiting();
  };
  event.waitUntil(keep());
});

worker.addEventListener("activate", (event) => {
  const clean = async () => {
    for (const name of await caches.keys()) if (name !== SHELL && name !== KEPT_LISTS) await caches.delete(name);
    await worker.clients.claim();
  };
  event.waitUntil(clean());
});

// The connection is back while no page may be open: what waits on this device is sent. An error has the browser try again later.
worker.addEventListener("sync", (event) => {
  if (event.tag === "outbox") event.waitUntil(sendWaiting());
});

async function sendWaiting(): Promise<void> {
  if (!(await all()).some(isUrgent)) return;
  // Why it was refused stands in the answer, which a page explains in the language of its reader when it sends it again.
  await sendAll((error) => (error instanceof Error ? error.message : ""));
}

/** Grows when somebody signs out: what was asked for before is not kept. */
let reign = 0;

worker.addEventListener("message", (event) => {
  if (event.data === "forget") event.waitUntil(forget());
});

async function forget(): Promise<void> {
  reign += 1;
  await caches.delete(KEPT_LISTS);
}

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (isShare(request)) return event.respondWith(received(request));
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate") {
    if (pathname === "/") event.respondWith(patient(page(request), () => caches.match("/", { cacheName: SHELL })));
  } else if (pathname.startsWith("/console/")) event.respondWith(file(request));
  else if (READABLE.some((known) => known.test(pathname))) {
    event.respondWith(patient(list(event), () => caches.match(request.url, { cacheName: KEPT_LISTS, ignoreVary: true })));
  }
});

async function page(request: Request): Promise<Response> {
  const answer = await fetch(request);
  // Behind a proxy that is up while the computer is not, somebody else answers.
  if (answer.status >= 502) throw new TypeError("the computer does not answer");
  return answer;
}

async function file(request: Request): Promise<Response> {
  return (await caches.match(request.url, { cacheName: SHELL, ignoreVary: true })) ?? fetch(request);
}

async function list({ request }: RequestEvent): Promise<Response> {
  const begun = reign;
  const answer = await page(request);
  if (answer.status === 401) await forget();
  if (answer.status !== 200) return answer;
  const text = await answer.clone().text();
  // Who is signed in is asked at every start: nobody is a reason to forget what somebody has read here.
  if (new URL(request.url).pathname === "/api/pairing/me" && !(JSON.parse(text) as { signed_in: boolean }).signed_in) await forget();
  else if (begun === reign && text.length <= LONGEST) await keep(request.url, text, begun);
  return answer;
}

async function keep(address: string, text: string, begun: number): Promise<void> {
  const lists = await caches.open(KEPT_LISTS);
  await lists.delete(address);
  await lists.put(address, new Response(text, { headers: { "content-type": "application/json" } }));
  const known = await lists.keys();
  for (const old of known.slice(0, Math.max(0, known.length - MOST_LISTS))) await lists.delete(old);
  if (begun !== reign) await caches.delete(KEPT_LISTS);
}

/** The answer of the network, or else, or when it takes too long, what is kept. */
async function patient(network: Promise<Response>, kept: () => Promise<Response | undefined>): Promise<Response> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE));
  const answer = await Promise.race([network, late]).catch(() => undefined);
  return answer ?? (await kept()) ?? network;
}
