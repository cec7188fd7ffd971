"""One day of the journal, as its file has it: whatever is not changed keeps every byte."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from daily.days.frontmatter import Frontmatter, Unchangeable
from daily.days.headings import Heading, key_of, protect, read_heading, strip_rule, unprotect, write_heading
from parachute.core import Conflict, InvalidInput, NotFound

LARGEST = 8 * 1024 * 1024
_BOM = "\ufeff"
_FENCE = "---"


@dataclass(frozen=True)
class Block:
    """Lines of the file from one heading to the next; without `heading`, what stands before the first one."""

    heading: Heading | None
    text: str

    @cached_property
    def key(self) -> str:
        """The key of the entry; empty for plain Markdown."""
        return (key_of(self.heading.id) or "") if self.heading and self.heading.id else ""

    @property
    def content(self) -> str:
        """The text below the heading, with plain line ends and without the rule at its end."""
        lines = self.text.replace("\r\n", "\n").split("\n")
        content = "\n".join(strip_rule(lines[1:] if self.heading else lines))
        return unprotect(content) if self.key else content


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a day. `key` is empty for plain Markdown, which has no id; `fields` is what the frontmatter says of it."""

    key: str
    title: str
    content: str
    fields: Mapping[str, Any] = field(default_factory=dict)


class Written(NamedTuple):
    """An entry as it lies in the file: reading its text takes time, comparing it with another one does not."""

    block: Block
    fields: Mapping[str, Any]

    @property
    def entry(self) -> Entry:
        """The entry that is written here."""
        heading = self.block.heading
        return Entry(self.block.key, heading.title if heading else "", self.block.content, self.fields)

    def is_same(self, other: "Written") -> bool:
        """True if both are one unchanged entry."""
        return self.block is other.block and (self.fields is other.fields or self.fields == other.fields)


