/** Everything that waits for the owner, always up to date: the navigation counts it on every screen. */
import { computed, signal } from "@preact/signals";
import { api, type Schema } from "~/api/client";
import { events } from "~/api/stream";
import { keep, kept } from "./kept";
import { isSignedIn, may } from "./session";

export type Item = Schema<"ShownItem">;
export type Inbox = Schema<"InboxPage">;

const PAUSE = 3000;
const PATH = "/api/inbox";

export const inbox = signal<Inbox | undefined>(undefined);
export const waiting = computed(() => inbox.value?.items.filter((item) => item.may_answer).length ?? 0);

/** Follow the inbox until the answer is called. */
export function watchInbox(): () => void {
  const stop = new AbortController();
  if (may("inbox")) void follow(stop.signal);
  return () => stop.abort();
}

async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const page of events<Inbox>("GET", "/api/inbox/events", { signal })) {
        inbox.value = page;
        if (isSignedIn.value) void keep(PATH, page);
      }
    } catch {
      // The stream of changes says that the computer is away; here the last list is shown, and it is tried again.
      if (!signal.aborted) inbox.value ??= await kept<Inbox>(PATH);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** Answer an item exactly as it was shown. */
export async function answer(item: Item, word: string, values?: Record<string, string | string[]>): Promise<void> {
  await api.post("/api/inbox/answer", { body: { id: item.id, hash: item.hash, answer: word, ...(values && { values }) } });
  const shown = inbox.value;
  if (shown) inbox.value = { ...shown, items: shown.items.filter(({ id }) => id !== item.id) };
}
