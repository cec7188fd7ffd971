"""Grants: which to offer for a request, from narrow to broad, and whether given ones cover it."""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from parachute.permissions.escapes import escapes
from parachute.permissions.models import Access, Grant
from parachute.permissions.paths import has_control_characters, joined, resolve
from parachute.permissions.script import CommandLine, SimpleCommand
from parachute.permissions.started import SHELLS
from parachute.permissions.words import Word

# A program here is meant by its name alone; elsewhere anyone may have put a program of that name.
STANDARD_FOLDERS = frozenset(
    {"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin", "/run/current-system/sw/bin"}
)
# They change nothing but the shell that ends with the line.
HARMLESS = frozenset(
    {
        "cd",
        "pwd",
        "true",
        "false",
        ":",
        "echo",
        "printf",
        "test",
        "[",
        "exit",
        "return",
        "read",
        "wait",
        "sleep",
        "shift",
    }
    | {"break", "continue", "local", "unset"}
)
# What they start stands beside them and is judged by itself.
TRANSPARENT = SHELLS | {
    "env",
    "nohup",
    "time",
    "timeout",
    "nice",
    "ionice",
    "stdbuf",
    "setsid",
    "command",
    "builtin",
    "exec",
}
TRANSPARENT |= {"xargs", "eval", "trap", "coproc"}

_FILE_OPTIONS = ("-o", "--output", "-a", "--arg-file", "--rcfile", "--init-file")
_SAFE_ENVIRONMENT = re.compile(
    r"LANG|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CI|DEBIAN_FRONTEND|IFS"
    r"|GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)"
)
# By convention a variable of the shell alone; the exceptions are read by programs.
_LOCAL_VARIABLE = re.compile(r"(?!.*_proxy$)(?!npm_)[a-z_][a-z0-9_]*")
_NO_FILES = re.compile(r"/dev/(null|stdin|stdout|stderr|fd/\d+)")


@dataclass(frozen=True, slots=True)
class Located:
    """A path as grants see it: its parts below the vault (`prefix` empty) or the working directory (`./`)."""

    prefix: str
    parts: tuple[str, ...]


def locate(path: str, vault: Path, folder: Path) -> Located | None:
    """Return where the real path lies; None beyond vault and working directory, where no grant reaches."""
    real = resolve(joined(folder, path))
    for prefix, root in (("", resolve(vault)), ("./", resolve(folder))):
        if real.is_relative_to(root):
            return Located(prefix, real.relative_to(root).parts)
    return None


def suggest_for_path(
    path: str, access: Access, vault: Path, folder: Path, *, is_folder: bool = False
) -> tuple[Grant, ...]:
    """Return the grants to offer for a path, from the file itself to everything; none beyond vault and working directory."""
    located = locate(path, vault, folder)
    if located is None or any(part in {"*", "**"} or has_control_characters(part) for part in located.parts):
        return ()
    parts = located.parts
    patterns: list[str] = []
    inner = parts if is_folder else parts[:-1]
    if parts and not is_folder:
        patterns.append("/".join(parts))
        patterns.append("/".join((*inner, "*")))
    if inner:
        patterns.append("/".join((*inner, "**/*")))
        patterns.append(f"{parts[0]}/**/*")
    patterns.append("**/*")
    return tuple(Grant(access, located.prefix + pattern) for pattern in dict.fromkeys(patterns))


def covers_path(
    grants: Iterable[Grant], access: Access, path: str, vault: Path, folder: Path, *, is_folder: bool = False
) -> bool:
    """Return whether a grant covers the path; a folder to be searched is covered only with all that is below it."""
    located = locate(path, vault, folder)
    return located is not None and any(
        _covers(grant, located, is_folder)
        for grant in grants
        if grant.access is access or (grant.access is Access.WRITE and access is Access.READ)
    )


def _covers(grant: Grant, located: Located, is_folder: bool) -> bool:
    prefix = "./" if grant.pattern.startswith("./") else ""
    if prefix != located.prefix:
        return False
    wanted = tuple(grant.pattern.removeprefix("./").split("/"))
    if wanted[-2:] == ("**", "*"):
        root = wanted[:-2]
        return located.parts[: len(root)] == root and (is_folder or len(located.parts) > len(root))
    if is_folder or not located.parts:
        return False
    if wanted[-1] == "*":
        return located.parts[:-1] == wanted[:-1]
    return located.parts == wanted


