"""The syntax tree of a command line, checked for everything in which the grammar and the shell may differ."""

import re
from functools import cache
from typing import TYPE_CHECKING

from parachute.permissions.words import Unparsable

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

SIZE_LIMIT = 64 * 1024
DEPTH_LIMIT = 90
# The parser needs time by the square of such letters when they make no sense: a quarter of a second for this many.
OPERATOR_LIMIT = 10_000

_SUSPECTS = frozenset({"comment", "word", "simple_expansion", "number", "variable_name", "$"})

# An escaped character; escaped line ends are taken out.
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_OPERATORS = re.compile(r"[<>&|;(){}$`\"'\\]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufeff]")
# A line that ends in a backslash and may hold a comment, in which the backslash joins nothing.
_JOINED_COMMENT = re.compile(r"(?m)(?:^|[ \t;&|()])#.*\\$")
_VARIABLE = re.compile(rb"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9*@#?!$_-])")


@cache
def _parser() -> "tuple[type[Parser], Language]":
    # Loaded at the first use: the grammar costs start-up time that most commands of the program never need.
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser, tree_sitter.Language(tree_sitter_bash.language())


def tree_of(source: str) -> "Node":
    """Return the root of the tree; `Unparsable` for what is too long, too deep, or not understood completely."""
    if len(source) > SIZE_LIMIT or len(encoded := source.encode("utf-8", "surrogatepass")) > SIZE_LIMIT:
        raise Unparsable(
            f"The command line is longer than {SIZE_LIMIT // 1024} KiB.", "Write a script to a file and run that."
        )
    if _CONTROL.search(source):
        raise Unparsable(
            "The command line contains control characters.", "Use only visible characters, spaces and line ends."
        )
    if len(_OPERATORS.findall(source)) > OPERATOR_LIMIT:
        raise Unparsable("The command line has too many quotes and operators.", "Write long texts with the Write tool.")
    if "\\\n" in source:
        encoded = _join_lines(source).encode()
    parser, language = _parser()
    # A parser of its own for each line: a shared one is not safe between threads.
    root = parser(language).parse(encoded).root_node
    if root.has_error:
        raise Unparsable(
            "The command line cannot be understood.", "Check its quotes and brackets, or run it in simpler parts."
        )
    _check(root)
    return root


def _join_lines(source: str) -> str:
    """Return the source with the lines joined that the shell joins; the grammar would take one word there for two."""
    if _JOINED_COMMENT.search(source):
        raise Unparsable("A comment in the command line ends in a backslash.", "Leave the comment out.")
    return _ESCAPED.sub(lambda found: "" if found[1] == "\n" else found[0], source)


def _check_node(node: "Node", before: bytes, after: bytes) -> None:
    """Raise for a comment, word or variable that the shell would read in another way."""
    text = node.text or b""
    if node.type == "comment":
        if before and before[-1] not in b" \t\n;&|()":
            raise Unparsable("The command line has a '#' that may or may not begin a comment.", "Put it in quotes.")
    elif node.type == "simple_expansion":
        if not _VARIABLE.fullmatch(text):
            raise Unparsable("The command line has a '$' that may or may not name a variable.", "Put it in quotes.")
    elif node.type == "$":
        # The grammar takes a variable behind other text for a lone '$' and another word.
        lone = node.parent is None or node.parent.type not in {"simple_expansion", "translated_string"}
        if lone and (after.isalnum() or after in {b"_", b"@", b"*", b"#", b"?", b"!", b"-", b"$", b"{", b"("}):
            raise Unparsable("The command line has a variable that cannot be told from its text.", "Write it as ${1}.")
    elif b"\n" in text:
        raise Unparsable(
            "The command line has a word that may or may not end with its line.", "Run it in simpler parts."
        )


def _check(root: "Node") -> None:
    """Raise for a tree that is too deep, or in which the grammar and the shell may differ."""
    source = root.text or b""
    cursor = root.walk()
    depth = 0
    while True:
        node = cursor.node
        if node is not None and node.type in _SUSPECTS:
            start, end = node.start_byte - root.start_byte, node.end_byte - root.start_byte
            _check_node(node, source[max(start - 1, 0) : start], source[end : end + 1])
        if cursor.goto_first_child():
            depth += 1
            if depth > DEPTH_LIMIT:
                raise Unparsable("The command line is nested too deeply.", "Run it in simpler parts.")
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1
