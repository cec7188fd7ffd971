/** Colours of code, loaded when the first block of code is shown. */
import DOMPurify from "dompurify";

let loading: Promise<typeof import("./languages").default> | undefined;

const MOST_CHARACTERS = 50_000;

/** Colour a block of code whose class names a language that is known. */
export async function highlight(code: HTMLElement): Promise<void> {
  const name = /language-([\w+#-]+)/.exec(code.className)?.[1];
  const text = code.textContent ?? "";
  if (!name || text.length > MOST_CHARACTERS) return;
  loading ??= import("./languages").then((module) => module.default);
  const highlighter = await loading;
  if (!highlighter.getLanguage(name)) return;
  const { value } = highlighter.highlight(text, { language: name, ignoreIllegals: true });
  const safe = { ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"], RETURN_DOM_FRAGMENT: true as const };
  code.replaceChildren(DOMPurify.sanitize(value, safe) as unknown as DocumentFragment);
}
