"""An entity as its file says it: frontmatter, `# Title`, text. Reading and changing touch nothing else of the file."""

import hashlib
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from parachute.core import front_matter

from . import code, front_links, wiki, yaml_text
from .names import LONGEST, fold

ROOT = "Brain/entities"
LARGEST = 1_000_000
KNOWN = ("para_id", "type", "aliases", "tags", "relationships", "merged_ids")
"""Fields of every entity; all others belong to its type, or to the one who wrote them."""

_PARA_ID = re.compile(r"para:brain:[a-z0-9]{12}")
_TITLE = re.compile(r"^#[ \t]+(?P<title>\S[^\r\n]*)", re.MULTILINE)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_PROPERTY = re.compile(r"^(type|alias|aliases)::[ \t]+(\S[^\r\n]*)", re.MULTILINE)
"""A line of a text that Logseq and Dataview take for a field."""
_CLOSING = re.compile(r"[ \t]#+$")
_DIGITS = string.digits + string.ascii_lowercase


class Unreadable(Exception):
    """A file cannot be an entity; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Entity:
    """The content of a file. `para_id` is empty when the file has none; `legacy_id` is one in another form, which stays.

    `merged` are the ids of those that were merged into it. `version` is the SHA-256 of the file. `said` are all its fields, `fields` those that not every entity has. `problem` says why they were read only as far as it goes. `mark`, `front` and `body` are what the
    file consists of, besides the lines around `front`, which is missing unless `has_front`.
    """

    path: str
    para_id: str
    legacy_id: str
    type: str
    name: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    merged: tuple[str, ...]
    said: Mapping[str, Any] = field(repr=False)
    links: tuple[wiki.Link, ...]
    fields: Mapping[str, Any] = field(repr=False)
    version: str
    body: str = field(repr=False)
    has_front: bool
    mark: str
    front: str = field(repr=False)
    newline: str
    problem: str = ""

    @property
    def slug(self) -> str:
        return PurePosixPath(self.path).stem

    @property
    def text(self) -> str:
        """The body without its title."""
        match = _title(self.body)
        return (self.body[: match.start()] + self.body[match.end() :]).strip() if match else self.body.strip()

    def changed(self, fields: Mapping[str, Any], body: str | None = None) -> bytes:
        """The file with some fields (None removes one) and its body changed; error: Unreadable."""
        if self.problem and (fields or not self.has_front):
            raise Unreadable(self.problem)
        try:
            front = yaml_text.edit(self.front, fields, self.newline) if fields else self.front
        except yaml_text.NotYaml as error:
            raise Unreadable(f"the frontmatter: {error}") from error
        new = self.body if body is None else body
        return self._file(front if front or self.has_front else None, new)

    def identified(self, para_id: str) -> bytes:
        """The file with an id in its first line, or where an empty one stands; error: Unreadable."""
        line = f"para_id: {para_id}{self.newline}"
        try:
            before = yaml_text.read(self.front)
            if "para_id" not in before and yaml_text.read(line + self.front) == {"para_id": para_id, **before}:
                return self._file(line + self.front, self.body)
        except yaml_text.NotYaml:
            pass  # such as a mapping in braces
        return self.changed({"para_id": para_id})

    def _file(self, front: str | None, body: str) -> bytes:
        return front_matter.Parts(self.mark, front, body, self.newline).text.encode()

    def titled(self, name: str) -> str:
        """The body with another title."""
        match = _title(self.body)
        if match:
            return self.body[: match.start("title")] + name + self.body[match.end("title") :]
        return f"{self.newline}# {name}{self.newline}{self.newline}{self.body.lstrip()}"

    def with_text(self, text: str) -> str:
        """The body with another text below its title."""
        text = text.strip().replace("\r\n", "\n").replace("\n", self.newline)
        end = self.newline if text else ""
        return f"{self.newline}# {self.name}{self.newline}{self.newline}{text}{end}"

    def with_addition(self, text: str, section: str = "") -> str:
        """The body with lines added at its end, or at the end of a section, which is made if it is not there."""
        lines = self.body.splitlines(keepends=True)
        headings = _headings(lines)
        text = text.strip().replace("\r\n", "\n").replace("\n", self.newline) + self.newline
        end = len(lines)
        if section:
            wanted = fold(section)
            start = next((i for i, (level, key) in enumerate(headings) if level and key == wanted), None)
            if start is None:
                return f"{self.body.rstrip()}{self.newline * 2}## {section}{self.newline}{text}"
            level = headings[start][0]
            end = next((i for i in range(start + 1, len(lines)) if 0 < headings[i][0] <= level), len(lines))
        last = end
        while last > 0 and not lines[last - 1].strip():
            last -= 1
        if last and not lines[last - 1].endswith("\n"):
            lines[last - 1] += self.newline
        gap = self.newline if last and not _continues(lines[last - 1], text) else ""
        rest = "".join(lines[end:])
        return "".join(lines[:last]) + gap + text + (self.newline + rest if rest else "")


def version_of(data: bytes) -> str:
    """The version of a file with this content."""
    return hashlib.sha256(data).hexdigest()


def read(path: str, data: bytes) -> Entity:
    """Parse a file; error: Unreadable."""
    if len(data) > LARGEST:
        raise Unreadable(f"it is larger than {LARGEST:,} bytes")
    try:
        whole = data.decode()
    except UnicodeDecodeError as error:
        raise Unreadable("it is not a text in UTF-8") from error
    if "\0" in whole:
        raise Unreadable("it holds zero bytes, as texts do not")
    parts = front_matter.split(whole)
    front, body = parts.front or "", parts.body
    problem = "its frontmatter has no end: a line --- is missing" if parts.is_open else ""
    try:
        fields = yaml_text.read(front, above=1)
    except yaml_text.NotYaml as error:
        fields, problem = front_matter.legible(front, yaml_text.BOUNDS), f"the frontmatter: {error}"
    # What cannot be read stays as it is, and an id that follows from its place is none that is written into it.
    written = _text(fields.get("para_id"))
    known = written or (path if problem else "")
    name, properties = _name(path, fields, body), _properties(body)
    return Entity(
        path=path,
        para_id=known if not known or _PARA_ID.fullmatch(known) else derived_id(known),
        legacy_id="" if _PARA_ID.fullmatch(written) else written[:LONGEST],
        type=_text(fields.get("type")) or "".join(properties.get("type", [])[:1]),
        name=name,
        aliases=tuple(dict.fromkeys((*_texts(fields.get("aliases")), *properties.get("alias", ())))),
        tags=tuple(tag.lstrip("#") for tag in _texts(fields.get("tags"))),
        merged=tuple(text for text in _texts(fields.get("merged_ids")) if _PARA_ID.fullmatch(text)),
        links=(*front_links.find(fields), *wiki.find(body)),
        said=fields,
        fields={key: value for key, value in fields.items() if key not in KNOWN},
        version=version_of(data),
        body=body,
        has_front=parts.front is not None,
        mark=parts.mark,
        front=front,
        newline=parts.newline,
        problem=problem,
    )


def derived_id(legacy: str) -> str:
    """The para-id of an entity whose file names it in another form: always the same one, so that the file may stay as it is."""
    number = int.from_bytes(hashlib.sha256(legacy.encode()).digest())
    digits = ""
    for _ in range(12):
        number, digit = divmod(number, len(_DIGITS))
        digits += _DIGITS[digit]
    return f"para:brain:{digits}"


def _name(path: str, fields: Mapping[str, Any], body: str) -> str:
    match = _title(body)
    name = (
        _CLOSING.sub("", match["title"].rstrip()).rstrip()
        if match
        else _text(fields.get("name")) or _text(fields.get("title"))
    )
    stem = PurePosixPath(path).stem
    return name[:LONGEST] or (stem.replace("-", " ").replace("_", " ") if stem.islower() else stem)


def _properties(body: str) -> dict[str, list[str]]:
    """Types and aliases that lines of the text give, outside of code."""
    found: dict[str, list[str]] = {}
    if "::" in body and (matches := list(_PROPERTY.finditer(body))):
        inside = code.places(body)
        for match in matches:
            if not inside.touches(*match.span()):
                value = match[2].replace("[[", "").replace("]]", "")
                found.setdefault("type" if match[1] == "type" else "alias", []).extend(_texts(value))
    return found


def _texts(value: Any) -> list[str]:
    items = value if isinstance(value, list) else value.split(",") if isinstance(value, str) else []
    found = (_text(item)[:LONGEST] for item in items)
    return list(dict.fromkeys(text for text in found if text))


def _text(value: Any) -> str:
    if value is None or isinstance(value, list | Mapping):
        return ""
    return str(value).strip()


def _title(body: str) -> re.Match[str] | None:
    """The first heading of the first level; a comment in code is none."""
    inside = code.places(body)
    return next((match for match in _TITLE.finditer(body) if not inside.touches(*match.span())), None)


def _headings(lines: list[str]) -> list[tuple[int, str]]:
    """Level and key of each line that is a heading, level 0 for every other one."""
    inside = code.places("".join(lines))
    found, position = [], 0
    for line in lines:
        match = _HEADING.match(line)
        begins = match is not None and not inside.touches(position, position + 1)
        found.append((len(match[1]), fold(match[2])) if match and begins else (0, ""))
        position += len(line)
    return found


def _continues(line: str, text: str) -> bool:
    """True if a line and what is added are items of one list, or the line is a heading."""
    return line.startswith("#") or (line.lstrip()[:2] in ("- ", "* ") and text[:2] in ("- ", "* "))
