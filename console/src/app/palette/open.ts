/** The search over everything, and the page of shortcuts: which of them is open. */
import { signal } from "@preact/signals";

export const opened = signal<"palette" | "shortcuts" | undefined>(undefined);

let ahead = "";

/** Keep a letter that was typed before the search was there. */
export function typeAhead(letter: string): void {
  ahead += letter;
}

/** Return those letters, once. */
export function typedAhead(): string {
  const taken = ahead;
  ahead = "";
  return taken;
}
