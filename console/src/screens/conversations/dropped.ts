/** An export that was dropped on the list of conversations: the page of imports looks at it. */
import { signal } from "@preact/signals";

export const dropped = signal<File | undefined>(undefined);
