/** The service worker: the program itself opens without a connection, and what waits is sent. What other apps share it answers by itself; answers of the API never come near it. */
import { all } from "./state/letter_store";
import { isUrgent, sendAll } from "./state/sending";
import { isShare, received } from "./state/shared";
import "./worker_push";

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
}

const worker = self as unknown as Worker;
const SHELL = `shell-${VERSION}`;
/** Milliseconds to wait for a computer while there is something to show. */
const PATIENCE = 4000;

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
    for (const name of await caches.keys()) if (name !== SHELL) await caches.delete(name);
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

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (isShare(request)) return event.respondWith(received(request));
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate") {
    if (pathname === "/") event.respondWith(patient(page(request), () => caches.match("/", { cacheName: SHELL })));
  } else if (pathname.startsWith("/console/")) event.respondWith(file(request));
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

/** The answer of the network, or else, or when it takes too long, what is kept. */
async function patient(network: Promise<Response>, kept: () => Promise<Response | undefined>): Promise<Response> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE));
  const answer = await Promise.race([network, late]).catch(() => undefined);
  return answer ?? (await kept()) ?? network;
}
