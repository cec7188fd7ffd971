/** Notices of what waits: sent by the computer where the browser has a push service, and else shown while a page is open in the background. */
import { effect, signal } from "@preact/signals";
import { messages } from "~/text/messages";
import { inbox } from "./inbox";
import { registration } from "./kept";
import { language, preference } from "./preferences";
import type { ToldDevice } from "./push";
import { me } from "./session";

const t = messages("notifications", { waits: "Needs your decision" });

/** Browsers have notifications in a secure context alone. */
export const canNotify = isSecureContext && "Notification" in window;

/** An iPhone has them for pages of its home screen alone. */
export const needsHomeScreen = isSecureContext && !canNotify && (navigator as { standalone?: boolean }).standalone === false;

const wanted = preference<"yes" | "no">("notifications", ["yes", "no"], "no");
const isPermitted = signal(canNotify && Notification.permission === "granted");

/** The device as the computer tells it, nothing where it only shows notices itself. */
export const toldDevice = signal<ToldDevice | undefined>(undefined);

/** Return whether this browser shows them: switched on here, and permitted by the browser. */
export const notifies = (): boolean => wanted.value === "yes" && isPermitted.value;

/** Switch them on or off; whether that is so now: the browser asks, and remembers a no. */
export async function switchNotifications(isOn: boolean): Promise<boolean> {
  if (isOn) isPermitted.value = (await Notification.requestPermission()) === "granted";
  wanted.value = isOn && isPermitted.value ? "yes" : "no";
  if (wanted.value === "yes") await subscribe();
  else if (toldDevice.value) {
    const [worker, push] = await Promise.all([registration(), import("./push")]);
    if (worker) await push.unsubscribe(worker, toldDevice.value.id).catch(() => undefined);
    toldDevice.value = undefined;
  }
  return wanted.value === "yes";
}

/** Have the computer tell this device, where the browser can be told; the computer hears of an address that has changed, too. */
async function subscribe(): Promise<void> {
  const worker = await registration();
  if (!worker?.pushManager || me.value?.kind !== "session") return;
  const spoken = language.value === "de" ? "de" : "en";
  toldDevice.value = await (await import("./push")).subscribe(worker, spoken).catch(() => undefined);
}

/** Show a note for each thing that comes and of which the computer does not tell, until the answer is called. */
export function watchWaiting(): () => void {
  let known: Set<string> | undefined;
  if (notifies()) void subscribe();
  return effect(() => {
    const items = inbox.value?.items.filter((item) => item.may_answer);
    if (!items) return;
    const before = known;
    known = new Set(items.map(({ id }) => id));
    if (!before || !notifies() || !document.hidden || toldDevice.value?.state === "told") return;
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
