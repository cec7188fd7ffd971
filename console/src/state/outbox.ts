/** Has what waits on this device sent: at once, when the computer answers again, and when the console is opened. */
import { explain } from "~/text/errors";
import { messages } from "~/text/messages";
import { registration } from "./kept";
import { type Letter, letters, refresh } from "./letters";
import { listen } from "./live";
import { may } from "./session";
import { toast } from "./toasts";

const t = messages("outbox", {
  sent_one: "The entry that was kept on this device is now in your journal.",
  sent_other: "{n} entries that were kept on this device are now in your journal.",
});

const PAUSE = 20_000;

/** Have at hand what sends: without a connection it could not be loaded. */
export const prepare = () => import("./sending");

/** Send a letter of the journal, and forget it when the computer has confirmed it; an error stands in the letter, too. */
export async function deliver(letter: Letter, hear?: (part: number) => void): Promise<void> {
  const { sendLetter } = await prepare();
  await sendLetter(letter, explain, hear).finally(() => refresh().catch(() => undefined));
}

let timer: ReturnType<typeof setTimeout> | undefined;

async function work(): Promise<void> {
  clearTimeout(timer);
  await refresh();
  if (letters.value.length === 0 || !may("daily", "write")) return;
  const { isUrgent, sendAll } = await prepare();
  if (!letters.value.some(isUrgent)) return;
  const sent = await sendAll(explain).catch(() => 0);
  await refresh();
  if (sent > 0) toast(t("sent", { n: sent }));
  if (letters.value.some(isUrgent)) later();
}

interface Syncing {
  sync?: { register(tag: string): Promise<void> };
}

/** Try again soon, also where the connection seems to stand; the browser does it where this page is closed before. */
export function later(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void sendOnce(), PAUSE);
  void registration()
    .then((found) => (found as Syncing | undefined)?.sync?.register("outbox"))
    // It may not be allowed: then what waits is sent at the next opening.
    .catch(() => undefined);
}

let sending: Promise<unknown> | undefined;

/** Send all that waits, in one window at a time. */
function sendOnce(): Promise<unknown> {
  const quiet = () => work().catch(() => undefined);
  sending ??= (navigator.locks ? navigator.locks.request("outbox", quiet) : quiet()).finally(() => (sending = undefined));
  return sending;
}

/** Send what waits now, and whenever the computer answers again; the answer ends that. */
export function watchOutbox(): () => void {
  void sendOnce();
  const send = () => void sendOnce();
  const end = listen([], send);
  addEventListener("online", send);
  return () => {
    end();
    removeEventListener("online", send);
    clearTimeout(timer);
  };
}
