"""Folders of hooks and included files that a configuration of git names."""

import re
from collections.abc import Iterator

_SECTION = re.compile(r"\[\s*([A-Za-z0-9.-]+)(?:\s+\"(?:[^\"\\\n]|\\.)*\")?\s*\]")
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)[ \t]*")
_ESCAPED = {"n": "\n", "t": "\t", "b": "\b", "\n": ""}


def hooks_and_includes(text: str) -> tuple[list[str], list[str]]:
    """The values of `core.hooksPath`, and the paths of `include` and `includeIf` whether their condition holds or not.

    What git would refuse to read is passed over.
    """
    hooks: list[str] = []
    includes: list[str] = []
    for section, key, value in _entries(text.replace("\r\n", "\n")):
        if (section, key) == ("core", "hookspath"):
            hooks.append(value)
        elif section in ("include", "includeif") and key == "path":
            includes.append(value)
    return hooks, includes


def _entries(text: str) -> Iterator[tuple[str, str, str]]:
    section, at = "", 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif found := _SECTION.match(text, at):
            # A section may be written with a dot, as in `[includeIf.gitdir:…]`; one line may have a key behind it.
            section, at = found[1].lower().partition(".")[0], found.end()
        elif found := _KEY.match(text, at):
            value, at = _value(text, found.end()) if found[2] else ("", found.end())
            yield section, found[1].lower(), value
        else:  # a comment, or what git does not understand
            end = text.find("\n", at)
            at = len(text) if end < 0 else end


def _value(text: str, at: int) -> tuple[str, int]:
    """A value and where its line ends; quotes may begin and end anywhere in it."""
    found, kept, quoted = "", 0, False
    while at < len(text) and text[at] != "\n":
        character = text[at]
        at += 1
        if character == '"':
            quoted = not quoted
            kept = len(found)
            continue
        if character in "#;" and not quoted:
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
            break
        if character == "\\" and at < len(text):
            character = _ESCAPED.get(text[at], text[at])
            at += 1
        found += character
        if quoted or not character.isspace():
            kept = len(found)
    return found[:kept], at
