/** Additions to Markdown: check boxes, footnotes, and formulas between dollars or in brackets. */
import type { MarkdownIt, StateBlock, StateInline, Token } from "markdown-it";
import footnote from "markdown-it-footnote";

export function extend(markdown: MarkdownIt): void {
  markdown.use(footnote);
  markdown.inline.ruler.disable("footnote_inline");
  markdown.core.ruler.after("text_join", "check_box", ({ tokens }) => tokens.forEach((_, index) => checkBox(tokens, index)));
  markdown.core.ruler.after("inline", "alignment", ({ tokens }) => tokens.forEach(align));
  markdown.inline.ruler.before("escape", "formula", inline);
  markdown.block.ruler.before("fence", "formula", block, { alt: ["paragraph", "reference", "blockquote", "list"] });
  const { escapeHtml } = markdown.utils;
  const number = (token?: Token) => Number(token?.meta?.id) + 1;
  Object.assign(markdown.renderer.rules, {
    check_box: (all: Token[], at: number) => `<input type="checkbox" disabled${all[at]?.meta ? " checked" : ""}>`,
    formula: (all: Token[], at: number) => `<code class="formula${all[at]?.meta ? " display" : ""}">${escapeHtml(all[at]?.content ?? "")}</code>`,
    formula_block: (all: Token[], at: number) => `<p class="formula-block"><code class="formula display">${escapeHtml(all[at]?.content ?? "")}</code></p>\n`,
    // Its addresses would be places of the console; the pages that show a text find their own notes.
    footnote_ref: (all: Token[], at: number) => `<sup><a href="#" data-note="${number(all[at])}">${number(all[at])}</a></sup>`,
    footnote_block_open: () => '<ol class="notes">\n',
    footnote_block_close: () => "</ol>\n",
    footnote_open: (all: Token[], at: number) => `<li data-note="${number(all[at])}">`,
    footnote_anchor: (all: Token[], at: number) => ` <a href="#" data-back="${number(all[at])}">\u21a9\ufe0e</a>`,
  });
}

/** Say how a cell is aligned in an attribute: the page's policy lets no text bring a style. */
function align(token: Token): void {
  const [, side] = /^text-align:(\w+)$/.exec(String(token.attrGet("style") ?? "")) ?? [];
  if (side) token.attrs = [["align", side]];
}

/** Make a check box of `[ ]` or `[x]` at the beginning of a list's entry. */
function checkBox(tokens: Token[], index: number): void {
  const [item, paragraph, text] = tokens.slice(index - 2, index + 1);
  const first = text?.children?.[0];
  const [mark, sign] = (text?.type === "inline" && first?.type === "text" && /^\[([ xX])\]\s+/.exec(first.content)) || [];
  if (!mark || !text?.children || !first || paragraph?.type !== "paragraph_open" || item?.type !== "list_item_open") return;
  const box = new (first.constructor as typeof Token)("check_box", "input", 0);
  box.meta = sign === " " ? null : {};
  first.content = first.content.slice(mark.length);
  text.children.unshift(box);
  item.attrJoin("class", "task");
}

const PAIRS: [string, string][] = [
  ["$$", "$$"],
  ["$", "$"],
  ["\\(", "\\)"],
  ["\\[", "\\]"],
];
/** Characters of a formula within a line. */
const LONGEST = 2_000;

function inline(state: StateInline, isSilent: boolean): boolean {
  const { src, pos } = state;
  const [begin, end] = PAIRS.find(([sign]) => src.startsWith(sign, pos)) ?? [];
  if (!begin || !end) return false;
  const close = closing(src, end, pos + begin.length, Math.min(state.posMax, pos + LONGEST));
  const content = src.slice(pos + begin.length, close);
  if (close < 0 || !content.trim() || isOther(begin, content, src.charAt(close + 1))) return false;
  if (!isSilent) {
    const token = state.push("formula", "code", 0);
    token.content = content.trim();
    token.meta = begin === "$$" || begin === "\\[" ? {} : null;
  }
  state.pos = close + end.length;
  return true;
}

function closing(text: string, end: string, from: number, most: number): number {
  for (let at = from; at + end.length <= most; at += text[at] === "\\" ? 2 : 1) if (text.startsWith(end, at)) return at;
  return -1;
}

/** Return whether signs around a text are rather amounts, as in "$5 and $10", or brackets that are to be shown. */
function isOther(begin: string, content: string, next: string): boolean {
  const isPlain = !/[\\^_=+<>{}]/.test(content);
  if (begin === "\\[") return isPlain && /^\S/.test(content);
  return begin === "$" && (/^\s|\s$/.test(content) || /\d/.test(next) || (isPlain && /^[\d.,]+\s/.test(content)));
}

function block(state: StateBlock, first: number, last: number, isSilent: boolean): boolean {
  const line = (number: number) => state.src.slice((state.bMarks[number] ?? 0) + (state.tShift[number] ?? 0), state.eMarks[number]).trimEnd();
  const [begin, end] = PAIRS.find(([sign]) => sign !== "$" && sign !== "\\(" && line(first).startsWith(sign)) ?? [];
  if (!begin || !end || (state.sCount[first] ?? 0) - state.blkIndent >= 4) return false;
  let at = first;
  const isOne = line(first).length >= begin.length + end.length && line(first).endsWith(end);
  while (!isOne && (at += 1) < last && !line(at).endsWith(end)) if ((state.sCount[at] ?? 0) < state.blkIndent) return false;
  const whole = state.getLines(first, at + 1, state.blkIndent, false).trim();
  const content = whole.slice(begin.length, -end.length);
  if (at >= last || !content.trim() || content.includes(end)) return false;
  if (isSilent) return true;
  const token = state.push("formula_block", "code", 0);
  token.block = true;
  token.content = content.trim();
  token.map = [first, at + 1];
  state.line = at + 1;
  return true;
}
