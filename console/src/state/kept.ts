/** Answers kept for reading without a connection, where the browser allows that: over TLS, or on the computer itself. */
import { KEPT_LISTS } from "./kept_name";

const WORKER = "/console/worker.js";

interface Trusting {
  trustedTypes?: { createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(url: string): unknown } };
}

let registered: Promise<ServiceWorkerRegistration | undefined> | undefined;

/** Let the service worker keep the program and the last lists. */
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

/** Forget all lists, since somebody has signed out. */
export async function forget(): Promise<void> {
  if (!("caches" in window)) return;
  navigator.serviceWorker.controller?.postMessage("forget");
  await caches.delete(KEPT_LISTS).catch(() => false);
}

/** Keep what a stream has brought, as if it had been asked for at this path. */
export async function keep(path: string, value: unknown): Promise<void> {
  if (!("caches" in window)) return;
  const lists = await caches.open(KEPT_LISTS).catch(() => undefined);
  await lists?.put(path, new Response(JSON.stringify(value), { headers: { "content-type": "application/json" } })).catch(() => undefined);
}

/** Return the kept answer of a path. */
export async function kept<T>(path: string): Promise<T | undefined> {
  if (!("caches" in window)) return undefined;
  const answer = await caches.match(path, { cacheName: KEPT_LISTS }).catch(() => undefined);
  return answer && ((await answer.json()) as T);
}
