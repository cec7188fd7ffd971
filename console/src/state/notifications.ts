/** Notes of the device for what begins to wait while the console is open and nobody looks at it; no vendor's push service is asked. */
import { effect, signal } from "@preact/signals";
import { messages } from "~/text/messages";
import { inbox } from "./inbox";
import { registration } from "./kept";
import { preference } from "./preferences";

const t = messages("notifications", { waits: "Needs your decision" });

/** Browsers have notifications in a secure context alone. */
export const canNotify = isSecureContext && "Notification" in window;

const wanted = preference<"yes" | "no">("notifications", ["yes", "no"], "no");
const isPermitted = signal(canNotify && Notification.permission === "granted");

/** Return whether this browser shows them: switched on here, and permitted by the browser. */
export const notifies = (): boolean => wanted.value === "yes" && isPermitted.value;

/** Switch them on or off; whether that is so now: the browser asks, and remembers a no. */
export async function switchNotifications(isOn: boolean): Promise<boolean> {
  if (isOn) isPermitted.value = (await Notification.requestPermission()) === "granted";
  wanted.value = isOn && isPermitted.value ? "yes" : "no";
  return wanted.value === "yes";
}

/** Show a note for each thing that comes, until the answer is called. */
export function watchWaiting(): () => void {
  let known: Set<string> | undefined;
  return effect(() => {
    const items = inbox.value?.items.filter((item) => item.may_answer);
    if (!items) return;
    const before = known;
    known = new Set(items.map(({ id }) => id));
    if (!before || !notifies() || !document.hidden) return;
    for (const item of items) if (!before.has(item.id)) void show(item.title, item.id);
  });
}

async function show(title: string, tag: string): Promise<void> {
  // Phones show them by way of the service worker alone.
  const worker = await registration();
  const options = { body: title, tag };
  if (worker) await worker.showNotification(t("waits"), options);
  else new Notification(t("waits"), options);
}
