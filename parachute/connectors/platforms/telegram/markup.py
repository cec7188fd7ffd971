"""Markdown as the few elements of HTML that Telegram shows."""

import html
import re
from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

from parachute.connectors.platforms.splitting import split, units

_TAGS = {"strong": "b", "em": "i", "s": "s"}
_SCHEMES = ("http://", "https://", "mailto:", "tg://")
_TAG = re.compile(r"<[^>]*>")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#-]{1,30}")
_QUOTE_END = re.compile(r"\n+</blockquote>\n")
_BETWEEN = 2
_MANY_LINES = re.compile(r"\n{3,}")


class Part(Struct, frozen=True):
    """The text of one message: as HTML for Telegram, and plain in case that it does not take this."""

    html: str
    plain: str


def parts(markdown: str, limit: int) -> list[Part]:
    """Split a text into messages, measured as Telegram shows them."""
    found = []
    for piece in split(markdown, limit, _Measure(limit)):
        made = part(piece)
        if units(made.plain) > limit:
            # What was added up was less than the whole, such as for numbers that have become longer.
            found += [part(each) for each in split(piece, limit, lambda text: units(part(text).plain))]
        else:
            found.append(made)
    return [each for each in found if each.plain.strip()]


class _Measure:
    """Measure of the length of a text as it is shown. One that goes on after the last that fitted is not rendered from its beginning."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._fitting, self._size = "", 0

    def __call__(self, text: str) -> int:
        if self._fitting and text.startswith(self._fitting):
            size = self._size + _BETWEEN + units(part(text[len(self._fitting) :]).plain)
        else:
            size = units(part(text).plain)
        if size <= self._limit:
            self._fitting, self._size = text, size
        return size


def part(markdown: str) -> Part:
    """Render a text."""
    rendered = _QUOTE_END.sub(r"</blockquote>\n", _Blocks().render(_parser().parse(markdown)))
    rendered = _MANY_LINES.sub("\n\n", rendered).strip("\n")
    return Part(rendered, html.unescape(_TAG.sub("", rendered)))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


class _Blocks:
    def __init__(self) -> None:
        self._lists: list[int | None] = []
        self._quotes = 0
        self._in_heading = False

    def render(self, tokens: Sequence[Token]) -> str:
        out: list[str] = []
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                end = next(at for at in range(position, len(tokens)) if tokens[at].type == "table_close")
                out.append(_table(tokens[position:end]))
                position = end
            else:
                out.append(self._block(token))
            position += 1
        return "".join(out)

    def _block(self, token: Token) -> str:
        match token.type:
            case "inline":
                return self._inline(token.children or [])
            case "paragraph_close":
                return "\n" if token.hidden or self._lists else "\n\n"
            case "heading_open":
                self._in_heading = True
                return "<b>"
            case "heading_close":
                self._in_heading = False
                return "</b>\n\n"
            case "bullet_list_open":
                self._lists.append(None)
                return ""
            case "ordered_list_open":
                start = token.attrGet("start")
                self._lists.append(int(start) if start is not None else 1)
                return ""
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                return "" if self._lists else "\n"
            case "list_item_open":
                return self._bullet()
            case "blockquote_open":
                self._quotes += 1
                return "<blockquote>" if self._quotes == 1 else ""
            case "blockquote_close":
                self._quotes -= 1
                return "</blockquote>\n" if not self._quotes else ""
            case "fence":
                return _code(token.content, token.info.strip().split(" ")[0])
            case "code_block":
                return _code(token.content, "")
            case "hr":
                return "———\n\n"
        return ""

    def _bullet(self) -> str:
        indent = "   " * (len(self._lists) - 1)
        number = self._lists[-1]
        if number is None:
            return f"{indent}• "
        self._lists[-1] = number + 1
        return f"{indent}{number}. "

    def _inline(self, tokens: Sequence[Token]) -> str:
        out: list[str] = []
        links: list[bool] = []
        for token in tokens:
            kind, _, side = token.type.rpartition("_")
            if token.type == "text":
                out.append(html.escape(token.content, quote=False))
            elif token.type in ("softbreak", "hardbreak"):
                out.append("\n")
            elif token.type == "code_inline":
                out.append(f"<code>{html.escape(token.content, quote=False)}</code>")
            elif token.type == "image":
                out.append(html.escape(token.content or str(token.attrGet("src") or ""), quote=False))
            elif token.type == "link_open":
                target = str(token.attrGet("href") or "")
                links.append(target.startswith(_SCHEMES))
                out.append(f'<a href="{html.escape(target)}">' if links[-1] else "")
            elif token.type == "link_close":
                out.append("</a>" if links.pop() else "")
            elif kind in _TAGS and not (kind == "strong" and self._in_heading):
                out.append(f"<{'/' if side == 'close' else ''}{_TAGS[kind]}>")
        return "".join(out)


def _code(content: str, language: str) -> str:
    escaped = html.escape(content.rstrip("\n"), quote=False)
    if language and _LANGUAGE.fullmatch(language):
        return f'<pre><code class="language-{language}">{escaped}</code></pre>\n'
    return f"<pre>{escaped}</pre>\n"


def _table(tokens: Sequence[Token]) -> str:
    """A table as text of equal width, which Telegram does not have."""
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append("".join(child.content for child in token.children or []))
    widths = [max(len(row[column]) for row in rows if column < len(row)) for column in range(max(map(len, rows)))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return _code("\n".join(lines), "")