@dataclass(frozen=True)
class Day:
    """`opening` and `closing` are the lines around the frontmatter; `problem` says why it can be read but not be changed."""

    blocks: tuple[Block, ...] = ()
    frontmatter: Frontmatter | None = None
    opening: str = ""
    closing: str = ""
    eol: str = "\n"
    problem: str | None = None

    @classmethod
    def parse(cls, data: bytes) -> "Day":
        """Read a file; error: InvalidInput when nothing of it can be read."""
        if len(data) > LARGEST:
            raise InvalidInput(
                f"The file is larger than {LARGEST:,} bytes.", "Split it into smaller parts.", key="file_too_large"
            )
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InvalidInput(
                f"The file is not in UTF-8 (line {line}).", "Save it in UTF-8.", key="not_text"
            ) from error
        first = text.find("\n")
        day = cls(eol="\r\n" if first > 0 and text[first - 1] == "\r" else "\n")
        lines = _lines(text)
        start = next((number for number, line in enumerate(lines) if line.strip(_BOM).strip()), len(lines))
        if start == len(lines) or lines[start].strip(_BOM).strip() != _FENCE:
            return replace(day, blocks=_blocks(lines))
        end = next((number for number in range(start + 1, len(lines)) if lines[number].rstrip() == _FENCE), None)
        if end is None:
            return replace(day, blocks=_blocks(lines), problem="The line `---` at the top has no second one.")
        opening, closing = "".join(lines[: start + 1]), lines[end]
        inner = "".join(lines[start + 1 : end])
        try:
            frontmatter, problem = Frontmatter.parse(inner), None
        except InvalidInput as error:
            frontmatter, problem = Frontmatter.unreadable(inner), error.message
        return replace(
            day,
            blocks=_blocks(lines[end + 1 :]),
            frontmatter=frontmatter,
            opening=opening,
            closing=closing,
            problem=problem,
        )

    def render(self) -> bytes:
        """The bytes of the file."""
        top = f"{self.opening}{self.frontmatter.text}{self.closing}" if self.frontmatter else ""
        return (top + "".join(block.text for block in self.blocks)).encode()

    @cached_property
    def written(self) -> tuple[Written, ...]:
        """Everything that is written there, in order."""
        said = self._said
        return tuple(Written(block, said.get(block.key, {})) for block in self.blocks if block.heading or block.content)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, in order."""
        return tuple(written.entry for written in self.written)

    @property
    def is_bare(self) -> bool:
        """True if nothing is written there, and the frontmatter says nothing but the date."""
        said = self.frontmatter.data if self.frontmatter else {}
        return not any(block.text.strip() for block in self.blocks) and not (said.keys() - {"date"})

    def entry(self, key: str) -> Entry | None:
        """The first entry with this key."""
        block = self._block(key)
        return None if block is None else Written(block, self._said.get(key, {})).entry

    def add(self, id: str, title: str, content: str, fields: Mapping[str, Any], date: str) -> "Day":
        """Append an entry; errors: Conflict when the id is there, Unchangeable."""
        key = key_of(id) or id
        if self._block(key) is not None:
            raise Conflict(f"{id} is in the journal already.", key="entry_exists")
        day = self.insert(_block(Heading(id, title), content, self.eol), len(self.blocks), date)
        return day.say(key, fields, date)

    def insert(self, block: Block, position: int, date: str) -> "Day":
        """Put a block in front of the one at a position; error: Unchangeable."""
        self.check()
        day = self._with_frontmatter(date)
        blocks = list(day.blocks)
        if position:
            before = blocks[position - 1].text
            missing = "" if before.endswith("\n") else self.eol
            if before.strip() and not (before + missing).endswith((self.eol * 2, "\n\n")):
                missing += self.eol
            if missing:
                blocks[position - 1] = replace(blocks[position - 1], text=before + missing)
        text = block.text if position == len(blocks) else block.text.rstrip("\r\n") + self.eol * 2
        blocks.insert(position, replace(block, text=text))
        closing = day.closing if self.blocks else day.closing.rstrip("\r\n") + self.eol * 2
        return replace(day, blocks=tuple(blocks), closing=closing)

    def say(self, key: str, fields: Mapping[str, Any], date: str) -> "Day":
        """Change what the frontmatter says of an entry that is there: None removes a field; error: Unchangeable."""
        self.check()
        block = self._block(key)
        if block is None or block.heading is None or not fields:
            return self
        day = self._with_frontmatter(date)
        assert day.frontmatter is not None
        name = next((name for name in day.frontmatter.entries if key_of(name) == key), block.heading.id)
        return replace(day, frontmatter=day.frontmatter.with_entry(name, fields, self.eol))

    def change(self, key: str, title: str | None = None, content: str | None = None) -> "Day":
        """Write title or text of an entry anew; errors: NotFound, Unchangeable."""
        self.check()

        def changed(block: Block) -> Block:
            assert block.heading is not None
            heading = block.heading if title is None else replace(block.heading, title=title)
            text = block.content if content is None else content
            if (heading, text) == (block.heading, block.content):
                return block
            return _block(heading, text, self.eol)

        return self._replaced(key, changed)

    def remove(self, key: str) -> "Day":
        """Take an entry out; errors: NotFound, Unchangeable."""
        self.check()
        day = self._replaced(key, lambda _: None)
        if day.frontmatter is None:
            return day
        frontmatter = day.frontmatter
        for name in [name for name in frontmatter.entries if key_of(name) == key]:
            frontmatter = frontmatter.without_entry(name, self.eol)
        return replace(day, frontmatter=frontmatter)

    def _replaced(self, key: str, change: Callable[[Block], Block | None]) -> "Day":
        for position, block in enumerate(self.blocks):
            if block.key == key:
                new = change(block)
                if new is not None and new is not block and position + 1 < len(self.blocks):
                    new = replace(new, text=new.text + self.eol)
                rest = self.blocks[position + 1 :]
                return replace(self, blocks=(*self.blocks[:position], *([new] if new else []), *rest))
        raise NotFound(f"There is no entry para:daily:{key}.", key="no_such_entry")

    def check(self) -> None:
        """See that it can be changed; error: Unchangeable."""
        if self.problem is not None:
            raise Unchangeable(
                f"The file of this day cannot be changed: {self.problem}",
                "Fix it in a text editor.",
                key="day_unchangeable",
            )

    def _block(self, key: str) -> Block | None:
        return next((block for block in self.blocks if block.key == key), None)

    def _with_frontmatter(self, date: str) -> "Day":
        if self.frontmatter is not None:
            return self
        blocks, mark = self.blocks, ""
        if blocks and blocks[0].text.startswith(_BOM):
            mark, first = _BOM, blocks[0]
            blocks = (replace(first, text=first.text.removeprefix(_BOM)), *blocks[1:])
        opening, closing = mark + _FENCE + self.eol, _FENCE + self.eol * 2
        frontmatter = Frontmatter.parse(f"date: {date}{self.eol}")
        return replace(self, blocks=blocks, frontmatter=frontmatter, opening=opening, closing=closing)

    @cached_property
    def _said(self) -> dict[str, Mapping[str, Any]]:
        if self.frontmatter is None:
            return {}
        said: dict[str, Mapping[str, Any]] = {
            key_of(name) or name: fields if isinstance(fields, dict) else {"audio": fields} if fields else {}
            for name, fields in self.frontmatter.entries.items()
        }
        # Before it had entries, the app wrote the recordings only.
        older = self.frontmatter.data.get("assets")
        if isinstance(older, dict):
            for name, path in older.items():
                key = key_of(name) or name
                said[key] = {"type": "voice", "audio": path, **said.get(key, {})}
        return said


def _block(heading: Heading, content: str, eol: str) -> Block:
    body = [protect(content), ""] if content else []
    text = "\n".join([write_heading(heading), "", *body, _FENCE, ""])
    return Block(heading, text.replace("\n", eol))


def new_block(id: str, title: str, content: str, eol: str) -> Block:
    """A block for an entry, ready to be inserted."""
    return _block(Heading(id, title), content, eol)


def _lines(text: str) -> list[str]:
    # Not splitlines: it divides at signs that are no line ends in Markdown.
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _blocks(lines: Iterable[str]) -> tuple[Block, ...]:
    found: list[tuple[Heading | None, list[str]]] = []
    for line in lines:
        heading = read_heading(line) if "#" in line else None
        if heading is not None or not found:
            found.append((heading, []))
        found[-1][1].append(line)
    return tuple(Block(heading, "".join(text)) for heading, text in found)
