// Bundles the console into a folder: `node build.mjs FOLDER`. Every file but the page itself is named by its content.
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

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
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
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

const result = await build({
  absWorkingDir: here,
  entryPoints: { main: "src/main.tsx", style: "src/styles/main.css" },
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "eof",
  metafile: true,
  write: false,
  outdir: target,
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  alias: { "~": source },
  jsx: "automatic",
  jsxImportSource: "preact",
  plugins: [generated],
  logLevel: "warning",
});

await rm(target, { recursive: true, force: true });
const names = {};
for (const file of result.outputFiles) {
  const name = basename(file.path);
  names[name.replace(/-[A-Z0-9]+(\.\w+)$/, "$1")] ??= name;
  await write(name, file.contents);
}
const icon = await readFile(join(source, "icon.svg"));
names["icon.svg"] = `icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8)}.svg`;
await write(names["icon.svg"], icon);
const page = await readFile(join(source, "index.html"), "utf8");
await write("index.html", Buffer.from(page.replace(/\{(\w+\.\w+)\}/g, (_, name) => `console/${names[name]}`)));

const main = result.metafile.outputs;
const first = Object.entries(main).find(([, output]) => output.entryPoint === "src/main.tsx");
const needed = new Set([first[0]]);
for (const path of needed) {
  for (const { path: other, kind } of main[path].imports) if (kind === "import-statement") needed.add(other);
}
let size = 0;
for (const path of [...needed, Object.keys(main).find((name) => name.endsWith(".css"))]) {
  size += compressed(result.outputFiles.find((file) => file.path.endsWith(basename(path))).contents).br.length;
}
console.log(`The console is built: its first load is ${(size / 1024).toFixed(1)} KB compressed.`);
