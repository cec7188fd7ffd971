/** Turns of a conversation as the computer knows them, and the messages that belong to each. */
import { useEffect, useMemo } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { listen } from "~/state/live";
import { useResource } from "~/state/resource";
import type { Conversation } from "./conversation";
import type { Message } from "./events";

export type Turn = Schema<"ShownTurn">;

export interface Turns {
  list: readonly Turn[];
  byMessage: ReadonlyMap<string, Turn>;
  reload: () => Promise<void>;
}

/** The turns, read again when one has ended, or when something of this conversation was decided or taken back. */
export function useTurns({ id }: Conversation): Turns {
  const found = useResource(
    async (signal) => (id ? (await api.get("/api/chat/{session}/turns", { params: { session: id }, signal })).turns : []),
    id ?? "new",
  );
  useEffect(
    () =>
      listen(["runs", "sessions", "inbox", "network"], (change) => {
        const isNamed = change.topic === "runs" || change.topic === "sessions";
        if (id && (!isNamed || change.id === id)) void found.reload();
      }),
    [id, found.reload],
  );
  return useMemo(() => {
    const list = found.value ?? [];
    const byMessage = new Map(list.flatMap((turn) => [turn.message, ...turn.injected].map((message) => [message, turn] as const)));
    return { list, byMessage, reload: found.reload };
  }, [found.value, found.reload]);
}

/** The turn whose last message is the one at this place; undefined for the others. */
export function endingAt(turns: Turns, messages: readonly Message[], place: number): Turn | undefined {
  const turn = turnOf(turns, messages, place);
  return turn && (place === messages.length - 1 || turnOf(turns, messages, place + 1) !== turn) ? turn : undefined;
}

function turnOf({ byMessage }: Turns, messages: readonly Message[], place: number): Turn | undefined {
  for (let each = place; each >= 0; each--) {
    const message = messages[each];
    if (message?.role === "user" && !message.isSummary) return byMessage.get(message.id ?? "");
  }
  return undefined;
}
