/** The address behind `#`: `#/chat/ID?search=words`. It never reaches the server, so a reload needs no route there. */
import { signal } from "@preact/signals";
import { isAbove, takePlace } from "./steps";

export interface Place {
  /** The name of the screen, such as `chat`. */
  screen: string;
  /** The segments behind it. */
  rest: string[];
  query: URLSearchParams;
}

function read(): Place {
  const [path = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [screen = "", ...rest] = path.split("/").map(decoded);
  return { screen, rest: rest.filter(Boolean), query: new URLSearchParams(search) };
}

/** A text without its percent signs, or as it is where they mean nothing. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const place = signal<Place>(read());

addEventListener("hashchange", () => (place.value = read()));

/** The place of the address now: its event may not have come yet. */
export function here(): Place {
  return read();
}

/** The address of a screen, for a link. */
export function to(screen: string, rest: string[] = [], query: Record<string, string> = {}): string {
  const path = [screen, ...rest].map(encodeURIComponent).join("/");
  const search = new URLSearchParams(query).toString();
  return `#/${path}${search ? `?${search}` : ""}`;
}

/** Go to a screen; `replace` leaves no step for the back button. */
export function go(address: string, { replace = false } = {}): void {
  if (replace || isAbove()) takePlace(address, replace);
  else location.hash = address;
  place.value = read();
}

// A link in something that lies open above a screen takes the place of its step.
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#/']") : null;
  const isOther = event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!link || isOther || !isAbove()) return;
  event.preventDefault();
  go(link.getAttribute("href") ?? "");
});
