// Rules of the console's source that its compiler does not know: `npm run check`.
import { readFile, readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const here = dirname(fileURLToPath(import.meta.url));
const MOST_LINES = 400;
const SPOKEN = new Set(["label", "title", "alt", "placeholder", "aria-label", "hint"]);

const problems = [];
/** Classes that style sheets of the whole console define by themselves: one of a screen would change them on all others. */
const alone = (css) => css.match(/^\.[\w-]+(?= \{$)/gm) ?? [];
const shared = new Set(alone(await readFile(join(here, "src/styles/components.css"), "utf8")));

for (const entry of await readdir(join(here, "src"), { recursive: true, withFileTypes: true })) {
  if (!/\.(ts|tsx|css)$/.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const text = await readFile(path, "utf8");
  const report = (line, problem) => problems.push(`${relative(here, path)}:${line}: ${problem}`);
  const lines = text.split("\n").length;
  if (lines > MOST_LINES && !entry.name.endsWith(".css")) report(lines, `longer than ${MOST_LINES} lines`);
  if (/https?:\/\/(?!www\.w3\.org)/.test(text)) report(1, "names an address elsewhere");
  if (entry.name.endsWith(".css")) {
    if (/url\(|@import "(?!\.|screens:)/.test(text)) report(1, "loads something");
    if (/screens/.test(path)) for (const name of alone(text)) if (shared.has(name)) report(1, `changes ${name} of all screens`);
    continue;
  }
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const at = (node) => source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  const visit = (node) => {
    if (ts.isJsxText(node) && /\p{L}/u.test(node.text)) report(at(node), `text outside of the translations: ${node.text.trim()}`);
    if (ts.isJsxAttribute(node) && SPOKEN.has(node.name.getText()) && node.initializer && ts.isStringLiteral(node.initializer)) {
      if (/\p{L}/u.test(node.initializer.text)) report(at(node), `text outside of the translations: ${node.initializer.text}`);
    }
    if (ts.isIdentifier(node) && ["innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "eval"].includes(node.text)) {
      report(at(node), `${node.text} makes text of others a program`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length ? 1 : 0;
