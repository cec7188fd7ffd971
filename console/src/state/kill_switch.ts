/** State of the kill switch: whether everything is stopped. */
import { signal } from "@preact/signals";
import { api, type Schema } from "~/api/client";
import { listen } from "./live";
import { may } from "./session";

export const stopped = signal<Schema<"Panic"> | null>(null);

async function look(): Promise<void> {
  try {
    stopped.value = (await api.get("/api/panic")).panic;
  } catch {
    // Asked again at the next change; until then the last answer stands.
  }
}

/** Keep `stopped` true to the computer until the answer is called. */
export function watchKillSwitch(): () => void {
  if (may("chat")) void look();
  return listen(["panic"], () => void look());
}
