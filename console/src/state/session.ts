/** Session of this browser, as the server describes it, and nothing that the page could claim itself. */
import { computed, signal } from "@preact/signals";
import { api, listeners, type Schema } from "~/api/client";
import { dropDrafts } from "./drafts";
import { forget } from "./kept";
import { removeAll } from "./letters";

export type Me = Schema<"Me">;

const NOBODY: Me = { signed_in: false, kind: null, id: null, name: null, scopes: [], admin: false, confirmed_until: null, needs: null, set_up: null, program: null };

/** Undefined until the server has answered for the first time. */
export const me = signal<Me | undefined>(undefined);
export const isSignedIn = computed(() => me.value?.signed_in ?? false);

export async function load(): Promise<void> {
  me.value = await api.get("/api/pairing/me");
  // Nobody is a reason to forget what somebody has read here.
  if (!me.value.signed_in) await forget();
}

/** Sign in with a pairing code, or with a key; the name is that of the code, or what the server calls this browser. */
export async function signIn(secret: { code: string } | { key: string }): Promise<void> {
  await api.post("/api/pairing/sign-in", { body: secret });
  await forget();
  await load();
}

/** The key of the first boot, until set-up is over or the page is left: in no storage, and in no address any more. */
let firstKey: string | undefined;

/** Sign in with the key that a new computer shows; while it is being set up, that confirms who sits here as well. */
export async function signInFirst(key: string): Promise<void> {
  await signIn({ key });
  if (me.value?.set_up === false) firstKey = key;
}

/** Confirm the person by the key of the first boot, so that nobody needs to be asked; return whether that worked. */
export async function confirmFirst(): Promise<boolean> {
  if (!firstKey) return false;
  try {
    await api.post("/api/pairing/confirm", { body: { key: firstKey } });
    return true;
  } catch {
    firstKey = undefined;
    return false;
  }
}

/** Set-up is over, and with it the key of the first boot. */
export async function endFirst(): Promise<void> {
  firstKey = undefined;
  await load();
}

export async function signOut(): Promise<void> {
  await api.post("/api/pairing/sign-out");
  firstKey = undefined;
  me.value = NOBODY;
  dropDrafts();
  await removeAll().catch(() => undefined);
  await forget();
}

listeners.signedOut = () => {
  if (!me.value?.signed_in) return;
  me.value = NOBODY;
  void forget();
};

/** Return whether the session may do something in a module or part of the computer, by its scopes such as `chat:read,write`. */
export function may(part: string, capability: "read" | "write" | "admin" = "read"): boolean {
  const current = me.value;
  if (!current?.signed_in) return false;
  if (current.admin) return true;
  const order = ["read", "write", "admin"];
  return current.scopes.some((scope) => {
    const [name, words = ""] = scope.split(":");
    const highest = Math.max(...words.split(",").map((word) => order.indexOf(word)));
    return (name === part || name === "*") && highest >= order.indexOf(capability);
  });
}
