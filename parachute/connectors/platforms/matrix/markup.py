"""Markdown as what Matrix shows of HTML: few elements, hardly an attribute, and never what was written as HTML."""

import html
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token

from parachute.connectors.platforms.models import Button

_ATTRIBUTES = frozenset((("a", "href"), ("ol", "start")))
_SCHEMES = ("http://", "https://", "mailto:", "matrix:")


def formatted(markdown: str) -> str:
    """Render a text."""
    parser = _parser()
    tokens = parser.parse(markdown)
    _strip(tokens)
    rendered: str = parser.renderer.render(tokens, parser.options, {})
    return rendered.strip()


def with_choices(markdown: str, buttons: Sequence[Button], how: str) -> tuple[str, str]:
    """The plain text and the HTML of a message; below it numbered what may be answered, and how."""
    plain, rendered = markdown, formatted(markdown)
    if buttons:
        labels = [" ".join(button.label.split()) for button in buttons]
        numbered = "\n".join(f"{number}. {label}" for number, label in enumerate(labels, 1))
        items = "".join(f"<li>{html.escape(label)}</li>" for label in labels)
        plain = f"{plain}\n\n{numbered}\n\n{how}"
        rendered = f"{rendered}\n<ol>{items}</ol>\n<p>{html.escape(how)}</p>"
    return plain, rendered


def is_plain(markdown: str, rendered: str) -> bool:
    """True if nothing of a text is more than text."""
    return rendered == f"<p>{escapeHtml(markdown)}</p>"


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: url.strip().lower().startswith(_SCHEMES)  # type: ignore[method-assign]
    # A picture from elsewhere would be loaded by whoever reads it.
    parser.add_render_rule("image", _image)
    return parser


def _image(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    return escapeHtml(token.content or str(token.attrGet("src") or ""))


def _strip(tokens: Iterable[Token]) -> None:
    for token in tokens:
        if token.type != "image":
            token.attrs = {name: value for name, value in token.attrs.items() if (token.tag, name) in _ATTRIBUTES}
        _strip(token.children or ())
