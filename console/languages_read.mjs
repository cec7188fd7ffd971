// Reads the files of ../languages, in the format of GNU gettext.
import { readFile, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { po } from "gettext-parser";

export const LANGUAGES = join(dirname(fileURLToPath(import.meta.url)), "..", "languages");

/** The codes of the languages that have a file. */
export async function codes() {
  return (await readdir(LANGUAGES)).filter((name) => name.endsWith(".po")).map((name) => name.slice(0, -3)).sort();
}

/** The entries of a file: context, English text, and translation. */
export function entries(file) {
  return Object.values(file.translations)
    .flatMap((inContext) => Object.values(inContext))
    .filter(({ msgid }) => msgid)
    .map(({ msgctxt = "", msgid, msgstr }) => ({ context: msgctxt, text: msgid, translated: msgstr[0] ?? "" }));
}

/** The texts of the console in a language, by screen and key. */
export async function texts(code) {
  const tables = {};
  for (const { context, translated } of await read(code)) {
    const [screen, key] = context.split(".");
    if (key && translated) (tables[screen] ??= {})[key] = translated;
  }
  return tables;
}

/** The sentences of the server in a language: pairs of the English form and its translation. */
export async function sentences(code) {
  const all = await read(code);
  return all.filter(({ context, translated }) => !context && translated).map(({ text, translated }) => [text, translated]);
}

async function read(code) {
  return entries(po.parse(await readFile(join(LANGUAGES, `${code}.po`))));
}
