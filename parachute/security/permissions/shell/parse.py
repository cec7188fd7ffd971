"""The syntax tree of a command line, refused wherever the grammar and the shell may differ, and its words."""

import glob
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from parachute.base.errors import NotAllowed

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

SIZE_LIMIT = 64 * 1024
DEPTH_LIMIT = 90
# The parser needs time by the square of such letters when they make no sense: a quarter of a second for this many.
OPERATOR_LIMIT = 10_000

# Escapes that Python reads as the shell does, and no NUL, which ends a word.
_ANSI_C = re.compile(
    r"\$'(?!.*\\(x00|000|u0000|U0{8}))([^\\]|\\([abefnrtvE\\'\"]|x[0-9a-fA-F]{2}|[0-3][0-7]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}))*'",
    re.DOTALL,
)
_HEREDOC = re.compile(r"""<<(-?)\s*(['"\\]?)([A-Za-z0-9_.-]+)\2?(?=[\s|&;<>)]|$)""")
WORD_TYPES = frozenset(
    {"command_name", "word", "number", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation"}
    | {"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion", "brace_expression"}
)
_OPERATORS = re.compile(r"[<>&|;(){}$`\"'\\]")
# Braces that stand for more words than a person or an agent writes by hand.
_MANY = re.compile(r"\{-?\d*\.\.-?\d{5}|(?:\{[^{}\s]{0,80}\}){9}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufeff]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
# A line that ends in a backslash and may hold a comment, in which the backslash joins nothing.
_JOINED_COMMENT = re.compile(r"(?m)(?:^|[ \t;&|()])#.*\\$")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9*@#?!$_-])")
_SUBSTITUTION = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$\()")
_LITERAL = frozenset({"$", "word", "number", "regex", "variable_name", "test_operator"})
_BARE = re.compile(r"\\(.?)|([^\\]+)", re.DOTALL)
_STRING_ESCAPE = re.compile(r'\\([$`"\\\n])')
# In a pattern, what is only known when the line runs; and bare braces, which with a comma or dots make several words.
UNKNOWN = "\0"
_BRACES = re.compile("\1.*(,|[.][.]).*\2", re.DOTALL)
_BRACE, _NO_BRACE = str.maketrans("{}", "\1\2"), str.maketrans("\1\2", "{}")


class Unreadable(NotAllowed):
    """The command line cannot be read completely, so it does not run."""

    key = "unreadable_command"


def _parser() -> "Parser":
    # Imported at the first use: the grammar costs start-up time that most commands of the program never need.
    import tree_sitter
    import tree_sitter_bash

    # A new one for each line: a shared one is not safe between threads.
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def source_of(node: "Node | None") -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode("utf-8", "surrogateescape") if node else ""


def nodes_of(node: "Node", depth: int = 0) -> "Iterator[Node]":
    """Yield a node and everything below it."""
    if depth > DEPTH_LIMIT:
        raise Unreadable("The command line is nested too deeply.", "Run it in parts.")
    yield node
    for child in node.children:
        yield from nodes_of(child, depth + 1)


def tree_of(source: str) -> "Node":
    """Return the root of the tree; `Unreadable` for what is too long, too deep, or not understood completely."""
    size = len(source.encode("utf-8", "surrogatepass"))
    if size > SIZE_LIMIT or len(_OPERATORS.findall(source)) > OPERATOR_LIMIT or _MANY.search(source):
        raise Unreadable("The command line is too long.", "Write a script to a file and run that.")
    if _CONTROL.search(source) or ("\\\n" in source and _JOINED_COMMENT.search(source)):
        raise Unreadable("The command line holds control characters, or a comment that ends in a backslash.")
    # The shell joins lines that end in a backslash; the grammar would take one word there for two.
    source = _ESCAPED.sub(lambda found: "" if found[1] == "\n" else found[0], source)
    text = source.encode()
    root = _parser().parse(text).root_node
    if root.has_error:
        raise Unreadable("The command line cannot be understood.", "Check its quotes and brackets, or run it in parts.")
    for node in nodes_of(root):
        if not _agreed(node, text):
            shown = source_of(node)[:40]
            raise Unreadable(f"The command line has {shown!r} in a place that can be read in two ways.", "Quote it.")
    return root


def _agreed(node: "Node", source: bytes) -> bool:
    """Return whether the shell reads a comment, word, variable or here-document as the grammar does."""
    text, after = source_of(node), source[node.end_byte : node.end_byte + 1].decode("latin-1")
    match node.type:
        case "comment":
            return source[max(node.start_byte - 1, 0) : node.start_byte] in b" \t\n;&|()"
        case "simple_expansion":
            return _VARIABLE.fullmatch(text) is not None
        case "$":
            # The grammar takes a variable behind other text for a lone '$' and another word.
            lone = node.parent is None or node.parent.type not in {"simple_expansion", "translated_string"}
            return not lone or not (after.isalnum() or after in tuple("_@*#?!-${("))
        case "word" | "number" | "variable_name":
            return "\n" not in text and not _SUBSTITUTION.search(text)
        case "string_content" | "regex" | "extglob_pattern":
            return not _SUBSTITUTION.search(text)
        case "command_substitution":
            # Behind a backslash the grammar takes a substitution in backticks for text.
            return not (text.startswith("`") and "\\" in text)
        case "ansi_c_string":
            return _ANSI_C.fullmatch(text) is not None
        case "heredoc_redirect":
            return _same_heredoc(node, after)
    return True


def _same_heredoc(node: "Node", after: str) -> bool:
    """Return whether the shell sees the same end of a here-document, and runs nothing in it that the grammar does not."""
    first, *body, last = source_of(node).split("\n")
    mark = _HEREDOC.match(first)
    if mark is None or after not in {"", "\n"}:
        return False
    lines = [line.lstrip("\t") if mark[1] else line for line in [*body, last]]
    seen = sum(found.type in {"command_substitution", "arithmetic_expansion"} for found in nodes_of(node))
    runs = 0 if mark[2] else len(_SUBSTITUTION.findall("\n".join(body)))
    return lines[-1] == mark[3] and mark[3] not in lines[:-1] and runs <= seen


class Word(Struct, frozen=True):
    """One argument; a literal one has no pattern, and the shell passes exactly its `text`.

    `text` is without what is only known when the line runs. `pattern` is the shell pattern of the word with literals
    escaped as `[*]`, and with NUL for what is unknown. `splits`: it may become several words, or none.
    """

    text: str
    pattern: str | None = None
    splits: bool = False

    @property
    def unknown(self) -> bool:
        """Return whether a part of it is only known when the line runs."""
        return UNKNOWN in (self.pattern or "")

    @property
    def leads(self) -> bool:
        """Return whether its first letters are unknown, so that it may be an option or any path."""
        return (self.pattern or "").startswith(UNKNOWN)


def word_of(node: "Node") -> Word:
    """Return the word of a node: `x'*'*` has the text `x**` and the pattern `x[*]*`."""
    text, pattern = ("".join(parts) for parts in zip(("", ""), *_pieces(node), strict=True))
    pattern = _BRACES.sub(UNKNOWN, pattern).translate(_NO_BRACE)
    if pattern == glob.escape(text):
        return Word(text)
    one = node.type == "string" and "@" not in source_of(node)
    return Word(text, pattern, UNKNOWN in pattern and not one)


def _pieces(node: "Node") -> Iterator[tuple[str, str]]:
    """Yield the parts of a word: the text, and the pattern."""
    text = source_of(node)
    match node.type:
        case kind if kind in _LITERAL:
            for escaped, bare in _BARE.findall(text):
                yield escaped + bare, glob.escape(escaped) + bare.translate(_BRACE)
        case "raw_string":
            yield text[1:-1], glob.escape(text[1:-1])
        case "ansi_c_string":
            plain = _ESCAPED.sub(lambda found: r"\x1b" if found[1] in "eE" else found[0], text[2:-1])
            plain = plain.encode("latin-1", "backslashreplace").decode("unicode_escape")
            yield plain, glob.escape(plain)
        case "string":
            # White space between two expansions belongs to no node, so it is taken from the source.
            raw, position = node.text or b"", 1
            for child in [*(one for one in node.named_children if one.type != "string_content"), None]:
                plain = raw[position : child.start_byte - node.start_byte if child else -1].decode(
                    "utf-8", "surrogateescape"
                )
                plain = _STRING_ESCAPE.sub(r"\1", plain)
                yield plain, glob.escape(plain)
                if child:
                    position = child.end_byte - node.start_byte
                    yield from _pieces(child)
        case "concatenation" | "command_name":
            for child in node.children:
                yield from _pieces(child)
        case "expansion":
            # The text that stands for an empty variable is kept to be looked at.
            yield "".join(text for child in node.named_children[1:] for text, _ in _pieces(child)), UNKNOWN
        case _:
            yield "", UNKNOWN
