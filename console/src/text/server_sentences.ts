/** Sentences of the server in the language of this browser. */
import { computed } from "@preact/signals";
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
  for (const each of forms.value) {
    const found = values(each, sentence);
    // A value may be a sentence itself, such as the reason of an error.
    if (found) return shown(plain(each.translated).replace(/\{(\w+)\}/g, (_, name: string) => said(found[name] ?? "", depth + 1)));
  }
  const parts = sentence.split(/(?<=[.!?]) /);
  return parts.length > 1 ? parts.map((part) => said(part, depth + 1)).join(" ") : sentence;
}
