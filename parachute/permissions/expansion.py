"""From the nodes of the syntax tree to words: quotes, variables with known values, and simple substitutions."""

import re
from typing import TYPE_CHECKING

from parachute.permissions.script import State
from parachute.permissions.words import (
    UNKNOWN,
    WORD_LIMIT,
    Kind,
    Pieces,
    Unparsable,
    Word,
    bare_pieces,
    expand_braces,
    expand_tilde,
    to_word,
    unescape,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_STRING_ESCAPES = re.compile(r'\\([$`"\\\n])')
_DEFAULTS = frozenset({":-", "-", ":=", "=", ":+", "+"})
_COUNTERS = frozenset({"?", "#", "$", "!"})
_DYNAMIC = frozenset({"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"})
_FORMAT = re.compile(r"%(.)")


def source_of(node: "Node") -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode("utf-8", "surrogateescape")


def is_dynamic(node: "Node") -> bool:
    """Return whether the word contains anything that the shell fills in from elsewhere."""
    return node.type in _DYNAMIC or any(is_dynamic(child) for child in node.named_children)


def words_of(node: "Node", state: State) -> list[Word]:
    """Return the words that one word of the source becomes; several when braces or variables make several."""
    alternatives = expand(node, state, quoted=False)
    words = [pieces for alternative in alternatives for pieces in expand_braces(alternative)]
    _limit(words)
    # A variable outside of quotes may be several words or none, also when its value seems known: its assignment may not run.
    shifts = is_dynamic(node) and (node.type != "string" or len(alternatives) != 1)
    return [to_word(expand_tilde(pieces, state.home, state.folders[0]), shifts) for pieces in words]


def value_of(node: "Node | None", state: State) -> list[Pieces]:
    """Return the values that an assignment may give, before any splitting."""
    if node is None:
        return [()]
    if node.type == "array":
        return [pieces for child in node.named_children for pieces in expand(child, state, quoted=False)]
    return [
        expand_tilde(pieces, state.home, state.folders[0]) for pieces in expand(node, state, quoted=True, outer=True)
    ]


def expand(node: "Node", state: State, quoted: bool, outer: bool = False) -> list[Pieces]:
    """Return the alternatives of a word as pieces.

    `quoted` keeps the value of a variable in one piece; `outer` says that the word itself is nevertheless not in quotes.
    """
    match node.type:
        case "word" | "number" | "regex" | "brace_expression" | "extglob_pattern":
            text = source_of(node)
            return [((Kind.QUOTED, text),)] if quoted and not outer else [tuple(bare_pieces(text))]
        case "raw_string":
            return [((Kind.QUOTED, source_of(node)[1:-1]),)]
        case "ansi_c_string":
            return [((Kind.QUOTED, unescape(source_of(node)[2:-1])),)]
        case "string" | "translated_string":
            return _string(node, state)
        case "concatenation" | "command_name":
            return _product([expand(child, state, quoted, outer) for child in node.children])
        case "simple_expansion":
            return _variable(source_of(node)[1:], state, quoted)
        case "expansion":
            return _expansion(node, state, quoted)
        case "command_substitution":
            printed = output_of(node, state)
            return [(UNKNOWN,)] if printed is None else _value(((Kind.BARE, printed.rstrip("\n")),), quoted)
        case "process_substitution":
            return [((Kind.QUOTED, "/dev/fd/63"),)]
        case "$" | '"':
            return [((Kind.QUOTED, "$" if node.type == "$" else ""),)]
        case _:
            return [(UNKNOWN,)]


def _product(parts: list[list[Pieces]]) -> list[Pieces]:
    results: list[Pieces] = [()]
    for alternatives in parts:
        results = [(*result, *alternative) for result in results for alternative in alternatives]
        _limit(results)
    return results


def _limit(words: list[Pieces]) -> None:
    if len(words) > WORD_LIMIT:
        raise Unparsable("A word of the command line stands for too many words.", "Write the words out.")


def _string(node: "Node", state: State) -> list[Pieces]:
    if node.type == "translated_string":
        return _product([_string(child, state) for child in node.named_children])
    raw = node.text or b""
    parts: list[list[Pieces]] = []
    position = 1

    def literal(start: int, end: int) -> None:
        text = raw[start:end].decode("utf-8", "surrogateescape")
        text = _STRING_ESCAPES.sub(lambda found: "" if found[1] == "\n" else found[1], text)
        parts.append([((Kind.QUOTED, text),)])

    # White space between two expansions belongs to no node, so everything between the expansions is taken from the source.
    for child in node.named_children:
        if child.type == "string_content":
            continue
        start = child.start_byte - node.start_byte
        literal(position, start)
        parts.append(expand(child, state, quoted=True))
        position = child.end_byte - node.start_byte
    literal(position, len(raw) - 1)
    return _product(parts)


def _value(value: Pieces, quoted: bool) -> list[Pieces]:
    """Return what a known value becomes where it is used: one piece in quotes, else split at white space."""
    if any(kind is Kind.UNKNOWN for kind, _ in value):
        return [value]
    if quoted:
        return [((Kind.QUOTED, "".join(text for _, text in value)),)]
    pieces: list[Pieces] = []
    for word in "".join(text for _, text in value).split():
        pieces.append(((Kind.BARE, word),))
    return pieces or [((Kind.BARE, ""),)]


def _variable(name: str, state: State, quoted: bool) -> list[Pieces]:
    if name in _COUNTERS:
        return [((Kind.QUOTED, "0"),)]
    values = list(state.variables.get(name, ()))
    if name == "HOME":
        values.append(((Kind.QUOTED, state.user_home),))
    elif name == "PWD" and not state.lost:
        values.extend(((Kind.QUOTED, folder),) for folder in state.folders)
    if not values:
        return [(UNKNOWN,)]
    used = list(dict.fromkeys(pieces for value in values for pieces in _value(value, quoted)))
    _limit(used)
    return used


def _expansion(node: "Node", state: State, quoted: bool) -> list[Pieces]:
    children = node.children[1:-1]
    if not children or children[0].type not in {"variable_name", "special_variable_name"}:
        return [(UNKNOWN,)]
    name = source_of(children[0])
    if len(children) == 1:
        return _variable(name, state, quoted)
    if children[1].type not in _DEFAULTS:
        return [(UNKNOWN,)]
    defaults = _product([expand(child, state, quoted) for child in children[2:]]) if len(children) > 2 else [()]
    known = _variable(name, state, quoted)
    if children[1].type in {":=", "="}:
        for default in defaults:
            state.assign(name, default)
    # Whatever the variable holds from outside stays possible, too.
    return list(dict.fromkeys([*defaults, *known]))


def output_of(node: "Node", state: State) -> str | None:
    """Return what a command prints when that can be told from its text: echo, printf, pwd, mktemp; else None."""
    if node.type in {"command_substitution", "pipeline"}:
        children = node.named_children
        if len(children) == 1:
            return output_of(children[0], state)
        return None
    if node.type != "command" or any(child.type not in WORD_TYPES for child in node.named_children):
        return None
    words = [word for child in node.named_children for word in words_of(child, state)]
    if any(not word.static or word.shifts for word in words) or not words:
        return None
    name, arguments = words[0].text, [word.text for word in words[1:]]
    if name == "echo":
        return _echo(arguments)
    if name == "printf" and arguments and not arguments[0].startswith("-"):
        return _printf(arguments)
    if name == "pwd" and not arguments and not state.lost and len(state.folders) == 1:
        return state.folders[0]
    # A fresh name that nobody else has; only that it is below /tmp matters here.
    if name == "mktemp" and all(argument in {"-d", "-q", "-t", "--directory"} for argument in arguments):
        return "/tmp/mktemp.fresh"  # noqa: S108
    return None


WORD_TYPES = frozenset(
    {"command_name", "word", "number", "string", "raw_string", "ansi_c_string", "concatenation", "translated_string"}
    | _DYNAMIC
    | {"brace_expression"}
)


def _echo(arguments: list[str]) -> str | None:
    escapes = False
    while arguments and re.fullmatch(r"-[neE]+", arguments[0]):
        escapes = "e" in arguments.pop(0)
    text = " ".join(arguments) + "\n"
    if escapes:
        return unescape(text)
    # dash's echo always replaces escapes, bash's only with -e: which of them runs is not known here.
    return None if "\\" in text else text


def _printf(arguments: list[str]) -> str | None:
    template, values = unescape(arguments[0]), list(arguments[1:])
    if any(found[1] not in "sbdq%" for found in _FORMAT.finditer(template)):
        return None
    takes = any(found[1] != "%" for found in _FORMAT.finditer(template))
    printed = ""
    while True:
        printed += _FORMAT.sub(
            lambda found: "%" if found[1] == "%" else unescape(values.pop(0)) if values else "", template
        )
        if not values or not takes:
            return printed
