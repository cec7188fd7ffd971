"""Which files the words of a command name, and which of them are on the deny list."""

import os
import re
from collections.abc import Iterator

from parachute.permissions.globs import expand
from parachute.permissions.names import could_be_secret, is_secret
from parachute.permissions.paths import NAME_LIMIT, PATH_LIMIT, Places, has_control_characters
from parachute.permissions.script import SimpleCommand
from parachute.permissions.words import Word

# Their words are printed, not opened.
_PRINTING = frozenset({"echo", "printf"})
# Their first operand is an expression; the letters are options without a value, behind which it may stand.
_SEARCHING: dict[str, str] = {
    "grep": "abcEFGHhIiLlnoPqRrsTUuVvwxZz",
    "egrep": "abcEFGHhIiLlnoPqRrsTUuVvwxZz",
    "fgrep": "abcEFGHhIiLlnoPqRrsTUuVvwxZz",
    "rg": "aFHhiIlLNnopPsSUuVvwxz.0",
    "sed": "inErsuz",
    "awk": "",
    "gawk": "",
    "mawk": "",
    "jq": "nrRcCMaSejs",
    "yq": "nrPCM",
}
_EXPRESSION = ("-e", "-f", "--regexp", "--file", "--expression", "--from-file", "--files")
_SEPARATORS = re.compile(r"[=@:,]")
# Programs whose arguments may be code that opens files named in its strings.
_INTERPRETERS = re.compile(r"(python|pypy|perl|ruby|node|deno|bun|php|lua|g?awk|mawk|osascript)[\d.]*")
_STRINGS = re.compile(r"""["'`]([^"'`]+)["'`]""")
_SED_FILES = re.compile(r"(?<![A-Za-z])[rRwW]\s*([^\s;}]+)")


def files_refusal(command: SimpleCommand, places: Places, hidden_globs: bool = False) -> str | None:
    """Return why the command may not have one of the files it names, or None."""
    for name in _names_in_code(command):
        if any(is_secret(part) for part in name.split("/")):
            return f"{name!r} may hold secrets and is never opened for an agent."
    for redirect in command.redirects:
        reason = _word_refusal(redirect.target, command, places, hidden_globs)
        if reason:
            return reason
    for word in _file_words(command):
        reason = _word_refusal(word, command, places, hidden_globs)
        if reason:
            return reason
    return None


def _names_in_code(command: SimpleCommand) -> Iterator[str]:
    """Yield the names of files in a program given as an argument."""
    expression = _SED_FILES if command.name == "sed" else _STRINGS if _INTERPRETERS.fullmatch(command.name) else None
    if expression is not None:
        for word in command.arguments:
            yield from (found[1] for found in expression.finditer(word.text))


def _file_words(command: SimpleCommand) -> Iterator[Word]:
    yield Word(command.program)
    yield from (word for _, word in command.assignments)
    if command.name in _PRINTING:
        # A wildcard becomes the names that it stands for, which another program may be handed.
        yield from (word for word in command.arguments if word.glob is not None)
        return
    if command.wrapper:
        # What it starts stands in the list itself, with its words told apart; here only its own options matter.
        yield from (
            word
            for before, word in zip((Word(""), *command.arguments), command.arguments, strict=False)
            if before.text.startswith("-") or word.text.startswith("--")
        )
        return
    letters = _SEARCHING.get(command.name)
    skipped = letters is None or any(word.text.startswith(_EXPRESSION) for word in command.arguments)
    previous = ""
    for word in command.arguments:
        option = word.text.startswith("-") and len(word.text) > 1
        if not skipped and not option and _takes_no_value(previous, letters or ""):
            skipped = True
        else:
            yield word
        previous = word.text if option else ""


def _takes_no_value(option: str, letters: str) -> bool:
    if option.startswith("--"):
        return option == "--" or "=" in option
    return all(letter in letters for letter in option[1:])


def _word_refusal(word: Word, command: SimpleCommand, places: Places, hidden_globs: bool) -> str | None:
    if not _can_be_path(word.text):
        return None
    if word.pattern is not None:
        reason = _pattern_refusal(word, command, places, hidden_globs)
        if reason:
            return reason
    for text in _candidates(word.text):
        for part in text.split("/"):
            if is_secret(part) or (any(mark in part for mark in "*?[") and _aims_at_secret(part)):
                return f"{part!r} may hold secrets and is never opened for an agent."
    texts = {word.text, word.text.partition("=")[2]}
    if word.text.startswith("-") and not word.text.startswith("--"):
        # `-f.env`; of one or two letters more it is a group of options.
        texts.update({word.text[2:]} if len(word.text) > 4 else ())
    for text in texts:
        if not text or text.startswith("-"):
            continue
        for folder in command.folders:
            reason = places.refusal(_without_tilde(text, places), folder)
            if reason:
                return reason
    return None


def _without_tilde(text: str, places: Places) -> str:
    # Some programs read a tilde themselves that the shell left alone.
    return f"{places.user_home}/{text[2:]}" if text == "~" or text.startswith("~/") else text


def _can_be_path(text: str) -> bool:
    # No file has such a name; it is a message or a program.
    if len(text) > PATH_LIMIT or has_control_characters(text):
        return False
    return len(text) <= NAME_LIMIT // 4 or all(len(os.fsencode(part)) <= NAME_LIMIT for part in text.split("/"))


def _aims_at_secret(part: str) -> bool:
    return not any(letter.isspace() for letter in part) and could_be_secret(part)


def _candidates(text: str) -> Iterator[str]:
    """Yield the parts of a word that a program may take for a path: `--file=x`, `-fx`, `@x`, `HEAD:x`, `a,x`."""
    yield text
    if text.startswith("-") and not text.startswith("--") and len(text) > 2:
        yield text[2:]
    if _SEPARATORS.search(text):
        yield from _SEPARATORS.split(text)


def _pattern_refusal(word: Word, command: SimpleCommand, places: Places, hidden_globs: bool) -> str | None:
    known = not word.unknown and not command.lost
    any_found = False
    for folder in command.folders if word.glob is not None else ():
        found = expand(word.glob or "", folder, places, hidden_globs)
        known = known and found is not None
        any_found = any_found or bool(found)
        reason = _found_refusal(found or [], folder, places)
        if reason:
            return reason
    if known and any_found:
        return None
    # Not listed, or not there yet: the letters decide.
    for part in (word.pattern or "").split("/"):
        if could_be_secret(part):
            return f"{part!r} may stand for a file with secrets, which is never opened for an agent."
    return None


def _found_refusal(found: list[str], folder: str, places: Places) -> str | None:
    # A folder of thousands of files is judged once, and only its links each.
    suspects = {path.rpartition("/")[0] or "/" for path in found}
    for path in found:
        place = places.host(path)
        host = place[0] if place else path
        # Unlike Path.is_symlink() it answers no for a name that is too long.
        linked = os.path.islink(host)  # noqa: PTH114
        if linked or is_secret(path.rpartition("/")[2]) or host in places.trusted:
            suspects.add(path)
    for path in sorted(suspects):
        reason = places.refusal(path, folder)
        if reason:
            return reason
    return None
