"""What a simple command starts besides itself: shells with scripts, wrappers, xargs, find -exec, traps and aliases."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from parachute.permissions.script import SimpleCommand, State, Stdin, Stream
from parachute.permissions.words import UNKNOWN, Kind, Unparsable, Word, to_word
from parachute.permissions.wrappers import OPAQUE, WRAPPERS, unwrap

SHELLS = frozenset({"sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh"})
FIND_STARTS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})

_SHELL_VALUES = frozenset({"--rcfile", "--init-file"})
_READERS = frozenset({"read", "mapfile", "readarray", "getopts", "let"})
# A part of a name that `{}` of find may become: a word that names nothing else.
FOUND = "{}"
# Text that `read` may put into a variable; longer text is no name of a file.
READ_LIMIT = 4096

Assignments = Sequence[tuple[str, Word]]
Parse = Callable[[str, Stdin], None]


class Run(Protocol):
    """Runs the words of a simple command with the assignments that stand before it."""

    def __call__(self, words: list[Word], stdin: Stdin, *, assignments: Assignments = ()) -> None: ...


class Started:
    """Follows one simple command into what it starts; `run` takes words, `parse` takes a script."""

    def __init__(self, state: State, run: Run, parse: Parse) -> None:
        self.state = state
        self.run = run
        self.parse = parse

    def follow(self, command: SimpleCommand, stdin: Stdin) -> bool:
        """Walk into what the command starts and return whether everything it does is thereby visible."""
        name, arguments = command.name, list(command.arguments)
        if name in {"cd", "chdir", "pushd", "popd"}:
            self._change_folder(name, arguments)
            return False
        self.state.arrived = None
        if name in OPAQUE:
            raise Unparsable(
                f"What '{name}' starts cannot be told from the command line.", "Start the command directly."
            )
        if name in SHELLS:
            return self._shell(name, arguments, stdin)
        if name in WRAPPERS:
            return self._wrapper(name, arguments, stdin)
        if name in {"eval", "trap", "alias"}:
            self._script(name, arguments, stdin)
            return True
        if name == "find":
            self._find(arguments)
        elif name in {"source", "."}:
            self._source(name, arguments)
        elif name == "hash" and any(word.text.startswith("-") and "p" in word.text for word in arguments):
            raise Unparsable("'hash -p' gives a program another name.", "Start the program by its path.")
        elif name in _READERS or (name == "printf" and arguments and arguments[0].text.startswith("-v")):
            for word in arguments:
                label = word.text.split("=")[0].removeprefix("-v")
                self.state.assign(label, (UNKNOWN,))
                if isinstance(stdin, str) and len(stdin) < READ_LIMIT:
                    for value in dict.fromkeys([stdin.strip("\n"), *stdin.split()]):
                        self.state.assign(label, ((Kind.BARE, value),))
        return False

    def _change_folder(self, name: str, arguments: list[Word]) -> None:
        targets = [word for word in arguments if word.text in {"-", ""} or not word.text.startswith("-")]
        if name == "popd" or (name == "pushd" and not targets):
            self.state.lost, self.state.arrived = True, None
        elif not targets:
            self.state.go(Word(self.state.user_home) if self.state.home else Word("", "*", True, True))
        for target in targets:
            self.state.go(target)

    def _shell(self, name: str, arguments: list[Word], stdin: Stdin) -> bool:
        """Read a shell's options as far as its script; a script in a file is not visible, any other must be."""
        position, script, from_stdin = 0, False, False
        while position < len(arguments):
            word = arguments[position]
            if word.leading_unknown or word.shifts:
                raise Unparsable(f"What '{name}' runs is only known when it runs.", "Write the commands out.")
            text = word.text
            if text in {"--", "-"} or len(text) < 2 or text[0] not in "-+":
                position += text in {"--", "-"}
                break
            position += 1
            if text.startswith("--"):
                position += text in _SHELL_VALUES
                continue
            script = script or "c" in text
            from_stdin = from_stdin or "s" in text
            position += sum(text.count(letter) for letter in "oO")
        operands = arguments[position:]
        if script:
            if not operands:
                return True
            self.parse(self._static(name, operands[0]), stdin)
            return True
        if operands and not from_stdin:
            first = operands[0]
            if first.leading_unknown or first.shifts or first.text.startswith(("/dev/fd/", "/dev/stdin", "/proc/")):
                raise Unparsable(f"The script of '{name}' is made while it runs.", "Write it to a file first.")
            self.run(list(operands), Stream.UNSEEN)
            return False
        if isinstance(stdin, str):
            self.parse(stdin, Stream.EMPTY)
            return True
        if stdin is Stream.UNSEEN:
            raise Unparsable(
                f"'{name}' would run commands that another program prints.", "Save them to a file and read it first."
            )
        return stdin is Stream.EMPTY

    def _static(self, name: str, word: Word) -> str:
        # Wildcards of the script are its own business, only what the outer shell fills in is not known.
        if word.unknown or word.shifts:
            raise Unparsable(
                f"The commands for '{name}' contain parts that are only known when it runs.", "Write them out."
            )
        return word.text

    def _script(self, name: str, arguments: list[Word], stdin: Stdin) -> None:
        if name == "eval":
            self.parse(" ".join(self._static(name, word) for word in arguments if word.text != "--"), stdin)
            return
        operands = [word for word in arguments if not word.text.startswith("-") or word.leading_unknown]
        if name == "trap":
            if operands:
                self.parse(self._static(name, operands[0]), Stream.EMPTY)
            return
        for word in operands:
            _, equals, value = self._static(name, word).partition("=")
            if equals:
                self.parse(value, Stream.UNSEEN)

    def _source(self, name: str, arguments: list[Word]) -> None:
        operands = [word for number, word in enumerate(arguments) if number or word.text != "--"]
        if not operands:
            return
        if operands[0].leading_unknown or operands[0].text.startswith(("/dev/fd/", "/dev/stdin", "/proc/")):
            raise Unparsable(f"The script of '{name}' is made while it runs.", "Write it to a file first.")
        # The shell finds a script like a program.
        self.run(operands, Stream.UNSEEN)

    def _wrapper(self, name: str, arguments: list[Word], stdin: Stdin) -> bool:
        split = (
            [word for word in arguments if word.text.startswith(("-S", "--split-string", "-vS"))]
            if name == "env"
            else []
        )
        if split:
            raise Unparsable("'env -S' splits a text into a command.", "Write the command out.")
        inner = unwrap(name, arguments)
        command = list(inner.command)
        if name == "command" and ("v" in inner.options or "V" in inner.options):
            return True
        saved = list(self.state.folders), self.state.lost
        for option in ("C", "chdir", "wd"):
            target = inner.options.get(option) if name == "env" or option == "wd" else None
            if target is not None:
                self.state.go(target)
        if name == "xargs":
            command = self._appended(command, inner.options, stdin)
            stdin = Stream.EMPTY
        if name == "coproc" and any(word.text in {"{", "("} for word in command):
            raise Unparsable("A named 'coproc' cannot be read.", "Start the command with '&'.")
        if name == "watch" and "x" not in inner.options and "exec" not in inner.options:
            self.parse(" ".join(self._static(name, word) for word in command), stdin)
        elif name == "flock" and command and command[0].text in {"-c", "--command"}:
            self.parse(" ".join(self._static(name, word) for word in command[1:2]), stdin)
        elif command:
            pairs = [word.text.partition("=") for word in inner.assignments]
            self.run(command, stdin, assignments=[(label.rstrip("+"), Word(value)) for label, _, value in pairs])
        if name not in {"builtin", "command", "exec"}:
            self.state.folders, self.state.lost = saved
            self.state.arrived = None
        return True

    def _appended(self, command: list[Word], options: dict[str, Word | None], stdin: Stdin) -> list[Word]:
        """Return the command of xargs with what it adds: the words on its input where they are known."""
        command = command or [Word("echo")]
        added = [to_word((UNKNOWN,))]
        if isinstance(stdin, str) and not {"a", "arg-file"} & options.keys():
            delimiter = options.get("d") or options.get("delimiter")
            text = stdin.replace("\0", " ").replace(delimiter.text, " ") if delimiter and delimiter.text else stdin
            text = text.replace("\0", " ")
            try:
                added = [Word(part) for part in shlex.split(text)]
            except ValueError:
                added = [Word(part) for part in text.split()]
        mark = next((options[name] for name in ("I", "i", "replace") if name in options), None)
        if mark is None:
            return [*command, *added]
        place = mark.text or FOUND
        return [
            replace(
                word,
                text=word.text.replace(place, one.text),
                pattern=one.pattern,
                unknown=one.unknown,
                leading_unknown=(one.leading_unknown and word.text.startswith(place)),
                shifts=False,
            )
            if place in word.text
            else word
            for word in command
            for one in (added if place in word.text else added[:1] or [Word("")])
        ]

    def _find(self, arguments: list[Word]) -> None:
        starts = find_starts(arguments)
        position = 0
        while position < len(arguments):
            if arguments[position].text not in FIND_STARTS:
                position += 1
                continue
            end = position + 1
            while end < len(arguments) and arguments[end].text not in {";", "+"}:
                end += 1
            inner: list[Word] = []
            for word in arguments[position + 1 : end]:
                if FOUND in word.text:
                    inner.extend(_found_at(start, word) for start in starts)
                else:
                    inner.append(word)
            if inner:
                if inner[0].shifts or FOUND in inner[0].text:
                    raise Unparsable("What 'find' starts is only known when it runs.", "Write the command out.")
                self.run(inner, Stream.EMPTY)
            position = end + 1


def _found_at(start: Word, word: Word) -> Word:
    # The name found stays as `{}` in the path, below the folder in which the search began.
    below = Word(f"{start.text}/{FOUND}") if start.pattern is None else to_word(((Kind.QUOTED, start.text), UNKNOWN))
    return replace(below, text=word.text.replace(FOUND, below.text)) if word.static else word


def find_starts(arguments: list[Word] | tuple[Word, ...]) -> list[Word]:
    """Return the folders in which `find` starts: the words before its first test."""
    starts: list[Word] = []
    for word in arguments:
        if word.text in {"-H", "-L", "-P"} or word.text.startswith(("-O", "-D")):
            continue
        if word.text.startswith("-") or word.text in {"(", "!", ")"}:
            break
        starts.append(word)
    return starts or [Word(".")]
