"""Merge of two versions of a text, paragraph by paragraph, with the version that both were made from.

A paragraph here also is an item of a list, a row of a table or a heading with what stands directly below it, and all of the front
matter. Libraries for this merge by lines, and take two additions at the end of a file for a conflict, which is what two phones make of
every journal.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

LARGEST = 1024 * 1024
"""Bytes of a text that is merged."""

_MOST_PARTS = 8_000
_BEGINS = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|#{1,6}[ \t]|[ \t]*\|")
_FRONT = re.compile(r"---[ \t]*\n(?:.*\n){0,400}?(?:---|\.\.\.)[ \t]*(?=\n|\Z)")


class Merged(NamedTuple):
    """A merged text; `is_whole` is false where a paragraph was changed on both sides, and the first one stands."""

    text: str
    is_whole: bool


class _Part(NamedTuple):
    text: str
    gap: str


class _Change(NamedTuple):
    """Paragraphs `begin` to `end` of the base became these."""

    begin: int
    end: int
    parts: tuple[_Part, ...]


def text_of(data: bytes) -> str | None:
    """Return a text that can be merged, None for what is none, or too large."""
    if len(data) > LARGEST or b"\0" in data:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if text.count("\n") <= _MOST_PARTS else None


def merge(base: str | None, ours: str, theirs: str, *, is_stale: bool = False, both: bool = False) -> Merged:
    """Join what both have changed since `base`; without one, what only one of them has counts as added.

    A paragraph that one has removed and the other changed stays changed. Of one that both have changed `ours` stands, with `both` the one
    behind the other. A merge that is made again changes nothing. `is_stale`: what `base` has and `ours` has not may have been lost.
    """
    if ours == theirs or (theirs == base and not is_stale):
        return Merged(ours, is_whole=True)
    if ours == base:
        return Merged(theirs, is_whole=True)
    ending = "\r\n" if "\r\n" in ours else "\n"
    mine, yours = _split(ours.replace("\r\n", "\n")), _split(theirs.replace("\r\n", "\n"))
    old = [] if base is None else _split(base.replace("\r\n", "\n"))
    if is_stale:
        kept = _not_moved(mine, yours)
        moved = {part.text for part in yours} - {part.text for part in kept}
        old, yours = [part for part in _common(mine, old) if part.text not in moved], kept
    elif base is None:
        old, yours = _common(mine, yours), _not_moved(mine, yours)
    parts, is_whole = _merged(old, mine, yours, joins=base is not None, both=both)
    if parts:
        parts[-1] = _Part(parts[-1].text, (mine or yours or parts)[-1].gap)
    return Merged("".join(_written(parts)).replace("\n", ending), is_whole)


def shares_most(one: str, other: str) -> bool:
    """Return whether at least half of the paragraphs of both texts are the same."""
    mine, yours = _split(one.replace("\r\n", "\n")), _split(other.replace("\r\n", "\n"))
    return len(_common(mine, yours)) * 2 >= max(len(mine), len(yours), 1)


def _split(text: str) -> list[_Part]:
    front = _FRONT.match(text)
    begin = front.end() if front else 0
    parts = [_Part(front[0], "")] if front else []
    lines: list[str] = []
    gap = ""

    def end() -> None:
        if lines or gap:
            said = "".join(lines)
            body = said.rstrip("\n")
            if not body and parts and not parts[-1].gap:
                parts[-1] = _Part(parts[-1].text, said + gap)
            else:
                parts.append(_Part(body, said[len(body) :] + gap))
            lines.clear()

    for line in re.findall(r"[^\n]*\n|[^\n]+\Z", text[begin:]):
        if not line.strip():
            gap += line
        else:
            if gap or _BEGINS.match(line):
                end()
                gap = ""
            lines.append(line)
    end()
    return parts


def _written(parts: Sequence[_Part]) -> Iterator[str]:
    """Put parts behind each other so that they are the same parts when they are read again."""
    shown = [part for place, part in enumerate(parts) if part.text or not place]
    for part, after in zip(shown, [*shown[1:], None], strict=False):
        yield part.text
        alone = not part.text or _FRONT.match(part.text) or (after and _BEGINS.match(after.text))
        wanted = 0 if after is None else 1 if alone else 2
        yield part.gap + "\n" * max(wanted - part.gap.count("\n"), 0)


def _merged(
    old: list[_Part], mine: list[_Part], yours: list[_Part], *, joins: bool, both: bool
) -> tuple[list[_Part], bool]:
    sides = [_compared(old, mine).get_opcodes(), _compared(old, yours).get_opcodes()]
    gaps = [part.gap for part in old]
    for opcodes, new in ((sides[1], yours), (sides[0], mine)):
        for tag, begin, end, first, _ in opcodes:
            for step in range(end - begin if tag == "equal" else 0):
                if new[first + step].gap != old[begin + step].gap:
                    gaps[begin + step] = new[first + step].gap
    found: list[_Part] = []
    is_whole, place, beside = True, 0, set[str]()
    for begin, end, of_mine, of_yours in _groups(_changes(sides[0], mine), _changes(sides[1], yours)):
        kept = [_Part(old[each].text, gaps[each]) for each in range(place, begin)]
        beside = set() if kept else beside
        found += kept
        place, there = end, len(found)
        ours, theirs = _region(old, begin, end, of_mine), _region(old, begin, end, of_yours)
        before = {part.text for part in old[begin:end]}
        if not of_yours or (of_mine and _is_within(_added(theirs, before), ours)):
            found += _without(ours, before, theirs)
        elif not of_mine or _is_within(_added(ours, before), theirs):
            found += _without(theirs, before, ours)
        elif both or (joins and begin == end and not _has_front(ours, theirs)):
            found += _union(ours, theirs)
        else:
            is_whole = False
            found += ours
        # The other side may have written the same directly above.
        found[there:] = [part for part in found[there:] if part.text not in beside]
        beside |= {part.text for part in found[there:]}
    return found + [_Part(old[each].text, gaps[each]) for each in range(place, len(old))], is_whole


def _changes(opcodes: Sequence[tuple[str, int, int, int, int]], new: list[_Part]) -> Iterator[_Change]:
    for tag, begin, end, first, last in opcodes:
        if tag == "delete":
            yield from (_Change(each, each + 1, ()) for each in range(begin, end))
        elif tag != "equal":
            yield _Change(begin, end, tuple(new[first:last]))


def _groups(
    mine: Iterable[_Change], yours: Iterable[_Change]
) -> Iterator[tuple[int, int, list[_Change], list[_Change]]]:
    """Changes that concern the same paragraphs, or add at the same place, by their range."""
    waiting = sorted(
        [(each.begin, each.end, 0, each) for each in mine] + [(each.begin, each.end, 1, each) for each in yours]
    )
    while waiting:
        begin, end, side, change = waiting.pop(0)
        sides: tuple[list[_Change], list[_Change]] = ([], [])
        sides[side].append(change)
        while waiting and (waiting[0][0] < end or (waiting[0][0], waiting[0][1]) == (begin, end)):
            _, other, side, change = waiting.pop(0)
            end = max(end, other)
            sides[side].append(change)
        yield begin, end, *sides


def _region(old: list[_Part], begin: int, end: int, changes: list[_Change]) -> list[_Part]:
    found, place = list[_Part](), begin
    for change in changes:
        found += [*old[place : change.begin], *change.parts]
        place = change.end
    return found + old[place:end]


def _common(mine: list[_Part], yours: list[_Part]) -> list[_Part]:
    blocks = _compared(mine, yours).get_matching_blocks()
    return [part for block in blocks for part in mine[block.a : block.a + block.size]]


def _not_moved(mine: list[_Part], yours: list[_Part]) -> list[_Part]:
    """Return yours without what stands elsewhere in mine: it was moved, and not written again."""
    known = {part.text for part in mine}
    return [
        part
        for tag, _, _, first, last in _compared(mine, yours).get_opcodes()
        for part in yours[first:last]
        if tag == "equal" or part.text not in known
    ]


def _union(ours: list[_Part], theirs: list[_Part]) -> list[_Part]:
    found = list[_Part]()
    for tag, begin, end, first, last in _compared(ours, theirs).get_opcodes():
        found += ours[begin:end]
        if tag != "equal":
            found += theirs[first:last]
    return found


def _is_within(few: list[_Part], many: list[_Part]) -> bool:
    """Return whether all parts of `few` are in `many`, in their order."""
    left = iter(part.text for part in many)
    return all(part.text in left for part in few)


def _added(parts: list[_Part], before: set[str]) -> list[_Part]:
    return [part for part in parts if part.text not in before]


def _without(parts: list[_Part], before: set[str], others: list[_Part]) -> list[_Part]:
    """Return parts without those of before that the others have removed."""
    removed = before - {part.text for part in others}
    return [part for part in parts if part.text not in removed]


def _has_front(*sides: list[_Part]) -> bool:
    return any(part.text.startswith("---\n") for side in sides for part in side)


def _compared(old: list[_Part], new: list[_Part]) -> "SequenceMatcher[str]":
    return SequenceMatcher(None, [part.text for part in old], [part.text for part in new], autojunk=False)
