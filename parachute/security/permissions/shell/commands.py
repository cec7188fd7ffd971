"""A command line as a flat list of the simple commands that it would run."""

import re
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from msgspec import Struct

from parachute.security.permissions.models import Access
from parachute.security.permissions.shell import parse
from parachute.security.permissions.shell.parse import (
    UNKNOWN,
    WORD_TYPES,
    Unreadable,
    Word,
    nodes_of,
    source_of,
    word_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

COMMAND_LIMIT, WORD_LIMIT = 4096, 8192
# Scripts inside scripts (`bash -c "bash -c ..."`).
NESTING_LIMIT = 8

SHELLS = frozenset({"sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh"})
WRAPPERS = frozenset({"env", "nohup", "nice", "time", "timeout", "xargs", "command", "builtin", "exec", "setsid"})
# The words of their own, each with a NUL: options that mean the same to all wrappers, some with a value, and assignments.
_WRAPPERS_OWN = re.compile(
    r"((-[0cilprtvVx]*(\d+|[nksuIdELP]\0?[^\0]*)?|--(foreground|preserve-status|null|no-run-if-empty)?|[A-Za-z_]\w*=[^\0]*)\0)*"
)
_SHELLS_OWN = re.compile(r"([-+]([a-np-zA-NP-Z]+|[a-zA-Z]*[oO][a-np-zA-NP-Z]*\0[^\0]*)\0)*")
# They start programs in ways that are not read here, or make a name mean another program.
_OPAQUE = re.compile(
    r"parallel|setarch|linux(32|64)|nsenter|unshare|chroot|systemd-run|script|expect|firejail|bwrap|capsh|setpriv|flock"
    r"|watch|[sl]trace|gdb|ionice|chrt|taskset|stdbuf|caffeinate|busybox|toybox|tmux|screen|at|batch"
    r"|alias|coproc|hash|compgen|enable|jobs|fc"
)
# The shell runs what stands in a subscript when it counts with a variable that holds it: `x='a[$(id)]'; echo $((x))`.
_HIDDEN = re.compile(r"\[[^\]]*(\$\(|`)")
# The shell reads them in places of their own; as the name of a command they show a line that the grammar misread.
_RESERVED = re.compile(r"if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|[{}!]|\[\[|\]\]")


class SimpleCommand(Struct, frozen=True):
    """One program with its arguments as written; `program` is empty where only assignments or a redirect stand.

    `wrapper`: everything it starts stands in the list as well, and of its arguments only those before that.
    """

    program: str
    arguments: tuple[Word, ...] = ()
    assignments: tuple[tuple[str, Word], ...] = ()
    redirect: tuple[Access, Word] | None = None
    wrapper: bool = False

    @property
    def name(self) -> str:
        """Return the last part of the program without case."""
        return self.program.rpartition("/")[2].lower()


class CommandLine:
    """The simple commands of a line; `unknown` says why what it runs is only known when it runs.

    `folders` are the words behind its `cd`, `functions` the names of the commands in each function.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.commands, self.unknown = list[SimpleCommand](), list[str]()
        self.folders, self.functions = list[Word](), dict[str, set[str]]()
        self._multiplies = False
        self._read(source, NESTING_LIMIT)

    @property
    def is_fork_bomb(self) -> bool:
        """Return whether its functions call themselves while they run several things at once."""
        try:
            TopologicalSorter(self.functions).prepare()
        except CycleError:
            return self._multiplies
        return False

    def _read(self, source: str, levels: int) -> None:
        if levels == 0:
            raise Unreadable("The command line nests scripts too deeply.", "Run the inner command directly.")
        self._walk(parse.tree_of(source), levels)

    def _walk(self, node: "Node", levels: int) -> None:
        start = len(self.commands)
        match node.type:
            case "command" | "declaration_command" | "unset_command":
                self._command(node, levels)
            case "variable_assignment" if node.parent is None or node.parent.type != "command":
                self._add(SimpleCommand("", assignments=tuple(_assigned(node))))
            case "for_statement" | "herestring_redirect":
                words = node.children_by_field_name("value") or node.named_children
                self._add(SimpleCommand("<<<", tuple(map(word_of, words))))
            case "file_redirect":
                self._redirect(node)
            case "heredoc_redirect" if node.child_by_field_name("argument"):
                self.unknown.append("Words stand behind a here-document: put it at the end.")
            case "expansion" if "@P" in source_of(node):
                self.unknown.append("'@P' runs the text in a variable: write the command out.")
        for child in node.named_children:
            self._walk(child, levels)
        if node.type == "function_definition":
            name = source_of(node.named_children[0])
            self.functions.setdefault(name, set()).update(one.program for one in self.commands[start:])
            several = {"pipeline", "&", "command_substitution", "process_substitution"}
            self._multiplies |= any(found.type in several for found in nodes_of(node))

    def _redirect(self, node: "Node") -> None:
        operator = next((child.type for child in node.children if not child.is_named), ">")
        words = [word_of(target) for target in node.children_by_field_name("destination")]
        if len(words) > 1:
            # The grammar takes them for further files, and does not say of which command they are arguments.
            self.unknown.append("Words stand behind a redirect: put it at the end.")
        access = Access.READ if operator in {"<", "<&"} else Access.WRITE
        for word in words:
            if operator not in {">&", "<&"} or not word.text.rstrip("-").isdigit():
                self._add(SimpleCommand("", redirect=(access, word)))

    def _command(self, node: "Node", levels: int) -> None:
        words = [] if node.type == "command" else [Word(source_of(node.children[0]))]
        assigned, end = list[tuple[str, Word]](), -1
        for child in node.named_children:
            if child.start_byte == end and child.type in WORD_TYPES:
                raise Unreadable("A word of the command line cannot be told from the next.", "Put it in quotes.")
            end = child.end_byte if child.type in WORD_TYPES else -1
            if child.type == "variable_assignment":
                assigned += _assigned(child) if node.type == "command" else []
            elif not child.type.endswith("_redirect"):
                words.append(word_of(child))
        self._run(words, levels, assigned)

    def _add(self, command: SimpleCommand) -> None:
        if len(self.commands) >= COMMAND_LIMIT or len(command.arguments) > WORD_LIMIT:
            raise Unreadable("The command line has too many commands or words.", "Run it in parts.")
        if any(_HIDDEN.search(word.text) for word in (*command.arguments, *(word for _, word in command.assignments))):
            self.unknown.append("A text of the command line holds a subscript with a command: write the number out.")
        self.commands.append(command)

    def _run(self, words: Sequence[Word], levels: int, assignments: Iterable[tuple[str, Word]] = ()) -> None:
        """Add one simple command, and what it starts."""
        program, arguments = words[0], words[1:]
        if program.pattern is None and _RESERVED.fullmatch(program.text):
            raise Unreadable(f"The command line has {program.text!r} in an unexpected place.", "Run it in parts.")
        if program.pattern is not None or "{}" in program.text:
            self.unknown.append("The name of a command is only known when it runs: write it out.")
        own = self._started(SimpleCommand(program.text).name, arguments, levels)
        self._add(SimpleCommand(program.text, tuple(arguments[:own]), tuple(assignments), wrapper=own is not None))

    def _started(self, name: str, arguments: Sequence[Word], levels: int) -> int | None:
        """Add what a command starts; return how many arguments are its own where all that it starts is in the list."""
        texts = [word.text for word in arguments]
        if name in {"cd", "chdir", "pushd", "popd"}:
            self.folders.extend(arguments or [Word("~")])
        elif name in WRAPPERS:
            return self._wrapper(name, arguments, levels)
        elif name in SHELLS:
            return self._shell(name, arguments, _own(_SHELLS_OWN, arguments), levels)
        elif name in {"eval", "trap"}:
            words = [word for word in arguments if word.text not in {"-", "--"}]
            return self._script(name, words[:1] if name == "trap" else words, levels)
        elif name in {"source", "."}:
            self._file(name, [word for word in arguments if word.text != "--"], levels)
        elif name == "find":
            for start in (place for place, text in enumerate(texts) if re.fullmatch(r"-(exec|ok)(dir)?", text)):
                end = next((place for place in range(start, len(texts)) if texts[place] in {";", "+"}), len(texts))
                if end > start + 1:
                    self._run(arguments[start + 1 : end], levels)
        elif _OPAQUE.fullmatch(name) or (name in {"mapfile", "readarray"} and any("C" in text for text in texts)):
            self.unknown.append(f"What {name!r} starts is not read here: start that program directly.")
        return None

    def _script(self, name: str, words: Sequence[Word], levels: int) -> int:
        if all(word.pattern is None for word in words):
            self._read(" ".join(word.text for word in words), levels - 1)
        else:
            self.unknown.append(f"The commands for {name!r} are only known when it runs: write them out.")
        return 0

    def _file(self, name: str, words: Sequence[Word], levels: int) -> None:
        if not words or words[0].pattern is not None or re.match("-|/dev/(fd|stdin)|/proc/", words[0].text):
            self.unknown.append(
                f"What {name!r} runs is only known when it runs: name a file, or write the commands behind -c."
            )
        else:
            # The shell finds a script like a program.
            self._run(words, levels)

    def _shell(self, name: str, arguments: Sequence[Word], own: str, levels: int) -> int | None:
        position = own.count("\0")
        # With `s` it reads from the standard input.
        known = all(word.pattern is None for word in arguments[:position]) and not re.search(r"[-+]\w*s\w*\0", own)
        operands = arguments[position:] if known else ()
        if re.search(r"[-+]\w*c\w*\0", own) and operands and operands[0].text[:1] not in {"-", "+"}:
            return self._script(name, operands[:1], levels)
        self._file(name, operands, levels)
        return None

    def _wrapper(self, name: str, arguments: Sequence[Word], levels: int) -> int | None:
        count = _own(_WRAPPERS_OWN, arguments).count("\0")
        position = count + (name == "timeout")
        inner, values = list(arguments[position:]), [word.text for word in arguments[:position]]
        options = any(word.text[:1] == "-" for word in arguments[count : position + 1])
        if options or any(word.pattern is not None for word in arguments[: position + 1]):
            self.unknown.append(
                f"What {name!r} starts is only known when it runs: write the command out, without unusual options."
            )
            return None
        if name == "xargs":
            # What it reads stands behind the words, or in place of the mark that an option names.
            marks = {re.sub(r"^-[0-9a-z]*[A-Z]?", "", value) for value in values} - {""} | {"{}"}
            read = Word("", UNKNOWN, True)
            words = inner or [Word("echo")]
            inner = [read if any(mark in word.text for mark in marks) else word for word in words] + [read]
        if inner and not (name == "command" and re.match("-[cilprtx]*[vV]", "".join(values[:1]))):
            pairs = [value.partition("=") for value in values if value[:1] != "-"]
            self._run(inner, levels, [(label, Word(value)) for label, equals, value in pairs if equals])
        return position


def _own(expression: re.Pattern[str], arguments: Sequence[Word]) -> str:
    found = expression.match("".join(f"{word.text}\0" for word in arguments))
    return found[0] if found else ""


def _assigned(node: "Node") -> list[tuple[str, Word]]:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    label = source_of(name).partition("[")[0]
    values = value.named_children if value and value.type == "array" else [value] if value else []
    return [(label, word_of(one)) for one in values] or [(label, Word(""))]
