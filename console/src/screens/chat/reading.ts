/** Reading what was said in a conversation: the newest of it first, and what stands before that later. */
import { type Answer, api } from "~/api/client";
import { type Message, stored } from "./events";

/** As many as the first screen needs. */
const FIRST = 50;
export const SOME = 500;
/** As many as the server brings at once. */
export const MOST = 5000;

interface Read {
  session: Answer<"GET", "/api/chat/{session}">;
  messages: Message[];
  hasEarlier: boolean;
}

/** A session with its newest messages. */
export async function read(id: string, limit: number): Promise<Read> {
  const session = await api.get("/api/chat/{session}", { params: { session: id }, query: { limit } });
  return { session, messages: stored(id, session.messages), hasEarlier: session.messages.length >= limit && limit < MOST };
}

/** A session with the messages of the first screen; they begin with one of the person, since what stands before it may be half an answer. */
export async function readFirst(id: string): Promise<Read> {
  const found = await read(id, FIRST);
  const from = found.hasEarlier ? found.messages.findIndex(isNamed) : 0;
  return from < 0 ? read(id, SOME) : { ...found, messages: found.messages.slice(from) };
}

const isNamed = ({ role, id }: Message) => role === "user" && id !== undefined;

/** Messages with those before them, out of more; what is there stays the same, and is not drawn again. Undefined if nothing is in both. */
export function joined(more: readonly Message[], messages: readonly Message[]): Message[] | undefined {
  const first = messages.findIndex(isNamed);
  const before = more.findIndex(({ id }) => id !== undefined && id === messages[first]?.id);
  return before < 0 ? undefined : [...more.slice(0, before), ...messages.slice(first)];
}
