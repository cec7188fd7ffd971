/** The one stream of what has changed on the computer; whoever shows something listens to its topics. */
import { signal } from "@preact/signals";
import { events } from "~/api/stream";

interface Change {
  topic: string;
  id?: string | null;
}

/** `ready` once it is followed, `resync` if changes were missed. */
type Message = { type: "ready" | "resync" } | ({ type: "changed" } & Change);

type Listener = (change: Change) => void;

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;
const EVERYTHING = "*";

export const isConnected = signal(true);
const listeners = new Set<{ topics: ReadonlySet<string>; listener: Listener }>();

/** Call `listener` for each change of these topics, and after a gap; the answer ends that. */
export function listen(topics: readonly string[], listener: Listener): () => void {
  const entry = { topics: new Set(topics), listener };
  listeners.add(entry);
  return () => void listeners.delete(entry);
}

function announce(change: Change): void {
  for (const { topics, listener } of [...listeners]) {
    if (change.topic === EVERYTHING || topics.has(change.topic)) listener(change);
  }
}

let stop: AbortController | undefined;

/** Follow the stream until `disconnect`, also across restarts of the server and sleep of the device. */
export async function connect(): Promise<void> {
  disconnect();
  const { signal: ended } = (stop = new AbortController());
  let pause = FIRST_PAUSE;
  let after: string | undefined;
  while (!ended.aborted) {
    try {
      const query = { after };
      for await (const message of events<Message>("GET", "/api/events", { query, signal: ended, onId: (id) => (after = id) })) {
        const wasAway = !isConnected.value;
        isConnected.value = true;
        pause = FIRST_PAUSE;
        // What was asked for in between has failed, whether or not it has changed.
        if (message.type === "resync" || wasAway) announce({ topic: EVERYTHING });
        if (message.type === "changed") announce(message);
      }
    } catch {
      if (ended.aborted) return;
    }
    isConnected.value = false;
    await soon(pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

/** After so many milliseconds, or as soon as the device is awake or online again. */
function soon(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      document.removeEventListener("visibilitychange", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    addEventListener("online", end);
    document.addEventListener("visibilitychange", end);
  });
}

export function disconnect(): void {
  stop?.abort();
}
