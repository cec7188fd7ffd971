"""Allow-lists of commands, such as `git` or `npm run`: which commands of a line they cover."""

import re
import shlex
from collections.abc import Iterable

from parachute.security.permissions.shell.commands import CommandLine, SimpleCommand
from parachute.security.permissions.shell.git_reading import only_reads

# A program here is meant by its name alone; elsewhere anyone may have put a program of that name.
_STANDARD = re.compile(r"(/usr(/local)?)?/s?bin|/opt/homebrew/bin|/run/current-system/sw/bin")
# They change nothing but the shell that ends with the line.
_HARMLESS = frozenset(
    {"cd", "pwd", "true", "false", ":", "echo", "printf", "test", "[", "exit", "return", "read", "wait", "sleep"}
    | {"shift", "break", "continue", "local", "unset", "<<<"}
)
# No files: the shell itself opens a connection.
_CONNECTION = re.compile(r"/dev/(tcp|udp)/")
_FILE_OPTION = re.compile(r"-[oa]|--(output|arg-file|rcfile|init-file)")
# Variables that change no program. With a space, no program stands behind them: then those with small letters are by
# convention the shell's alone, but for a few that programs read.
_SAFE = re.compile(
    r"(LANG|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CI|DEBIAN_FRONTEND|IFS"
    r"|GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)) ?|(?!.*_proxy $)(?!npm_)[a-z_][a-z0-9_]* "
)

_GIT = "git"
_ADDRESS = r"(?:\d+|\$|/(?:\\.|[^/])*/I?)"
_SED_COMMAND = rf"(?:^|[;{{}}\n]|^-n?e|^--expression=)\s*(?:{_ADDRESS}(?:[,~+]{_ADDRESS})?)?\s*!?\s*(?:[ewW]|\\)"
_SED_FLAGS = r"s([^\w\s\\])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1[gpiImM0-9]*[ew]"
_NOTHING = ("(?!)", "", "")
# They read, and have no word by which they do more.
_READERS = (
    *(
        "basename",
        "cat",
        "cmp",
        "cut",
        "df",
        "diff",
        "dirname",
        "du",
        "grep",
        "head",
        "id",
        "ls",
        "md5sum",
        "nl",
        "readlink",
    ),
    *("realpath", "sha256sum", "stat", "tail", "tr", "uname", "wc", "which", "whoami"),
)
_AWK = (r"system\s*\(|\||print[^;}\n]*>|^-[fiEl]|^@", "--file --include --load --exec --source", "")
# By what a program starts another one or writes a file: words, long options (also shortened), subcommands. Programs
# whose whole purpose is to start others, such as python, make or npm run, are not here: who lists them lists everything.
_ESCAPES: dict[str, tuple[str, str, str]] = {
    **dict.fromkeys(_READERS, _NOTHING),
    "rg": ("(?!)", "--pre --hostname-bin", ""),
    "sort": ("^-[A-Za-z]*o", "--compress-program --output", ""),
    "sed": (rf"{_SED_COMMAND}|{_SED_FLAGS}|^-[nrEsuz]*[if]", "--in-place --file", ""),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _AWK),
    "tar": (
        "^-?[A-Za-z]*[IF]",
        "--checkpoint-action --to-command --use-compress-program --info-script --new-volume-script --rsh-command --rmt-command",
        "",
    ),
    "find": ("^-(exec|execdir|ok|okdir|delete|fprint.*|fls)$", "", ""),
    "npm": ("(?!)", "", "exec x explore"),
    "man": ("^-[A-Za-z0-9]*[PH]", "--pager --html", ""),
}


def program_of(command: SimpleCommand) -> str:
    """Return the program as a list names it: by its name where that is enough, else as written."""
    folder, _, name = command.program.rpartition("/")
    return name if _STANDARD.fullmatch(folder) else command.program


def uncovered(line: CommandLine, beginnings: Iterable[str]) -> list[SimpleCommand]:
    """Return the commands of a line that begin with none of these, have unsafe variables, or redirect to what may be a connection."""
    wanted = [words for text in beginnings if (words := _split(text))]
    return [
        command
        for command in line.commands
        if not (_is_free(command, line) or any(_begins_with(command, words, line) for words in wanted))
        or not all(_SAFE.fullmatch(name if command.program else f"{name} ") for name, _ in command.assignments)
        or (command.redirect and (command.redirect[1].unknown or _CONNECTION.match(command.redirect[1].text)))
    ]


def has_table(beginning: str) -> bool:
    """Return whether it is known of a program what more its words may do than its name says; of no other one all is allowed."""
    words = _split(beginning)
    return bool(words) and _name_of(words[0]) in (*_ESCAPES, _GIT)


def _name_of(program: str) -> str:
    return program.rpartition("/")[2]


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []


def _is_free(command: SimpleCommand, line: CommandLine) -> bool:
    if not command.program or command.program in _HARMLESS or command.program in line.functions:
        return True
    files = any(_FILE_OPTION.match(word.text) for word in command.arguments)
    return command.wrapper and program_of(command) == command.name and not files


def _begins_with(command: SimpleCommand, wanted: list[str], line: CommandLine) -> bool:
    words = command.arguments[: len(wanted) - 1]
    known = [program_of(command), *(word.text for word in words if word.pattern is None)] == wanted
    return known and not _escapes(command, line)


def _escapes(command: SimpleCommand, line: CommandLine) -> bool:
    """Return whether a command has, or may have, a word by which it does more than its name says."""
    if _name_of(command.program) == _GIT:
        # In another folder another configuration says what git runs.
        is_known = not line.folders and all(word.pattern is None for word in command.arguments)
        return not (is_known and only_reads([word.text for word in command.arguments]))
    row = _ESCAPES.get(_name_of(command.program))
    if row is None or row is _NOTHING:
        return False
    expression, options, subcommands = row
    texts = [word.text for word in command.arguments]
    named = [text.partition("=")[0] for text in texts if text.startswith("--")]
    return (
        any(word.unknown for word in command.arguments)
        or next((text for text in texts if not text.startswith("-")), "") in subcommands.split()
        or any(re.search(expression, text, re.DOTALL) for text in texts)
        or any(len(name) > 3 and option.startswith(name) for name in named for option in options.split())
    )
