/** A window that is wide enough for a list beside a screen. */
import { signal } from "@preact/signals";

const query = matchMedia("(min-width: 70rem)");
export const isWide = signal(query.matches);
query.addEventListener("change", () => (isWide.value = query.matches));
