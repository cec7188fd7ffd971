/** Keyboard shortcuts; none of single keys while somebody types, or where they have switched those off. */
import { screens } from "~/screens";
import { language, preference } from "~/state/preferences";
import { go, place, to } from "~/state/router";
import { may } from "~/state/session";
import { dialogs } from "~/state/toasts";
import { opened, typeAhead } from "./palette/open";

/** The keys after `g`, by screen. */
export const LETTERS: Readonly<Record<string, string>> = {
  inbox: "i",
  chat: "c",
  conversations: "l",
  journal: "j",
  knowledge: "k",
  files: "f",
  suggestions: "s",
  workspaces: "w",
  capabilities: "p",
  schedule: "t",
  bots: "b",
  activity: "a",
  costs: "u",
  modules: "m",
  keys: "d",
  computer: "o",
};

/** Time for the second key, in milliseconds. */
const SECOND = 1500;

export const singleKeys = preference<"on" | "off">("shortcuts/single", ["on", "off"], "on");

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** The key with which others are pressed, as it is written on keyboards of this system. */
export const modifier = () => (isApple ? "⌘" : language.value === "de" ? "Strg" : "Ctrl");

/** The names of keys that are pressed together. */
export function together(...keys: string[]): string[] {
  const shift = isApple ? "⇧" : language.value === "de" ? "Umschalt" : "Shift";
  return keys.map((key) => (key === "mod" ? modifier() : key === "shift" ? shift : key));
}

const begin = () => may("chat", "write") && go(to("chat"));

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest("input, textarea, select, [role=textbox], [role=combobox], [role=listbox], [role=menu]") !== null;
}

/** Put the cursor into the message of a chat, or else into the search of the screen, or into that over everything. */
function focusField(): void {
  const wanted = place.value.screen === "chat" ? "main textarea" : "main input[type=search]";
  const field = document.querySelector<HTMLElement>(wanted);
  if (field) field.focus();
  else opened.value = "palette";
}

let goes = 0;

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const key = event.key.toLowerCase();
  const isModified = isApple ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (isModified && !event.shiftKey && key === "k") {
    event.preventDefault();
    opened.value = opened.value === "palette" ? undefined : dialogs.value.length > 0 ? opened.value : "palette";
  } else if (isModified && event.shiftKey && key === "o" && dialogs.value.length === 0) {
    event.preventDefault();
    begin();
  } else if (event.ctrlKey || event.metaKey) {
    return;
  } else if (opened.value === "palette" && dialogs.value.length === 0 && event.key.length === 1) {
    event.preventDefault();
    typeAhead(event.key);
  } else if (!opened.value && singleKeys.value === "on" && dialogs.value.length === 0 && !isTyping(event.target)) {
    single(event, key);
  }
}

function single(event: KeyboardEvent, key: string): void {
  const isSecond = performance.now() - goes < SECOND && goes > 0;
  goes = 0;
  if (event.repeat) return;
  const name = isSecond && Object.keys(LETTERS).find((each) => LETTERS[each] === key);
  if (name) {
    if (screens().some((screen) => screen.name === name)) go(to(name));
  } else if (key === "g") goes = performance.now();
  else if (key === "n") begin();
  else if (event.key === "/") focusField();
  else if (event.key === "?") opened.value = "shortcuts";
  else return;
  event.preventDefault();
}

/** Listen to the keys until the answer is called. */
export function watchKeys(): () => void {
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}
