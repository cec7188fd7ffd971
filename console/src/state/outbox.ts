/** Has what waits on this device sent: at once, when the computer answers again, and when the console is opened. */
import { ApiError } from "~/api/client";
import { explain } from "~/text/errors";
import { messages } from "~/text/messages";
import { registration } from "./kept";
import { type Letter, letters, put, refresh, remove, send, underway } from "./letters";
import { listen } from "./live";
import { isRefusal, isUrgent, prepare, sendAll, sendLetter } from "./sending";
import { may } from "./session";
import { toast } from "./toasts";

const t = messages("outbox", {
  sent_one: "What was kept on this device is on the computer now.",
  sent_other: "{n} things that were kept on this device are on the computer now.",
  waits: "The computer does not answer. It is kept on this device, and sent when the computer answers again.",
});

const PAUSE = 20_000;

/** Send a letter that is kept here, and forget it when the computer has confirmed it; an error stands in the letter, too. `hear` is told how much has arrived, from 0 to 1. */
export async function deliver(letter: Letter, hear?: (part: number) => void): Promise<void> {
  const end = send(letter.id);
  await sendLetter(letter, explain, { hear }).finally(() => refresh().catch(() => undefined).finally(end));
}

interface Posting {
  files?: readonly unknown[];
  onKept?: () => void;
  /** True while its writer still sees its field. */
  isThere?: () => boolean;
}

/**
 * Keep a letter on this device before anything else, then send it; false where it waits here. `onKept` hears that its words are
 * safe. Errors: what the computer refuses, and all others where a browser keeps nothing, as in a private window.
 */
export async function post(letter: Letter, { files = [], onKept, isThere = () => true }: Posting = {}): Promise<boolean> {
  const end = send(letter.id);
  try {
    const isKept = await put(letter, files).then(() => true, () => false);
    if (isKept) onKept?.();
    try {
      await sendLetter(letter, explain, isKept ? {} : { unkept: files });
    } catch (error) {
      if (!isKept) throw error;
      // What was refused comes back to whoever wrote it, who can mend it; a conflict is theirs to decide, where it is shown. Who has left finds it where it waits.
      if (isRefusal(error, letter) && !letter.sound && letter.kind !== "edit" && isThere()) {
        await remove(letter.id);
        throw error;
      }
      later();
      return false;
    }
    if (!isKept) onKept?.();
    return true;
  } finally {
    await refresh().catch(() => undefined);
    end();
  }
}

interface Sending {
  /** The words of a branch stay in the field until it has begun. */
  keeps: boolean;
  /** Others wait that were written before it. */
  isBehind: boolean;
  /** Send it, and call the argument once the computer has it. */
  begin: (onHeard?: () => void) => Promise<void>;
  onKept?: () => void;
}

/** Keep a message on this device, then let it begin, and leave what does not arrive to the outbox; error: what comes back to its writer. */
export async function sendKept(letter: Letter, files: readonly unknown[], { keeps, isBehind, begin, onKept }: Sending): Promise<void> {
  const end = send(letter.id);
  const isKept = keeps && (await put(letter, files).then(() => true, () => false));
  // Where nothing can be kept they stay in the field until the computer has them.
  if (isKept) onKept?.();
  try {
    if (!isBehind || !isKept) await begin(isKept ? undefined : onKept);
  } catch (error) {
    const isOver = error instanceof ApiError && error.key === "no_run";
    if (isKept && (isOver || !isRefusal(error, letter))) return;
    if (isKept) await remove(letter.id);
    throw error;
  } finally {
    end();
    if (isKept) void sendOnce();
  }
}

/** Say that something is kept here and will be sent. */
export const sayWaits = () => toast(t("waits"));

const RIGHTS = { journal: "daily", edit: "daily", dictation: "vault", chat: "chat", answer: "inbox", shared: "vault" } as const;

/** Say whether this page is to send a letter: it does not yet, and may. */
const isWanted = (letter: Letter) => !underway.value.has(letter.id) && isUrgent(letter) && may(letter.target === "journal" ? "daily" : RIGHTS[letter.kind], "write");

let timer: ReturnType<typeof setTimeout> | undefined;

async function work(): Promise<void> {
  clearTimeout(timer);
  await refresh();
  if (!letters.value.some(isWanted)) return;
  const sent = await sendAll(explain, isWanted).catch(() => 0);
  await refresh();
  if (sent > 0) toast(t("sent", { n: sent }));
  if (letters.value.some(isWanted)) later();
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

/** Send what waits now, and whenever the computer answers again or an answer has ended; the answer ends that. */
export function watchOutbox(): () => void {
  // What sends files is loaded before it is needed: without a connection it could not be.
  void prepare().catch(() => undefined);
  void sendOnce();
  const begin = () => void sendOnce();
  const end = listen(["runs"], begin);
  addEventListener("online", begin);
  return () => {
    end();
    removeEventListener("online", begin);
    clearTimeout(timer);
  };
}
