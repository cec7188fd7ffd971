/** Everything that waits for the owner, always up to date: the navigation counts it on every screen. */
import { computed, signal } from "@preact/signals";
import { api, type Schema } from "~/api/client";
import { newKey } from "./entries";
import { letters } from "./letters";
import { listen } from "./live";
import { post, sayWaits } from "./outbox";
import { may } from "./session";

export type Item = Schema<"ShownItem">;
export type Inbox = Schema<"InboxPage">;

const PATH = "/api/inbox";

export const inbox = signal<Inbox | undefined>(undefined);
export const waiting = computed(() => inbox.value?.items.filter((item) => item.may_answer && !isAnswered(item)).length ?? 0);

/** Kinds that are about this moment, and mean something else later. */
const NOW = ["pairing", "permission", "update"];

/** Say whether an answer to an item waits on this device. */
export const isAnswered = ({ id, hash }: Item) => letters.value.some(({ answer, isRefused }) => answer?.id === id && answer.hash === hash && !isRefused);

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
    } catch {
      // The stream of changes says that the computer is away, and when it is back; until then the last list is shown.
    }
  };
  const end = listen(["inbox"], () => void look());
  void look();
  return () => {
    end();
    stop.abort();
  };
}

/** Answer an item exactly as it was shown, with `content` for the person; false where the answer waits on this device. */
export async function answer(item: Item, word: string, values?: Record<string, string | string[]>, content = item.sentence): Promise<boolean> {
  const { id, hash } = item;
  if (NOW.includes(item.kind)) await api.post("/api/inbox/answer", { body: { id, hash, answer: word } });
  else if (!(await post({ id: newKey(), kind: "answer", at: new Date().toISOString(), date: "", content, answer: { id, hash, word, values } }))) {
    sayWaits();
    return false;
  }
  const shown = inbox.value;
  if (shown) inbox.value = { ...shown, items: shown.items.filter((other) => other.id !== id) };
  return true;
}
