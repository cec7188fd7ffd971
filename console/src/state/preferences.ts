/** Preferences of this browser: language and appearance. Nothing secret is kept here. */
import { computed, effect, type Signal, signal } from "@preact/signals";
import { LANGUAGES } from "languages:all";

export type Appearance = "system" | "light" | "dark";

function stored<T extends string>(name: string, allowed: readonly T[] | undefined, otherwise: T): T {
  try {
    const value = localStorage.getItem(name) as T | null;
    return value !== null && (!allowed || allowed.includes(value)) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A private window keeps nothing.
  }
}

/** A choice of this browser, kept under a name; without `allowed` it may be any word. */
export function preference<T extends string>(name: string, allowed: readonly T[] | undefined, otherwise: T): Signal<T> {
  const chosen = signal<T>(stored(name, allowed, otherwise));
  effect(() => store(name, chosen.value));
  return chosen;
}

/** Codes of the languages that there are; texts stand in the source in English. */
export const languages = ["en", ...Object.keys(LANGUAGES)];
const wanted = navigator.languages.map((name) => name.split("-", 1)[0] ?? name);
export const language = preference("language", languages, wanted.find((code) => languages.includes(code)) ?? "en");
export const appearance = preference<Appearance>("appearance", ["system", "light", "dark"], "system");

const dark = matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(dark.matches);
dark.addEventListener("change", () => (isSystemDark.value = dark.matches));
export const isDark = computed(() => (appearance.value === "system" ? isSystemDark.value : appearance.value === "dark"));

effect(() => {
  document.documentElement.lang = language.value;
});
effect(() => {
  document.documentElement.dataset.appearance = appearance.value;
});
