/** Notices that the computer sends to this device, also while no page is open: shown, answered where nothing more is asked, and opened. */
import { api } from "~/api/client";
import { subscribe } from "~/state/push";

interface Action {
  title: string;
  answer: string;
  values: Record<string, string | string[]>;
}
/** A notice as the computer made it; `failed` is said where an answer does not arrive. */
interface Sent {
  title: string;
  body: string;
  tag: string;
  url: string;
  failed: string;
  item: string | null;
  hash: string | null;
  actions: Action[];
}
interface LaterEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface PushedEvent extends LaterEvent {
  readonly data: { json(): Sent } | null;
}
interface ClickEvent extends LaterEvent {
  readonly action: string;
  readonly notification: Notification;
}
interface Window {
  readonly visibilityState: string;
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
}
interface Worker {
  registration: ServiceWorkerRegistration;
  clients: { matchAll(options: { type: "window" }): Promise<Window[]>; openWindow(url: string): Promise<unknown> };
  addEventListener(type: "push", listener: (event: PushedEvent) => void): void;
  addEventListener(type: "notificationclick", listener: (event: ClickEvent) => void): void;
  addEventListener(type: "pushsubscriptionchange", listener: (event: LaterEvent) => void): void;
}

const worker = self as unknown as Worker;
/** Safari takes the permission away where something arrives and nothing is shown. */
const mustShow = /Safari\//.test(navigator.userAgent) && !/Chrom/.test(navigator.userAgent);

worker.addEventListener("push", (event) => {
  if (event.data) event.waitUntil(arrived(event.data.json()));
});

async function arrived(sent: Sent): Promise<void> {
  const pages = await worker.clients.matchAll({ type: "window" });
  const isSeen = pages.some(({ visibilityState }) => visibilityState === "visible");
  // A page that somebody looks at shows by itself what waits.
  if (!isSeen || mustShow || sent.tag === "test") await show(sent, isSeen);
}

async function show(sent: Sent, silent = false): Promise<void> {
  const actions = sent.actions.map(({ title }, index) => ({ action: String(index), title }));
  const options = { body: sent.body, tag: sent.tag, data: sent, silent, actions };
  await worker.registration.showNotification(sent.title, options as NotificationOptions);
}

worker.addEventListener("notificationclick", (event) => {
  const { action, notification } = event;
  const sent = notification.data as Sent | null;
  notification.close();
  const chosen = action ? sent?.actions[Number(action)] : undefined;
  event.waitUntil(sent && chosen ? answer(sent, chosen) : open(sent?.url ?? "/#/inbox"));
});

/** Answer as a page does: with the cookie of this device, for exactly what was shown. */
async function answer(sent: Sent, { answer: word, values }: Action): Promise<void> {
  try {
    await api.post("/api/inbox/answer", { body: { id: sent.item, hash: sent.hash, answer: word, values } });
  } catch {
    await show({ ...sent, body: sent.failed, actions: [] });
    await open(sent.url);
  }
}

async function open(url: string): Promise<void> {
  const [page] = await worker.clients.matchAll({ type: "window" });
  try {
    if (!page) throw new TypeError("no page is open");
    await page.focus();
    await page.navigate(url);
  } catch {
    await worker.clients.openWindow(url);
  }
}

// The browser has changed the address by itself: the computer is told the new one, or finds the old one gone.
worker.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(subscribe(worker.registration).catch(() => undefined)));
