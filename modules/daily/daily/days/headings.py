"""The lines that begin an entry, and text that must not be read as one."""

import re
from dataclasses import dataclass
from functools import lru_cache

ID = r"(?:(daily|chat|brain|computer):)?([a-z0-9]{12}|[a-z0-9]{6})"
_HEADING = re.compile(rf"# para:{ID}(?:[ \t]+(.*))?", re.IGNORECASE)
_PLAIN = re.compile(r"# +(.*)")
_RULE = re.compile(r"-{3,}")
# A heading with a tab is the same in Markdown, and begins no entry.
_HIDDEN = re.compile(r"^((?:[^\S\n]|\ufeff)*)#(\t+)", re.MULTILINE)
_SHOWN = re.compile(r"^((?:[^\S\n]|\ufeff)*)#(\t+| )", re.MULTILINE)
# What the app trims.
_SPACE = " \t\r\n\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_ID = re.compile(rf"(?:para:)?{ID}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Heading:
    """The first line of a block; `id` is `daily:` and 12 signs, an older form without `daily:`, or empty for plain Markdown."""

    id: str
    title: str


def read_heading(line: str) -> Heading | None:
    """The heading that a line is, without its line end; None for all other lines."""
    text = line.strip(_SPACE)
    if not text.startswith("# "):
        return None
    if found := _HEADING.fullmatch(text):
        return Heading(_joined(found[1], found[2]), (found[3] or "").strip())
    plain = _PLAIN.fullmatch(text)
    return Heading("", plain[1].strip()) if plain else None


def write_heading(heading: Heading) -> str:
    """The line for a heading with an id, without its line end."""
    return f"# para:{heading.id} {heading.title}".rstrip()


@lru_cache(maxsize=1024)
def key_of(text: str) -> str | None:
    """The part of an id that tells entries apart, however it is written: `para:daily:x`, `daily:x`, `para:x` or `x`."""
    found = _ID.fullmatch(text)
    return found[2].lower() if found else None


def protect(content: str) -> str:
    """Content as it is written to the file, so that none of its lines begins another entry."""
    return _SHOWN.sub(lambda found: f"{found[1]}#\t" + found[2].replace(" ", ""), content)


def unprotect(content: str) -> str:
    """The reverse of `protect`."""
    return _HIDDEN.sub(lambda found: f"{found[1]}#" + (found[2][1:] or " "), content)


def strip_rule(lines: list[str]) -> list[str]:
    """The lines without empty ones around them and without the rule with which the app ends each entry."""
    lines = _trimmed(lines)
    if lines and _RULE.fullmatch(lines[-1].strip()):
        lines = _trimmed(lines[:-1])
    return lines


def _trimmed(lines: list[str]) -> list[str]:
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return lines[start:end]


def _joined(module: str | None, name: str) -> str:
    return f"{module.lower()}:{name.lower()}" if module else name.lower()
