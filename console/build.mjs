// Bundles the console into a folder: `node build.mjs FOLDER`. Every file but the page itself is named by its content.
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { initWasm, Resvg } from "@resvg/resvg-wasm";
import { build } from "esbuild";
import { codes, sentences, texts } from "./languages_read.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "src");
const target = resolve(process.argv[2] ?? join(here, "..", "parachute", "server", "console", "static"));

/** The folders of src/screens: a screen is there because its folder is. */
async function screens() {
  const names = await readdir(join(source, "screens"));
  return names.filter((name) => !name.includes(".")).sort();
}

async function exists(path) {
  return stat(path).then(() => true, () => false);
}

/** Modules that are made from the list of folders: `screens:all` and the style sheet with those of the screens. */
const generated = {
  name: "generated",
  setup(builder) {
    builder.onResolve({ filter: /^screens:/ }, ({ path }) => ({ path, namespace: "generated" }));
    builder.onLoad({ filter: /^screens:all$/, namespace: "generated" }, async () => {
      const names = await screens();
      const imports = names.map((name, index) => `import { about as a${index} } from "./screens/${name}/about";`);
      const entries = names.map(
        (name, index) => `{ ...a${index}, load: () => import("./screens/${name}/screen") },`,
      );
      return {
        contents: `${imports.join("\n")}\nexport const SCREENS = [\n${entries.join("\n")}\n];`,
        loader: "ts",
        resolveDir: source,
      };
    });
    // A kind of item is there because its file is.
    builder.onLoad({ filter: /^screens:cards$/, namespace: "generated" }, async () => {
      const names = (await readdir(join(source, "screens", "inbox", "cards"))).map((name) => name.replace(/\.tsx$/, "")).sort();
      const imports = names.map((name) => `import { card as ${name} } from "./screens/inbox/cards/${name}";`);
      return {
        contents: `${imports.join("\n")}\nexport const CARDS = { ${names.join(", ")} };`,
        loader: "ts",
        resolveDir: source,
      };
    });
    // A language is there because its file is.
    builder.onResolve({ filter: /^languages:|^(texts|sentences):/ }, ({ path }) => ({ path, namespace: "generated" }));
    builder.onLoad({ filter: /^languages:all$/, namespace: "generated" }, async () => {
      const entry = (code) => `${code}: { texts: () => import("texts:${code}"), sentences: () => import("sentences:${code}") }`;
      return { contents: `export const LANGUAGES = { ${(await codes()).map(entry).join(", ")} };`, loader: "ts", resolveDir: source };
    });
    builder.onLoad({ filter: /^(texts|sentences):/, namespace: "generated" }, async ({ path }) => {
      const [kind, code] = path.split(":");
      return { contents: `export default ${JSON.stringify(await { texts, sentences }[kind](code))};`, loader: "js" };
    });
    // Every screen, and whatever else is loaded later, asks for what stands at the start, which is then one file: without this each part that
    // some use and others do not would be a file of its own, and twenty would be fetched before anything is shown.
    builder.onLoad({ filter: /[/\\](screens[/\\][^/\\]+[/\\]screen\.tsx|components[/\\]save_page\.ts|state[/\\](journal_files|push|reading|sharing)\.ts)$/ }, async ({ path }) => ({
      contents: `import "~/main";\n${await readFile(path, "utf8")}`,
      loader: "tsx",
    }));
    builder.onLoad({ filter: /^screens:styles$/, namespace: "generated" }, async () => {
      const lines = [];
      for (const name of await screens()) {
        if (await exists(join(source, "screens", name, "style.css"))) lines.push(`@import "./screens/${name}/style.css";`);
      }
      return { contents: lines.join("\n"), loader: "css", resolveDir: source };
    });
  },
};

function compressed(bytes) {
  // The best takes seconds for megabytes.
  const quality = { [constants.BROTLI_PARAM_QUALITY]: bytes.length > 1_000_000 ? 9 : 11 };
  return { br: brotliCompressSync(bytes, { params: quality }), gz: gzipSync(bytes, { level: 9 }) };
}

async function write(name, bytes) {
  await mkdir(dirname(join(target, name)), { recursive: true });
  await writeFile(join(target, name), bytes);
  if (!/\.(png|woff2)$/.test(name)) {
    const { br, gz } = compressed(bytes);
    await writeFile(join(target, `${name}.br`), br);
    await writeFile(join(target, `${name}.gz`), gz);
  }
}

/** Write a file under a name that has its content in it. */
async function writeNamed(name, bytes) {
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 8);
  names[name] = name.replace(/(\.\w+)$/, `-${hash}$1`);
  await write(names[name], bytes);
}

