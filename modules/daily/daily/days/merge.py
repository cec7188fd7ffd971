"""Two versions of a day become one, entry by entry."""

import hashlib
import string
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from daily.days.day import Block, Day, new_block

_SIGNS = string.digits + string.ascii_lowercase
_LENGTH = 12
_CLASH = "(other version)"


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a merge; `clashes` are the keys of entries that were kept twice."""

    day: Day
    clashes: tuple[str, ...] = ()


@dataclass(slots=True)
class _State:
    day: Day
    date: str
    clashes: list[str] = field(default_factory=list)


def merge(ours: Day, theirs: Day, date: str, base: Day | None = None) -> Merged:
    """All entries of both; error: Unchangeable.

    `base` is the version from which both come, if it is known: an entry that only one of them changed or removed since is
    changed or removed. Where both changed it, both are kept, the second one as an entry of its own: what they say of the time
    of their changes comes from different clocks, and is not looked at.
    """
    ours.check()
    theirs.check()
    state = _State(ours, date)
    mine, yours, before = _entries(ours), _entries(theirs), _entries(base) if base else {}
    for key in [key for key in mine if key not in yours and _unchanged(before.get(key), mine[key])]:
        state.day = state.day.remove(key)
    previous = ""
    for block in theirs.blocks:
        key = block.key
        if not key:
            continue
        if block is not _first(theirs, key):
            _insert_again(state, block, base)
            continue
        if key in mine:
            if mine[key] != yours[key]:
                _choose(state, key, mine[key], yours[key], before.get(key))
        elif not _unchanged(before.get(key), yours[key]):
            _insert(state, block, previous, theirs)
        if _first(state.day, key) is not None:
            previous = key
    _plain(state, theirs, base)
    if state.day.frontmatter is not None and theirs.frontmatter is not None:
        state.day = replace(
            state.day, frontmatter=state.day.frontmatter.with_others_of(theirs.frontmatter, state.day.eol)
        )
    return Merged(state.day, tuple(state.clashes))


_Said = tuple[str, str, Mapping[str, Any]]


def _entries(day: Day) -> dict[str, _Said]:
    found: dict[str, _Said] = {}
    for entry in day.entries:
        if entry.key:
            found.setdefault(entry.key, (entry.title, entry.content, entry.fields))
    return found


def _unchanged(before: _Said | None, now: _Said) -> bool:
    # What Brain found in an entry since does not keep it from being removed.
    return before is not None and before[:2] == now[:2]


def _first(day: Day, key: str) -> Block | None:
    return next((block for block in day.blocks if block.key == key), None)


def _choose(state: _State, key: str, mine: _Said, yours: _Said, before: _Said | None) -> None:
    if before == yours:
        return
    if before == mine:
        return _take(state, key, yours, {**dict.fromkeys(mine[2]), **yours[2]})
    # Fields do not clash: what only one of them says is kept, and where both say something the greater text counts.
    fields = _united(mine[2], yours[2])
    if mine[:2] == yours[:2] or (before is not None and before[:2] == yours[:2]):
        return _take(state, key, mine, fields)
    if before is not None and before[:2] == mine[:2]:
        return _take(state, key, yours, fields)
    first, second = sorted((mine, yours), key=_rank, reverse=True)
    _take(state, key, first, fields)
    state.clashes.append(key)
    _keep(state, key, second)


def _rank(said: _Said) -> tuple[str, str, str]:
    return str(said[2].get("updated") or ""), said[1], said[0]


def _take(state: _State, key: str, said: _Said, fields: Mapping[str, Any]) -> None:
    state.day = state.day.change(key, said[0], said[1]).say(key, fields, state.date)


def _keep(state: _State, key: str, said: _Said) -> None:
    """Keep a second version next to the first, under an id that follows from what it says: twice is the same as once."""
    digest = int.from_bytes(hashlib.sha256("\0".join((key, said[0], said[1])).encode()).digest())
    other = "".join(_SIGNS[digest // len(_SIGNS) ** place % len(_SIGNS)] for place in range(_LENGTH))
    if _first(state.day, other) is None:
        blocks = state.day.blocks
        position = next((index + 1 for index, block in enumerate(blocks) if block.key == key), len(blocks))
        block = new_block(f"daily:{other}", f"{said[0]} {_CLASH}".strip(), said[1], state.day.eol)
        state.day = state.day.insert(block, position, state.date).say(other, said[2], state.date)


def _insert(state: _State, block: Block, previous: str, theirs: Day) -> None:
    """Put an entry of the other side behind the one that it follows there."""
    assert block.heading is not None
    blocks = state.day.blocks
    behind = [index + 1 for index, each in enumerate(blocks) if previous and each.key == previous]
    text = block.text.replace("\r\n", "\n").rstrip("\n") + "\n"
    new = Block(block.heading, text.replace("\n", state.day.eol))
    state.day = state.day.insert(new, behind[0] if behind else len(blocks), state.date)
    entry = theirs.entry(block.key)
    if entry is not None and entry.fields:
        state.day = state.day.say(block.key, entry.fields, state.date)


def _insert_again(state: _State, block: Block, base: Day | None) -> None:
    """Keep what a second entry with the same id says, as somebody makes it who copies one by hand."""
    key, text = block.key, _text(block)
    if any(_text(each) == text for day in (state.day, base) if day for each in day.blocks if each.key == key):
        return
    assert block.heading is not None
    state.clashes.append(key)
    _keep(state, key, (block.heading.title, block.content, {}))


def _united(mine: Mapping[str, Any], yours: Mapping[str, Any]) -> dict[str, Any]:
    united = {**yours, **mine}
    for name in mine.keys() & yours.keys():
        one, other = mine[name], yours[name]
        if isinstance(one, list) and isinstance(other, list):
            united[name] = sorted({str(item) for item in (*one, *other)})
        else:
            united[name] = max(one, other, key=str)
    return united


def _plain(state: _State, theirs: Day, base: Day | None) -> None:
    """Text without an id, paragraph by paragraph where it stands before all headings."""
    known = {_text(block) for block in state.day.blocks if not block.key and block.heading}
    old = {_text(block) for block in base.blocks if not block.key and block.heading} if base else set()
    wanted = [block for block in theirs.blocks if not block.key and block.heading]
    gone = old - {_text(block) for block in wanted}
    if gone & known:
        kept = tuple(block for block in state.day.blocks if block.key or not block.heading or _text(block) not in gone)
        state.day = replace(state.day, blocks=kept)
    for block in wanted:
        if _text(block) not in known | old:
            text = block.text.replace("\r\n", "\n").rstrip("\n") + "\n"
            new = Block(block.heading, text.replace("\n", state.day.eol))
            state.day = state.day.insert(new, len(state.day.blocks), state.date)
            known.add(_text(block))
    before = set(_paragraphs(base)) if base else set()
    here = _paragraphs(state.day)
    there = _paragraphs(theirs)
    added = [text for text in dict.fromkeys(there) if text not in here and text not in before]
    removed = {text for text in here if text in before and text not in there}
    if added or removed:
        eol = state.day.eol
        text = (eol * 2).join(
            paragraph.replace("\n", eol) for paragraph in [*(t for t in here if t not in removed), *added]
        )
        rest = tuple(block for block in state.day.blocks if block.heading)
        state.day = replace(state.day, blocks=rest)
        if text:
            state.day = state.day.insert(Block(None, text + eol), 0, state.date)


def _text(block: Block) -> str:
    return f"{block.heading.title if block.heading else ''}\n{block.content}"


def _paragraphs(day: Day) -> list[str]:
    text = "".join(block.text for block in day.blocks if block.heading is None).replace("\r\n", "\n")
    return [part.strip("\n") for part in text.split("\n\n") if part.strip()]
