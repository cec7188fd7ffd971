/** Translations into the language of this browser, loaded when it is chosen: texts of the console first, then sentences of the server. */
import { effect, signal } from "@preact/signals";
import { LANGUAGES } from "languages:all";
import { language } from "~/state/preferences";

/** Texts of the console by screen and key; a text that is missing is shown in English. */
export const texts = signal<Record<string, Record<string, string>>>({});

/** Sentences of the server: the English form, with values in braces, and its translation. */
export const sentences = signal<[string, string][]>([]);

async function load(code: string): Promise<void> {
  const files = LANGUAGES[code];
  const found = (await files?.texts())?.default ?? {};
  if (language.peek() === code) texts.value = found;
}

async function loadSentences(code: string): Promise<void> {
  const found = (await LANGUAGES[code]?.sentences())?.default ?? [];
  if (language.peek() === code) sentences.value = found;
}

/** Settled when the page can be shown in its language, or in English where nothing can be loaded. */
export const ready = new Promise<void>((resolve) => {
  effect(() => {
    const code = language.value;
    load(code)
      .finally(resolve)
      .then(() => loadSentences(code))
      // Without a connection the page stays in the language that it has.
      .catch(() => undefined);
  });
});
