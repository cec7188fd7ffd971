/** Subscription of this device to notices of the computer, by the push service of its browser. */
import { api, type Schema } from "~/api/client";

export type ToldDevice = Schema<"ToldDevice">;

/** Have this device told, also while no page is open; errors: ApiError, and DOMException where the browser cannot. */
export async function subscribe(registration: ServiceWorkerRegistration, language?: "en" | "de"): Promise<ToldDevice> {
  const { key } = await api.get("/api/push");
  let found = await registration.pushManager.getSubscription();
  if (found && text(found.options.applicationServerKey) !== key) {
    // It is bound to another key: that of a computer before, or of before a restore.
    await found.unsubscribe();
    found = null;
  }
  found ??= await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { keys = {}, endpoint = "" } = found.toJSON();
  return await api.put("/api/push/subscription", { body: { endpoint, key: keys.p256dh, secret: keys.auth, language } });
}

/** Have this device told nothing any more. */
export async function unsubscribe(registration: ServiceWorkerRegistration, device: string): Promise<void> {
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  await api.delete("/api/push/devices/{identifier}", { params: { identifier: device } });
}

/** Bytes in base64url, as the computer writes them. */
function text(bytes: ArrayBuffer | null): string {
  const binary = String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0)));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
