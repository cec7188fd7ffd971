/** Sentences of the server in the language of this browser. */
import { computed } from "@preact/signals";
import { moment, number } from "./messages";
import { sentences } from "./translations";

interface Form {
  /** The letters between the values. */
  letters: string[];
  names: string[];
  translated: string;
}

const DEEPEST = 2;
/** Characters: a longer text is no sentence of the server, and comparing it with all forms would hold up the page. */
const LONGEST = 2_000;

function form([english, translated]: [string, string]): Form {
  const pieces = plain(english).split(/\{(\w+)\}/);
  return { letters: pieces.filter((_, index) => index % 2 === 0).map(shown), names: pieces.filter((_, index) => index % 2), translated };
}

// Braces of the text itself stand twice in a form.
const plain = (text: string) => text.replaceAll("{{", "\u0001").replaceAll("}}", "\u0002");
const shown = (text: string) => text.replaceAll("\u0001", "{").replaceAll("\u0002", "}");

const hasValues = ([english]: [string, string]) => /\{\w/.test(plain(english));
const whole = computed(() => new Map(sentences.value.filter((each) => !hasValues(each)).map((pair) => pair.map((text) => shown(plain(text))) as [string, string])));

/** Forms with values, those with the most letters first: of two that fit, they say more. */
const forms = computed(() => {
  const length = ({ letters }: Form) => letters.join("").trim().length;
  const found = sentences.value.filter(hasValues).map(form).filter(length);
  return found.sort((one, other) => length(other) - length(one));
});

/** The values of a sentence of this form; undefined for another sentence. Linear in its length, whatever it holds. */
function values({ letters, names }: Form, sentence: string): Record<string, string> | undefined {
  const last = letters.at(-1) ?? "";
  let at = letters[0]?.length ?? 0;
  if (!sentence.startsWith(letters[0] ?? "") || !sentence.endsWith(last)) return undefined;
  const found: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const isLast = index === names.length - 1;
    const end = isLast ? sentence.length - last.length : sentence.indexOf(letters[index + 1] ?? "", at);
    if (end < at) return undefined;
    found[name] = sentence.slice(at, end);
    at = end + (letters[index + 1]?.length ?? 0);
  }
  return found;
}

/** A description in the language of this browser if it is one of ours, letter by letter: what others wrote is shown as it is. */
export function described(text: string): string {
  return whole.value.get(text) ?? text;
}

/** A sentence of the server in the language of this browser; in English where there is no translation of it. */
export function said(sentence: string, depth = 0): string {
  const known = whole.value.get(sentence);
  if (known !== undefined) return known;
  if (depth > DEEPEST || sentence.length > LONGEST) return sentence;
  const found = filled(sentence, depth, (value) => !BOUNDARY.test(value));
  if (found !== undefined) return found;
  const parts = sentence.split(/(?<=[.!?]) /);
  // A value that ends a sentence and begins another one is two sentences, unless none of them is known.
  const translated = parts.map((part) => said(part, depth + 1));
  if (parts.some((part, index) => part !== translated[index])) return translated.join(" ");
  return filled(sentence, depth, () => true) ?? sentence;
}

const BOUNDARY = /[.!?] \p{Lu}/u;

/** A sentence in the first form that it has and whose values may be such. */
function filled(sentence: string, depth: number, may: (value: string) => boolean): string | undefined {
  for (const each of forms.value) {
    const found = values(each, sentence);
    if (!found || !Object.values(found).every(may)) continue;
    // A value may be a sentence itself, such as the reason of an error.
    return shown(plain(each.translated).replace(/\{(\w+)\}/g, (_, name: string) => written(found[name] ?? "", depth + 1)));
  }
  return undefined;
}

/** A value as it is written here: a day, a number, a sentence, or what it is. */
function written(value: string, depth: number): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return moment(`${value}T12:00:00`, { dateStyle: "medium" });
  if (/^\d{1,3}(,\d{3})+$/.test(value)) return number(Number(value.replaceAll(",", "")));
  return said(value, depth);
}
