"""Comparison of a page with the real output: the same words, with other times, numbers and ids."""

import re
from collections.abc import Sequence

_VARYING = re.compile(r"…|\d+(?:\.\d+)?(?: (?:ms|s|min)\b)?|\s+")
_IDENTIFIER = re.compile(r"\b(?=[a-z]*\d)(?=\d*[a-z])(?:[0-9a-f]{8}|[0-9a-z]{12})\b")
_NUMBER = r"[\d.]+(?: (?:ms|s|min))?"
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def plain(screen: str) -> list[str]:
    """The lines that are left on a terminal, without colours and progress."""
    lines = _ESCAPE.sub("", screen.replace("\r\n", "\n")).split("\n")
    return [line.rpartition("\r")[2].rstrip() for line in _without_empty_end(lines)]


def _without_empty_end(lines: Sequence[str]) -> list[str]:
    """Lines without the empty ones at their end."""
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def identifiers(shown: Sequence[str], came: Sequence[str]) -> dict[str, str] | None:
    """Return the real id for each one shown, or None if the output has another form; a line `…` stands for any lines."""
    pattern, ids = "", []
    for line in _without_empty_end(shown):
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
            continue
        position = 0
        for found in _IDENTIFIER.finditer(line):
            ids.append(found[0])
            pattern += f"{_form(line[position : found.start()])}([0-9a-z]+)"
            position = found.end()
        pattern += rf"{_form(line[position:].rstrip())}[ ]*\n"
    matched = re.fullmatch(pattern, "".join(f"{line}\n" for line in came))
    return None if matched is None else dict(zip(ids, matched.groups(), strict=True))


def _form(text: str) -> str:
    pattern, position = "", 0
    for found in _VARYING.finditer(text):
        pattern += re.escape(text[position : found.start()])
        pattern += ".*" if found[0] == "…" else _NUMBER if found[0][0].isdigit() else r"\s+"
        position = found.end()
    return pattern + re.escape(text[position:])
