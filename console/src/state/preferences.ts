/** What this browser is set to: language and appearance. Nothing secret is kept here. */
import { effect, signal } from "@preact/signals";

export type Language = "en" | "de";
export type Appearance = "system" | "light" | "dark";

function stored<T extends string>(name: string, allowed: readonly T[], otherwise: T): T {
  try {
    const value = localStorage.getItem(name) as T | null;
    return value !== null && allowed.includes(value) ? value : otherwise;
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

const preferred: Language = navigator.languages.some((name) => name.startsWith("de")) ? "de" : "en";
export const language = signal<Language>(stored("language", ["en", "de"], preferred));
export const appearance = signal<Appearance>(stored("appearance", ["system", "light", "dark"], "system"));

effect(() => {
  document.documentElement.lang = language.value;
  store("language", language.value);
});
effect(() => {
  document.documentElement.dataset.appearance = appearance.value;
  store("appearance", appearance.value);
});
