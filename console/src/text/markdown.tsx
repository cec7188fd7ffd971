/** Markdown of anybody as elements of the page: no HTML, no picture from elsewhere, and only the open block is drawn anew. */
import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { useLayoutEffect, useRef } from "preact/hooks";
import { frame } from "./blocks";
import { extend } from "./extensions";
import { typeset } from "./formulas";
import { finishNotes } from "./notes";

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
extend(markdown);
// A picture's address alone carries data away when it is loaded; what it shows stays as a link.
markdown.renderer.rules.image = (tokens, index) => {
  const token = tokens[index];
  const address = markdown.utils.escapeHtml(String(token?.attrGet("src") ?? ""));
  const text = markdown.utils.escapeHtml(token?.content || address);
  return `<a href="${address}">${text}</a>`;
};

// The lines of the text that elements come from, where something is looked for in it.
markdown.core.ruler.push("lines", ({ tokens, env }) => {
  if (!(env as Environment).hasLines) return;
  for (const token of tokens) if (token.map && token.nesting >= 0) token.attrSet("data-line", String(token.map[0]));
});

type Environment = { hasLines?: boolean };

const SAFE = {
  ALLOWED_TAGS: [
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "input", "li", "ol", "p", "pre",
    "s", "strong", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["href", "class", "start", "align", "type", "checked", "disabled", "data-note", "data-back", "data-line"],
  // These are never addresses, which the pattern below is for.
  ADD_URI_SAFE_ATTR: ["align", "start", "type", "data-note", "data-back", "data-line"],
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#)/i,
  RETURN_DOM_FRAGMENT: true as const,
};

/** Elements of a text: `closed` of the blocks that do not change when more is added, `open` of the last one, which begins at `start`. */
interface Elements {
  closed: DocumentFragment;
  open: DocumentFragment;
  start: number;
}

/** Draw a text, read and cleaned once; what takes long to draw waits until there is no more to come. */
function draw(text: string, isOpen: boolean, environment: Environment): Elements {
  const tokens = markdown.parse(text, environment);
  const blocks = tokens.filter((token) => token.level === 0 && token.map && token.nesting >= 0);
  const line = (isOpen && blocks.at(-1)?.map?.[0]) || 0;
  const fragment = DOMPurify.sanitize(markdown.renderer.render(tokens, markdown.options, environment), SAFE) as unknown as DocumentFragment;
  finishNotes(fragment);
  for (const link of fragment.querySelectorAll<HTMLAnchorElement>("a:not([data-note], [data-back])")) {
    if (link.getAttribute("href")?.startsWith("#/")) continue;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    link.title = link.href;
  }
  const closed = document.createDocumentFragment();
  // Each block is one element.
  if (line > 0) closed.append(...[...fragment.children].slice(0, blocks.length - 1));
  frame(closed, false);
  typeset(closed);
  frame(fragment, isOpen);
  if (!isOpen) typeset(fragment);
  return { closed, open: fragment, start: line > 0 ? text.split("\n", line).join("\n").length + 1 : 0 };
}

interface Drawn {
  /** Characters of the text whose elements stay as they are. */
  closed: number;
  elements: number;
  text: string;
}

/** A link that is defined further down, which changes blocks above it. */
const DEFINITION = /^ {0,3}\[[^\]]+\]:/m;

/** Bring the element of a line, counted from 0, into sight, and mark it. */
function showLine(target: HTMLElement, line: number): void {
  const elements = [...target.querySelectorAll<HTMLElement>("[data-line]")];
  const found = elements.filter((each) => Number(each.dataset.line) <= line).at(-1);
  found?.classList.add("is-found");
  found?.scrollIntoView({ block: "center" });
}

/**
 * Show `text`; while it grows, elements of blocks that are complete stay. With `isOpen` there is more to come, and with `line`,
 * counted from 0, what it has there is marked.
 */
export function Markdown({ text, isOpen = false, line }: { text: string; isOpen?: boolean; line?: number | undefined }) {
  const root = useRef<HTMLDivElement>(null);
  const drawn = useRef<Drawn>({ closed: 0, elements: 0, text: "" });
  useLayoutEffect(() => {
    const target = root.current;
    if (!target) return;
    const before = drawn.current;
    const goesOn = text.startsWith(before.text.slice(0, before.closed)) && (isOpen || !DEFINITION.test(text));
    const closed = goesOn ? before.closed : 0;
    const elements = goesOn ? before.elements : 0;
    while (target.childNodes.length > elements) target.lastChild?.remove();
    const drawing = draw(text.slice(closed), isOpen, { hasLines: line !== undefined });
    target.append(drawing.closed);
    drawn.current = { closed: closed + drawing.start, elements: target.childNodes.length, text };
    target.append(drawing.open);
    if (line !== undefined && line >= 0) showLine(target, line);
  }, [text, isOpen, line]);
  return <div ref={root} class="markdown" dir="auto" />;
}