const common = { absWorkingDir: here, bundle: true, format: "esm", target: "es2022", minify: true, write: false, outdir: target, logLevel: "warning" };

await rm(target, { recursive: true, force: true });
const names = {};

/** Parts of Mermaid that make programs of text, and two large ones: formulas in diagrams, and a second layout. */
const without = {
  name: "without",
  setup(builder) {
    builder.onResolve({ filter: /^(d3-dsv|d3-fetch|katex|elkjs\b.*)$/ }, ({ path }) => ({ path, namespace: "without" }));
    builder.onLoad({ filter: /./, namespace: "without" }, () => ({ contents: "export default undefined;" }));
  },
};
// The frame of diagrams is a page of its own, with one program.
const diagrams = await build({
  ...common,
  format: "iife",
  entryPoints: { diagrams: "src/diagrams/frame.ts" },
  legalComments: "eof",
  plugins: [without],
});
await writeNamed("diagrams.js", diagrams.outputFiles[0].contents);
const framed = await readFile(join(source, "diagrams", "frame.html"), "utf8");
await writeNamed("diagrams.html", Buffer.from(framed.replace("{diagrams.js}", names["diagrams.js"])));

const result = await build({
  ...common,
  define: { DIAGRAMS: JSON.stringify(names["diagrams.html"]) },
  entryPoints: { main: "src/main.tsx", style: "src/styles/main.css" },
  splitting: true,
  legalComments: "eof",
  metafile: true,
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  alias: { "~": source },
  jsx: "automatic",
  jsxImportSource: "preact",
  plugins: [generated],
});

const outputs = result.metafile.outputs;
const entry = Object.keys(outputs).find((path) => outputs[path].entryPoint === "src/main.tsx");
const first = Object.keys(outputs).find((path) => "src/main.tsx" in outputs[path].inputs);

// The entry only asks for the file in which everything at the start is: that one takes its name, and the page asks for it at once.
const called = (name) => (name === basename(first) ? name.replace("chunk", "main") : name);
const files = result.outputFiles.filter(({ path }) => basename(path) !== basename(entry));
for (const { path, text } of files) {
  const name = called(basename(path));
  names[name.replace(/-[A-Z0-9]+(\.\w+)$/, "$1")] ??= name;
  await write(name, Buffer.from(text.replaceAll(basename(first), called(basename(first)))));
}
const icon = await readFile(join(source, "icon.svg"));
await writeNamed("icon.svg", icon);
await initWasm(await readFile(createRequire(import.meta.url).resolve("@resvg/resvg-wasm/index_bg.wasm")));
const drawn = (svg, width) => Buffer.from(new Resvg(svg, { fitTo: { mode: "width", value: width } }).render().asPng());
// Systems cut a maskable icon, and that of an iPhone, into a shape of their own: its background reaches every edge.
const whole = icon.toString().replace('rx="15"', "").replace("<g ", '<g transform="translate(6.4 6.4) scale(.8)" ');
await writeNamed("icon-192.png", drawn(icon, 192));
await writeNamed("icon-512.png", drawn(icon, 512));
await writeNamed("icon-maskable.png", drawn(whole, 512));
await writeNamed("icon-apple.png", drawn(whole, 180));
const filled = (text) => Buffer.from(text.replace(/\{([\w-]+\.\w+)\}/g, (_, name) => `console/${names[name]}`));
await writeNamed("manifest.webmanifest", filled(await readFile(join(source, "manifest.webmanifest"), "utf8")));
const page = filled(await readFile(join(source, "index.html"), "utf8"));
await write("index.html", page);

// The worker keeps what is needed to open without a connection.
const kept = [...files.map(({ path }) => called(basename(path))), names["icon.svg"], names["manifest.webmanifest"]];
const version = createHash("sha256").update(page).update(kept.join()).digest("hex").slice(0, 12);
const worker = await build({
  ...common,
  entryPoints: { worker: "src/worker.ts" },
  define: { FILES: JSON.stringify(kept), VERSION: JSON.stringify(version) },
});
await write("worker.js", worker.outputFiles[0].contents);

const needed = new Set([first]);
for (const path of needed) {
  for (const { path: other, kind } of outputs[path].imports) if (kind === "import-statement") needed.add(other);
}
let size = 0;
for (const path of [...needed, Object.keys(outputs).find((name) => name.endsWith(".css"))]) {
  size += compressed(result.outputFiles.find((file) => file.path.endsWith(basename(path))).contents).br.length;
}
console.log(`The console is built: its first load is ${(size / 1024).toFixed(1)} KB compressed.`);
