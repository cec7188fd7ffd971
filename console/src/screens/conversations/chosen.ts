/** The export that was looked at first: to import it, it need not be chosen again. It is gone with the page. */
import { signal } from "@preact/signals";
import type { Kind } from "./import_data";

export const chosen = signal<{ file: File; kind: Kind } | undefined>(undefined);

/** An export that was dropped on the list of conversations: the page of imports looks at it. */
export const dropped = signal<File | undefined>(undefined);
