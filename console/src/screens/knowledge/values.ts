/** Fields of entities as people read and write them. */
import type { Brief, Field } from "./data";

/** Fields that answers add to those of a file, and those with a place of their own on the page. */
const OWN = new Set([
  "@id", "@type", "id", "para_id", "type", "name", "aliases", "tags", "path", "version", "summary", "snippet", "score", "found_by",
  "content", "relationships", "legacy_id",
]);

/** Fields that only this entity, or its type, has. */
export function ownFields(entity: Brief): [string, unknown][] {
  return Object.entries(entity).filter(([name, value]) => !OWN.has(name) && value !== null && value !== "");
}

export function isSimple(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function isList(value: unknown): value is (string | number | boolean)[] {
  return Array.isArray(value) && value.every(isSimple);
}

/** Return the editor of a field: by its type, or by its present value. */
export function editorOf(field: Field, value: unknown): "list" | "switch" | "choice" | "number" | "date" | "url" | "lines" | "line" | "none" {
  if (value !== undefined && value !== null && !isSimple(value) && !isList(value)) return "none";
  if (field.name === "relationships") return "none";
  if (isList(value) || field.type === "array") return "list";
  switch (field.type) {
    case "boolean":
      return "switch";
    case "enum":
      return "choice";
    case "integer":
    case "number":
      return "number";
    case "date":
    case "url":
      return field.type;
    case "text":
      return "lines";
    default:
      return "line";
  }
}

export function written(value: unknown): string {
  if (value === undefined || value === null) return "";
  return isList(value) ? value.join("\n") : String(value);
}

/** Return the typed text as a value of the field; null for nothing. */
export function read(editor: string, text: string): unknown {
  if (editor === "list") {
    const items = text.split("\n").map((item) => item.trim());
    const found = items.filter(Boolean);
    return found.length ? found : null;
  }
  if (!text.trim()) return null;
  if (editor === "switch") return text === "true";
  if (editor === "number") return Number.isNaN(Number(text)) ? text : Number(text);
  return text;
}

/** The fields to write: those of the type, and what else the entity has. */
export function editable(fields: Field[], entity: Brief | undefined): Field[] {
  const common: Field[] = [
    { name: "aliases", type: "array", required: false },
    { name: "tags", type: "array", required: false },
  ];
  const names = new Set(fields.map(({ name }) => name));
  const others = entity ? ownFields(entity).map(([name]) => ({ name, type: "string", required: false })) : [];
  return [...fields, ...[...common, ...others].filter(({ name }) => !names.has(name))];
}

/** A target such as `[[kevin]] - Advisor` of `relationships`, as the words between the brackets. */
export function targetOf(item: unknown): string {
  const value = typeof item === "object" && item !== null ? Object.values(item).find((each) => /\[\[/.test(String(each))) : item;
  return /\[\[([^\][|#]+)/.exec(String(value))?.[1]?.trim() ?? "";
}

/** Links of a text, `[[Name]]` and `[[Name|words]]`, as links of this page; code stays as it is. */
export function withLinks(text: string): string {
  const parts = text.split(/(```[\s\S]*?```|`[^`\n]*`)/);
  return parts
    .map((part, index) =>
      index % 2
        ? part
        : part.replace(/\[\[([^\][|#\n]+)(?:#[^\][|\n]*)?(?:\|([^\][\n]*))?\]\]/g, (_, name: string, words?: string) => {
            const address = encodeURIComponent(name.trim()).replace(/[()]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
            return `[${(words || name).replace(/[\\[\]]/g, "\\$&")}](#/knowledge/named/${address})`;
          }),
    )
    .join("");
}
