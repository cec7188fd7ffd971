/** State of the kill switch: whether everything is stopped. */
import { signal } from "@preact/signals";
import { api } from "~/api/client";
import { listen } from "./live";
import { may } from "./session";

export interface Stopped {
  since: string;
  by: string;
}

export const stopped = signal<Stopped | null>(null);

async function look(): Promise<void> {
  try {
    stopped.value = (await api.get<{ panic: Stopped | null }>("/api/panic")).panic;
  } catch {
    // Asked again at the next change; until then the last answer stands.
  }
}

/** Keep `stopped` true to the computer until the answer is called. */
export function watchKillSwitch(): () => void {
  if (may("chat")) void look();
  return listen(["panic"], () => void look());
}
