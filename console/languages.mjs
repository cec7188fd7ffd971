// Keeps the files of ../languages complete, with an entry for each text of the console and each sentence of the server:
// `node languages.mjs` adds what is new and drops what is gone, `node languages.mjs check` names it and what is not translated.
// An entry of the console has its place as its context, such as "chat.send"; an entry of the server has none.
import { readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { po } from "gettext-parser";
import ts from "typescript";
import { LANGUAGES, codes, entries } from "./languages_read.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const PLURAL = /_(zero|one|two|few|many|other)$/;
const names = (text) => [...new Set(text.replaceAll(/\{\{|\}\}/g, "").match(/\{\w+\}/g) ?? [])].sort().join();

/** The texts of the console in English, by context. */
async function texts() {
  const found = new Map();
  for (const entry of await readdir(join(here, "src"), { recursive: true, withFileTypes: true })) {
    if (!/\.tsx?$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const visit = (node) => {
      if (ts.isCallExpression(node) && node.expression.getText() === "messages" && node.arguments.length === 2) {
        const [name, table] = node.arguments;
        for (const each of table.properties) {
          const context = `${name.text}.${each.name.text}`;
          if (found.has(context)) throw new Error(`${path}: ${context} stands twice.`);
          if (!ts.isStringLiteral(each.initializer)) throw new Error(`${path}: ${context} is no plain text.`);
          found.set(context, each.initializer.text);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(path, await readFile(path, "utf8"), ts.ScriptTarget.ES2022, true));
  }
  return found;
}

const english = await texts();
const sentences = JSON.parse(await readFile(join(here, ".generated", "sentences.json"), "utf8"));
const wanted = [...[...english].map(([context, text]) => ({ context, text })), ...sentences.map((text) => ({ context: "", text }))];
const isCheck = process.argv[2] === "check";
const problems = [];

/** A language may have more forms for numbers than English: "chat.files_few" is kept beside "chat.files_other". */
const isForm = ({ context }) => PLURAL.test(context) && english.has(context.replace(PLURAL, "_other"));

for (const code of await codes()) {
  const path = join(LANGUAGES, `${code}.po`);
  const file = po.parse(await readFile(path));
  const known = new Map(entries(file).map((entry) => [`${entry.context} ${entry.text}`, entry]));
  const translations = {};
  const missing = [];
  const put = ({ context, text }, translated) => {
    (translations[context] ??= {})[text] = { msgid: text, ...(context && { msgctxt: context }), msgstr: [translated] };
  };
  for (const each of wanted) {
    const translated = known.get(`${each.context} ${each.text}`)?.translated ?? "";
    known.delete(`${each.context} ${each.text}`);
    put(each, translated);
    if (!translated) missing.push(each);
    else if (names(each.text) !== names(translated)) problems.push(`${code}: ${each.context} ${each.text}: other names in braces`);
  }
  for (const each of known.values()) {
    if (isForm(each)) put(each, each.translated);
    else problems.push(`${code}: is in no source any more: ${each.context} ${each.text}`);
  }
  problems.push(...missing.map(({ context, text }) => `${code}: not translated: ${context} ${text}`));
  if (isCheck) continue;
  const order = (one, other) => (one.msgctxt ?? "").localeCompare(other.msgctxt ?? "") || (one.msgid < other.msgid ? -1 : 1);
  const compiled = po.compile({ ...file, translations: { ...translations, "": { ...translations[""], "": file.translations[""][""] } } }, { sort: order, foldLength: 0 });
  await writeFile(path, `${compiled.toString().trimEnd()}\n`);
  console.log(`${code}: ${wanted.length} texts, ${missing.length} not translated.`);
}

if (isCheck) {
  for (const problem of problems) console.error(problem);
  if (problems.length) console.error("make languages adds what is new to languages/, and drops what is gone.");
  process.exitCode = problems.length ? 1 : 0;
}
