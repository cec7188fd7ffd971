"""Here-documents, where the grammar and the shell differ most: their end, and what the shell fills in."""

import re
from typing import TYPE_CHECKING

from parachute.permissions.words import Unparsable

if TYPE_CHECKING:
    from tree_sitter import Node

_MARK = re.compile(r"""'([^'\\]+)'|"([^"\\$`]+)"|\\?([A-Za-z0-9_.-]+)""")
_BACKTICKS = re.compile(r"(?<!\\)`((?:[^`\\]|\\.)*)(`?)", re.DOTALL)
_OPENINGS = re.compile(r"(?<!\\)\$\(")
_SPECIAL = re.compile(r"[$`\\]")


def text_of(node: "Node", root: "Node") -> tuple[str | None, list[str]]:
    """Return the text of a here-document and the commands in its backticks.

    The text is None when the shell fills in parts of it. `Unparsable` when the shell would see another end of the document.
    """
    parts = {child.type: child for child in node.named_children}
    start, body, end = parts.get("heredoc_start"), parts.get("heredoc_body"), parts.get("heredoc_end")
    mark = _MARK.fullmatch(_text(start)) if start is not None else None
    if start is None or end is None or mark is None:
        raise Unparsable("A here-document in the command line has no readable end mark.", "Use <<'EOF' and a line EOF.")
    word = mark[1] or mark[2] or mark[3]
    tabs = any(child.type == "<<-" for child in node.children)
    text = _text(body) if body is not None else ""
    source = root.text or b""
    line_start = source.rfind(b"\n", 0, end.start_byte - root.start_byte) + 1
    line = source[line_start:].split(b"\n", 1)[0].decode("utf-8", "surrogateescape")
    lines = [entry.lstrip("\t") if tabs else entry for entry in text.split("\n")]
    # The part of the body on the line of the end mark is only its tabs.
    if (line.lstrip("\t") if tabs else line) != word or word in lines[:-1] or lines[-1]:
        raise Unparsable(f"The end {word!r} of a here-document cannot be told.", "Put it on a line of its own.")
    text = "\n".join(lines)
    if start.text is not None and start.text[:1] in b"'\"\\":
        return text, []
    if len(_OPENINGS.findall(text)) > (_substitutions(body) if body is not None else 0):
        raise Unparsable("A here-document contains a substitution that cannot be read.", "Quote its end mark: <<'EOF'.")
    commands: list[str] = []
    # The grammar reads `...` in here-documents as text; the shell runs it.
    for found in _BACKTICKS.finditer(text):
        if not found[2]:
            raise Unparsable("A here-document contains a single '`'.", "Quote its end mark: <<'EOF'.")
        commands.append(re.sub(r"\\([\\`$])", r"\1", found[1]))
    return (None if _SPECIAL.search(text) else text), commands


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")


def _substitutions(node: "Node") -> int:
    own = node.type in {"command_substitution", "arithmetic_expansion"}
    return own + sum(_substitutions(child) for child in node.named_children)
