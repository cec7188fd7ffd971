/** Ids that no other element of the page has: those of Preact begin anew in each root, and a dialog from `ask` is one. */
import { useState } from "preact/hooks";

let last = 0;

export function useId(): string {
  return useState(() => `id-${++last}`)[0];
}
