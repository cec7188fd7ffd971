/** Colours of code, loaded when the first block of code is shown. */
import DOMPurify from "dompurify";
import { ALIASES, LANGUAGES } from "./languages";

const MOST_CHARACTERS = 50_000;

/** Colour a block of code whose class names a language that is known. */
export async function highlight(code: HTMLElement): Promise<void> {
  const name = /language-([\w+#-]+)/.exec(code.className)?.[1];
  const text = code.textContent ?? "";
  if (!name || text.length > MOST_CHARACTERS) return;
  const language = ALIASES[name.toLowerCase()] ?? name.toLowerCase();
  const load = Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language] : undefined;
  if (!load) return;
  const { default: highlighter } = await import("highlight.js/lib/core");
  if (!highlighter.getLanguage(language)) highlighter.registerLanguage(language, (await load()).default);
  const { value } = highlighter.highlight(text, { language, ignoreIllegals: true });
  const safe = { ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"], RETURN_DOM_FRAGMENT: true as const };
  code.replaceChildren(DOMPurify.sanitize(value, safe) as unknown as DocumentFragment);
}
