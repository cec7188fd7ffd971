/** Short notes at the edge of the screen: what was done, or what failed. */
import { signal } from "@preact/signals";
import { explain } from "~/text/errors";

export interface Toast {
  id: number;
  text: string;
  isError: boolean;
  /** A button, such as one that takes it back. */
  action?: { label: string; run: () => void };
}

const SECONDS = 6;

export const toasts = signal<Toast[]>([]);
/** Open dialogs, the topmost last: notes are shown in it, since nothing outside of it can be seen or read. */
export const dialogs = signal<readonly string[]>([]);
let last = 0;

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Show a note; an error stays until it is dismissed. */
export function toast(text: string, options: Pick<Toast, "action"> & { isError?: boolean } = {}): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, text, isError: options.isError ?? false, action: options.action }];
  if (!options.isError) setTimeout(() => dismiss(id), SECONDS * 1000);
}

/** Do something, and show what went wrong; undefined after a failure. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    toast(explain(error), { isError: true });
    return undefined;
  }
}
