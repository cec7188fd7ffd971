/** Everything that waits for the owner, always up to date: the navigation counts it on every screen. */
import { computed, signal } from "@preact/signals";
import { api, type Schema } from "~/api/client";
import { keep, kept } from "./kept";
import { listen } from "./live";
import { isSignedIn, may } from "./session";

export type Item = Schema<"ShownItem">;
export type Inbox = Schema<"InboxPage">;

const PATH = "/api/inbox";

export const inbox = signal<Inbox | undefined>(undefined);
export const waiting = computed(() => inbox.value?.items.filter((item) => item.may_answer).length ?? 0);

/** Follow the inbox until the answer is called; by the stream of changes, as a browser has few connections for all windows. */
export function watchInbox(): () => void {
  if (!may("inbox")) return () => undefined;
  const stop = new AbortController();
  let last = 0;
  const look = async () => {
    const number = (last += 1);
    try {
      const page = await api.get(PATH, { signal: stop.signal });
      if (number !== last) return;
      inbox.value = page;
      if (isSignedIn.value) void keep(PATH, page);
    } catch {
      // The stream of changes says that the computer is away, and when it is back; until then the last list is shown.
      if (!stop.signal.aborted) inbox.value ??= await kept<Inbox>(PATH);
    }
  };
  const end = listen(["inbox"], () => void look());
  void look();
  return () => {
    end();
    stop.abort();
  };
}

/** Answer an item exactly as it was shown. */
export async function answer(item: Item, word: string, values?: Record<string, string | string[]>): Promise<void> {
  await api.post("/api/inbox/answer", { body: { id: item.id, hash: item.hash, answer: word, ...(values && { values }) } });
  const shown = inbox.value;
  if (shown) inbox.value = { ...shown, items: shown.items.filter(({ id }) => id !== item.id) };
}
