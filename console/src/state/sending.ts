/** Sending letters of the journal, in a page or, by Background Sync, in the service worker: each by one of them at a time, and once. */
import { ApiError } from "~/api/client";
import { write } from "./entries";
import { all, find, forget, keep, type Letter, soundOf } from "./letter_store";
import { sendToJournal } from "./pieces";
import { deliverShared } from "./sharing";

export const isUrgent = ({ kind, target, isHeld, isRefused }: Letter) => (kind === "journal" || target !== undefined) && !isHeld && !isRefused;

/** Say whether the computer has read it, and would answer the same again. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  error.status >= 400 &&
  error.status < 500 &&
  (![401, 403, 408, 409, 425, 429].includes(error.status) || error.key === "page_elsewhere") &&
  // The computer was restored in between: the recording is sent once more.
  error.key !== "no_such_audio";

/** Let nobody else send the letter meanwhile. */
export async function alone<T>(id: string, work: () => Promise<T>): Promise<T> {
  return navigator.locks ? await navigator.locks.request(`sending/${id}`, work) : await work();
}

/** Send a letter, and forget it when the computer has confirmed it; `explain` makes an error the reason that stands in the letter. */
export function sendLetter(letter: Letter, explain: (error: unknown) => string, hear?: (part: number) => void): Promise<void> {
  return alone(letter.id, async () => {
    const kept = await find(letter.id).catch(() => undefined);
    // Somebody else has sent it while this one waited.
    if ((letter.sound || letter.shared) && !kept) return;
    try {
      await (letter.shared ? deliverShared(letter, hear) : deliver(letter));
    } catch (error) {
      const problem = error instanceof ApiError && error.status === 0 ? undefined : explain(error);
      if (kept) await keep({ ...kept, content: letter.content, isHeld: false, isWaiting: true, isRefused: isRefusal(error), problem }).catch(() => undefined);
      throw error;
    }
    // It stays here where the browser fails to: the computer takes it once.
    await forget(letter.id).catch(() => undefined);
  });
}

async function deliver(letter: Letter): Promise<void> {
  const { sound, id, content, date } = letter;
  const path = sound && (await sendToJournal(id, { name: sound.name, date }, await soundOf(letter)));
  await write({ content, date, audio_path: path, duration: sound?.seconds, idempotency_key: id });
}

/** Send all that waits, the oldest first, and count them; error: the first that did not arrive. */
export async function sendAll(explain: (error: unknown) => string): Promise<number> {
  let sent = 0;
  for (const letter of (await all()).filter(isUrgent)) {
    const now = await find(letter.id);
    if (!now || !isUrgent(now)) continue;
    try {
      await sendLetter(now, explain);
      if (now.kind === "journal") sent += 1;
    } catch (error) {
      // What is refused does not keep the others.
      if (!isRefusal(error)) throw error;
    }
  }
  return sent;
}
