"""The rich text of Day One as Markdown: lines of spans, and what is embedded between them."""

import json
import re
from collections.abc import Callable
from typing import Any

from imports.reading.conversation import fields_of, items_of, text_of

Show = Callable[[str, str], str]
"""Gives the Markdown for something embedded, by its kind and its id."""

_LONGEST = 8_000_000
_PARTS = 50_000
_DEEPEST = 12
_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\(dayone-moment:/{0,2}(?:([A-Za-z]{1,30})/)?([A-Za-z0-9-]{1,64})\)")
_ESCAPED = re.compile(r"(?<=[^\s\d\\])\\([.!()+{}-])")
_MARKS = (("inlineCode", "`"), ("strikethrough", "~~"), ("italic", "*"), ("bold", "**"))


def markdown(text: str, show: Show) -> str:
    """Text that is Markdown already, with links to files that are here, and without the signs by which Day One hides points."""
    return _ESCAPED.sub(r"\1", _LINK.sub(lambda found: show(found[2] or "photo", found[3]), text))


def from_rich(text: str, show: Show) -> str | None:
    """Rich text as Markdown; None for what is none."""
    if not text or len(text) > _LONGEST:
        return None
    try:
        contents = fields_of(json.loads(text)).get("contents")
    except (ValueError, RecursionError):
        return None
    if not isinstance(contents, list):
        return None
    writer = _Writer()
    for part in contents[:_PARTS]:
        part = fields_of(part)
        for each in items_of(part.get("embeddedObjects")):
            writer.block(_embedded(fields_of(each), show))
        if words := text_of(part.get("text")):
            writer.text(words, fields_of(part.get("attributes")))
    return writer.all()


class _Writer:
    """Writes one text; what a line is, is known from its first part."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line = ""
        self._kind: dict[str, Any] = {}
        self._numbers: dict[int, int] = {}
        self._is_code = False

    def text(self, text: str, attributes: dict[str, Any]) -> None:
        kind = fields_of(attributes.get("line"))
        for number, part in enumerate(text.split("\n")):
            if number:
                self._end()
            if part:
                self._kind = kind or self._kind
                self._line += part if self._kind.get("codeBlock") else _marked(part, attributes)
            elif number == 0:
                self._kind = kind or self._kind

    def block(self, text: str) -> None:
        if text:
            if self._line:
                self._end()
            self._code(is_on=False)
            self._lines += ["", text, ""] if self._lines else [text, ""]

    def all(self) -> str:
        if self._line:
            self._end()
        self._code(is_on=False)
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip()

    def _end(self) -> None:
        line, kind = self._line, self._kind
        self._line, self._kind = "", {}
        self._code(is_on=bool(kind.get("codeBlock")))
        if kind.get("codeBlock"):
            self._lines.append(line)
            return
        before, style, header = "", kind.get("listStyle"), kind.get("header")
        depth = kind.get("indentLevel")
        depth = min(max(depth - 1, 0), _DEEPEST) if isinstance(depth, int) else 0
        if style == "numbered":
            self._numbers[depth] = self._numbers.get(depth, 0) + 1
            before = f"{'   ' * depth}{self._numbers[depth]}. "
        else:
            self._numbers.clear()
        if style == "bulleted":
            before = f"{'  ' * depth}- "
        elif style == "checkbox":
            before = f"{'  ' * depth}- [{'x' if kind.get('checked') is True else ' '}] "
        elif kind.get("quote") is True:
            before = "> "
        elif isinstance(header, int) and 1 <= header <= 6:
            before = "#" * header + " "
        self._lines.append(before + line)

    def _code(self, *, is_on: bool) -> None:
        if is_on != self._is_code:
            self._lines.append("```")
            self._is_code = is_on


def _marked(text: str, attributes: dict[str, Any]) -> str:
    inner = text.strip()
    if not inner:
        return text
    marked = inner
    for name, mark in _MARKS:
        if attributes.get(name) is True:
            marked = f"{mark}{marked}{mark}"
    if attributes.get("highlightedColor"):
        marked = f"=={marked}=="
    link = text_of(attributes.get("linkURL"))
    if re.fullmatch(r"(?:https?|mailto|dayone2?):[^\s()<>]{1,2000}", link):
        marked = f"[{marked}]({link})"
    start = text.index(inner)
    return f"{text[:start]}{marked}{text[start + len(inner) :]}"


def _embedded(value: dict[str, Any], show: Show) -> str:
    kind = text_of(value.get("type"))
    if kind == "horizontalLineRule":
        return "---"
    if kind == "table":
        return text_of(value.get("markdown"))
    if kind == "renderableCodeBlock":
        return f"```\n{text_of(value.get('contents'))}\n```"
    if kind in ("externalVideo", "externalAudio", "preview"):
        link = text_of(value.get("url"))
        return link if re.fullmatch(r"https?:[^\s()<>]{1,2000}", link) else ""
    return show(kind, text_of(value.get("identifier")))
