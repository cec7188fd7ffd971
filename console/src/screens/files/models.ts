/** Files of the vault as the API has them (docs/files.md), and the places of this screen. */
import type { Schema } from "~/api/client";
import { to } from "~/state/router";

export type Entry = Schema<"FileEntry">;
export type TextFile = Schema<"TextFile">;
export type Change = Schema<"DeviceChange">;

export const join = (folder: string, name: string) => (folder ? `${folder}/${name}` : name);
export const nameOf = (path: string) => path.split("/").at(-1) ?? path;
export const folderOf = (path: string) => path.split("/").slice(0, -1).join("/");

/** The place in a file that a hit leads to: one of these, or none. */
export type FilePlace = Partial<Record<(typeof UNITS)[number], number | null>>;

export const UNITS = ["page", "chapter", "line"] as const;

/** The address of a folder of the vault; with `file`, of one in it, and of a place in that. */
export function placeOf(folder: string, file?: string, at: FilePlace = {}): string {
  const place = UNITS.flatMap((unit) => (at[unit] ? [[unit, String(at[unit])] as const] : []));
  return to("files", folder ? folder.split("/") : [], file ? { file, ...Object.fromEntries(place) } : {});
}

/** The place in a file that an address names. */
export function placeIn(query: URLSearchParams): FilePlace {
  return Object.fromEntries(UNITS.map((unit) => [unit, Number(query.get(unit)) || null]));
}

const TEXTS = /\.(md|markdown|txt|text|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|log|py|js|ts|tsx|jsx|css|html?|xml|sh|bash|rs|go|c|h|cpp|java|rb|sql|nix|tex|org|rst|diff|patch)$/i;
const IMAGES = /\.(png|jpe?g|gif|webp|avif|bmp)$/i;

export type Preview = "markdown" | "text" | "image" | "pdf" | "none";

/** Return the preview of a file; one without a suffix is mostly a text, and the server says if it is not. */
export function previewOf(name: string): Preview {
  if (IMAGES.test(name)) return "image";
  if (/\.pdf$/i.test(name)) return "pdf";
  if (/\.(md|markdown)$/i.test(name)) return "markdown";
  return TEXTS.test(name) || !name.includes(".") ? "text" : "none";
}

/** The front matter of a page as text by name, with nested lines below their name, and what follows it; none where it is not of that form. */
export function partsOf(text: string): { properties: Record<string, string>; rest: string } {
  const [, head, rest] = /^---\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)([^]*)$/.exec(text) ?? [];
  const properties: Record<string, string> = {};
  let name = "";
  for (const line of head?.split(/\r?\n/) ?? []) {
    const [, key, value] = /^([^\s:#-][^:]*):(?:\s+(.*))?$/.exec(line) ?? [];
    if (key !== undefined) properties[(name = key)] = value ?? "";
    else if (name && /^(\s|- |#|$)/.test(line)) properties[name] += `\n${line}`;
    else if (!/^(#|\s*$)/.test(line)) return { properties: {}, rest: text };
  }
  for (const key in properties) properties[key] = properties[key]?.replace(/^\n+|\s+$/g, "") ?? "";
  return Object.keys(properties).length > 0 ? { properties, rest: rest ?? "" } : { properties: {}, rest: text };
}