def program_of(command: SimpleCommand) -> str:
    """Return the program as a grant names it: by its name where that is enough, else as written."""
    folder, slash, name = command.program.rpartition("/")
    return name if slash and folder in STANDARD_FOLDERS else command.program


def suggest_for_command(line: str, parsed: CommandLine) -> tuple[Grant, ...]:
    """Return the grants to offer for a command line: the whole line, and for a single command its beginnings."""
    suggestions = [line.strip()]
    own = [command for command in parsed.commands if not _needs_no_grant(command, parsed)]
    if len(own) == 1 and own[0].name:
        program, words = program_of(own[0]), _static_words(own[0].arguments)
        if words and re.fullmatch(r"[a-z][a-z0-9-]*", words[0]):
            suggestions.append(shlex.join([program, words[0]]))
        suggestions.append(shlex.join([program]))
    return tuple(Grant(Access.RUN, text) for text in dict.fromkeys(suggestions) if text and len(text) <= 4096)


def covers_line(grants: Iterable[Grant], line: str, parsed: CommandLine, vault: Path) -> bool:
    """Return whether the grants cover all that a command line runs and every file that it redirects to or from."""
    given = tuple(grants)
    if any(grant.access is Access.RUN and grant.pattern.strip() == line.strip() for grant in given):
        return True
    patterns = [words for grant in given if grant.access is Access.RUN and (words := _split(grant.pattern))]
    for command in parsed.commands:
        if not _needs_no_grant(command, parsed) and not any(_begins_with(command, words) for words in patterns):
            return False
        if not _safe_assignments(command) or not _covers_redirects(given, command, vault):
            return False
    return bool(parsed.commands)


def refused_by_list(parsed: CommandLine, allowed: Iterable[str]) -> SimpleCommand | None:
    """Return the first command that a list of allowed commands (`git`, `npm run`) does not name, or None."""
    patterns = [words for entry in allowed if (words := _split(entry))]
    for command in parsed.commands:
        listed = _needs_no_grant(command, parsed) or any(_begins_with(command, words) for words in patterns)
        if not listed or not _safe_assignments(command):
            return command
    return None


def _split(pattern: str) -> list[str]:
    try:
        return shlex.split(pattern)
    except ValueError:
        return []


def _static_words(words: Iterable[Word]) -> list[str]:
    found: list[str] = []
    for word in words:
        if not word.static or word.shifts:
            break
        found.append(word.text)
    return found


def _begins_with(command: SimpleCommand, wanted: list[str]) -> bool:
    begins = [program_of(command), *_static_words(command.arguments[: len(wanted) - 1])] == wanted
    return begins and not escapes(command)


def _needs_no_grant(command: SimpleCommand, parsed: CommandLine) -> bool:
    if not command.name or command.program in HARMLESS or command.program in parsed.functions:
        return True
    return (
        command.wrapper
        and program_of(command) in TRANSPARENT
        and not any(word.text.startswith(_FILE_OPTIONS) for word in _leading_options(command))
    )


def _leading_options(command: SimpleCommand) -> Iterable[Word]:
    for word in command.arguments:
        if not word.text.startswith(("-", "+")):
            return
        yield word


def _safe_assignments(command: SimpleCommand) -> bool:
    return all(
        _SAFE_ENVIRONMENT.fullmatch(name) or (not command.name and _LOCAL_VARIABLE.fullmatch(name))
        for name, _ in command.assignments
    )


def _covers_redirects(grants: tuple[Grant, ...], command: SimpleCommand, vault: Path) -> bool:
    for redirect in command.redirects:
        access = Access.WRITE if redirect.writes else Access.READ
        if _NO_FILES.fullmatch(redirect.target.text):
            continue
        if not redirect.target.static or command.lost:
            return False
        for folder in command.folders:
            if not covers_path(grants, access, redirect.target.text, vault, Path(folder)):
                return False
    return True
