/** Sending letters, in a page or, by Background Sync, in the service worker: each by one of them at a time, in order, and once. */
import { api, ApiError } from "~/api/client";
import { events } from "~/api/stream";
import { change } from "./edits";
import { write } from "./entries";
import { all, filesOf, find, forget, keep, type Letter, replaced } from "./letter_store";
import { patient } from "./patience";

const files = () => import("./journal_files");
const sharing = () => import("./sharing");

/** Load what sends files, which the first screen does without. */
export const prepare = () => Promise.all([files(), sharing()]);

/** Wait for what is loaded; without a connection the letter waits. */
const ready = <T>(loaded: Promise<T>) =>
  loaded.catch(() => {
    throw new ApiError(0, "not_sent", "");
  });

/** Say whether a letter is to be sent by itself. */
export const isUrgent = ({ kind, target, isHeld, isRefused }: Letter) =>
  kind !== "dictation" && (kind !== "shared" || target !== undefined) && !isHeld && !isRefused;

const LATER = [401, 408, 425, 429];

/** Say whether the computer has read a letter, and would answer the same again. */
export const isRefusal = (error: unknown, { sound, files, shared }: Letter): error is ApiError =>
  error instanceof ApiError &&
  error.status >= 400 &&
  error.status < 500 &&
  !LATER.includes(error.status) &&
  // Another window has sent pieces of it.
  !((sound || files || shared) && [403, 409].includes(error.status) && error.key !== "page_elsewhere") &&
  // A conversation is being answered; and the computer was restored in between: the recording is sent once more.
  !["busy", "stopping", "no_such_audio"].includes(error.key);

/** Let nobody else send the letter meanwhile. */
export async function alone<T>(id: string, work: () => Promise<T>): Promise<T> {
  return navigator.locks ? await navigator.locks.request(`sending/${id}`, work) : await work();
}

interface Sending {
  /** The files of one that could not be kept, which is sent as it is given. */
  unkept?: readonly unknown[];
  hear?: (part: number) => void;
}

/** Send a letter that is kept here, and forget it when the computer has confirmed it; `explain` makes an error the reason that stands in it. */
export function sendLetter(letter: Letter, explain: (error: unknown) => string, { unkept, hear }: Sending = {}): Promise<void> {
  return alone(letter.id, async () => {
    const sent = unkept ? letter : await find(letter.id).catch(() => undefined);
    // Somebody else has sent it while this one waited.
    if (!sent) return;
    let session: string | undefined;
    try {
      session = await deliver(sent, unkept, hear);
    } catch (error) {
      // With what came to light meanwhile, as the other side of a conflict.
      const now = await find(letter.id).catch(() => undefined);
      // A conversation that is gone has no screen: its message waits for somebody where new ones are written.
      const isGone = now?.chat && error instanceof ApiError && error.key === "session_not_found";
      if (now?.at === sent.at) await keep({ ...now, ...(isGone && { chat: {} }), isHeld: false, isRefused: isRefusal(error, now), problem: reason(error, explain) }).catch(() => undefined);
      throw error;
    }
    // Written once more meanwhile: that is not sent yet.
    if (await replaced(sent)) return;
    // It stays here where the browser fails to: the computer takes it once.
    await forget(letter.id, session).catch(() => undefined);
  });
}

/** The reason that stands in a letter; none where the computer is away or busy, which the page says by itself. */
function reason(error: unknown, explain: (error: unknown) => string): string | undefined {
  return error instanceof ApiError && (error.status === 0 || error.key === "busy") ? undefined : explain(error);
}

/** Send it, and give the conversation that a message is in. */
async function deliver(letter: Letter, unkept?: readonly unknown[], hear?: (part: number) => void): Promise<string | undefined> {
  if (letter.kind === "chat") return sendMessage(letter);
  if (letter.kind === "edit") await change(letter);
  else if (letter.kind === "answer") await patient((signal) => api.post("/api/inbox/answer", { body: answerOf(letter), signal }));
  else if (letter.kind === "shared") await (await ready(sharing())).deliverShared(letter, hear);
  else await sendEntry(letter, unkept);
  return undefined;
}

const answerOf = ({ answer }: Letter) => ({ id: answer?.id, hash: answer?.hash, answer: answer?.word, ...(answer?.values && { values: answer.values }) });

async function sendEntry(letter: Letter, unkept?: readonly unknown[]): Promise<void> {
  const { sound, id, content, date, at } = letter;
  const { keepSound, addPictures } = sound || letter.files ? await ready(files()) : {};
  const path = await keepSound?.(letter);
  const text = letter.files && addPictures ? await addPictures(letter, (unkept as File[] | undefined) ?? (await filesOf<File>(id))) : content;
  await write({ content: text, date, written_at: at, audio_path: path, duration: sound?.seconds, idempotency_key: id });
}

/** Let a message begin its turn, which goes on without anybody who reads it. */
async function sendMessage(letter: Letter): Promise<string> {
  const attachments = letter.files ? await filesOf(letter.id) : [];
  const body = messageOf(letter, attachments);
  return patient(async (signal) => {
    for await (const event of events<{ type: string; sessionId?: string }>("POST", "/api/chat?text=delta", { body, signal })) {
      if (event.type === "session" && event.sessionId) return event.sessionId;
    }
    throw new ApiError(0, "not_sent", "");
  });
}

/** The body with which a message is sent. */
export function messageOf({ id, content, chat }: Letter, attachments: readonly unknown[]) {
  const { session, beginning } = chat ?? {};
  return { message: content, sessionId: session ?? "new", canAnswerPermissions: true, attachments, idempotencyKey: id, ...(session ? {} : beginning) };
}

/** Send all that waits and is `wanted`, the oldest first, and count them; error: the first that did not arrive. */
export async function sendAll(explain: (error: unknown) => string, wanted: (letter: Letter) => boolean = () => true): Promise<number> {
  let sent = 0;
  let problem: unknown;
  const busy = new Set<string | undefined>();
  for (const { id } of (await all()).filter(isUrgent)) {
    const now = await find(id);
    if (!now || !isUrgent(now) || (now.chat && busy.has(now.chat.session))) continue;
    if (!wanted(now)) {
      // This page sends it at this moment: what was written after it in the same conversation comes after it.
      if (now.chat) busy.add(now.chat.session);
      continue;
    }
    try {
      await sendLetter(now, explain);
      if (now.kind === "journal") sent += 1;
    } catch (error) {
      // What is refused does not keep the others, nor does a conversation that is being answered.
      if (isRefusal(error, now)) continue;
      if (!now.chat || !(error instanceof ApiError) || error.key !== "busy") throw error;
      busy.add(now.chat.session);
      problem = error;
    }
  }
  if (problem) throw problem;
  return sent;
}
