/** Sends what waits on this device: at once, when the computer answers again, and when the console is opened. */
import { ApiError } from "~/api/client";
import { explain } from "~/text/errors";
import { messages } from "~/text/messages";
import { keepAsset, write } from "./entries";
import { find, type Letter, letters, put, refresh, remove, soundOf } from "./letters";
import { listen } from "./live";
import { may } from "./session";
import { toast } from "./toasts";

const t = messages("outbox", {
  sent_one: "The entry that was kept on this device is now in your journal.",
  sent_other: "{n} entries that were kept on this device are now in your journal.",
  incomplete: "Part of the recording is missing.",
});

const PAUSE = 20_000;
const onTheirWay = new Set<string>();

/** Send a letter of the journal, and forget it when the computer has confirmed it; an error stands in the letter, too. */
export async function deliver(letter: Letter): Promise<void> {
  onTheirWay.add(letter.id);
  try {
    const { sound, id, content, date } = letter;
    let path = sound?.path;
    if (sound && !path) {
      const data = await soundOf(letter);
      path = await arrived(keepAsset(sound.name, date, data), data.size);
      await put({ ...letter, sound: { ...sound, path } });
    }
    await write({ content, date, audio_path: path, duration: sound?.seconds, idempotency_key: id });
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 500 && ![401, 408, 429].includes(error.status);
    const kept = await find(letter.id).catch(() => undefined);
    if (kept) await put({ ...kept, isHeld: false, isWaiting: true, isRefused, problem: error instanceof ApiError && error.status === 0 ? undefined : explain(error) });
    throw error;
  } finally {
    onTheirWay.delete(letter.id);
  }
  await remove(letter.id).catch(() => undefined);
}

/** Return the path of an upload, once it is complete. */
export async function arrived(upload: Promise<{ path: string; size: number }>, size: number): Promise<string> {
  const found = await upload;
  if (found.size !== size) throw new Error(t("incomplete"));
  return found.path;
}

let timer: ReturnType<typeof setTimeout> | undefined;

async function sendAll(): Promise<void> {
  clearTimeout(timer);
  await refresh();
  const waiting = letters.value.filter(({ kind, isHeld, isRefused }) => kind === "journal" && !isHeld && !isRefused);
  if (waiting.length === 0 || !may("daily", "write")) return;
  let sent = 0;
  for (const letter of waiting) {
    // Another window may have sent it meanwhile.
    if (onTheirWay.has(letter.id) || !(await find(letter.id))) continue;
    const done = await deliver(letter).then(() => true, () => false);
    if (!done) break;
    sent += 1;
  }
  if (sent > 0) toast(t("sent", { n: sent }));
  if (letters.value.some(({ kind, isHeld, isRefused }) => kind === "journal" && !isHeld && !isRefused)) later();
}

/** Try again soon, also where the connection seems to stand. */
export function later(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void sendOnce(), PAUSE);
}

let sending: Promise<unknown> | undefined;

/** Send all that waits, in one window at a time. */
function sendOnce(): Promise<unknown> {
  const work = () => sendAll().catch(() => undefined);
  sending ??= (navigator.locks ? navigator.locks.request("outbox", work) : work()).finally(() => (sending = undefined));
  return sending;
}

/** Send what waits now, and whenever the computer answers again; the answer ends that. */
export function watchOutbox(): () => void {
  void sendOnce();
  const end = listen([], () => void sendOnce());
  return () => {
    end();
    clearTimeout(timer);
  };
}
