"""Looking through the vault: what the index should have of it, what is to be read, and what is gone."""

import asyncio
import json
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from parachute.files import texts
from parachute.files.documents.kinds import is_picture
from parachute.files.documents.pieces import keys_of
from parachute.files.documents.store import Document, DocumentStore

_LARGEST_QUESTION, _LARGEST_ANSWER = 20_000_000, 3_000_000
"""Bytes of keys and marks that the index is asked about at once, and of keys that it may answer with."""

_LARGEST_LIST = 5_000_000
_UNREAD = ""
"""The mark of a document that was never read: its name is searched."""


class Look(Struct, frozen=True):
    """State of the vault: `wanted` are the keys with marks that the index should have, `gone` those to forget, None for all others.

    `waiting` are the marks of documents that are still to be read, in the order in which they are; `letters` those that are kept.
    """

    marks: texts.Marks
    wanted: dict[str, str]
    gone: list[str] | None
    waiting: dict[str, str]
    unreadable: dict[str, str]
    letters: int
    most: int
    """So many keys fit into an answer."""


async def look(
    root: Path, store: DocumentStore, before: texts.Marks, lately: Container[str], now: int, *, pictures: bool = True
) -> Look:
    """Look through the vault, and forget documents that are gone; those read `lately` wait for the others.

    Errors: OSError without a vault, Unavailable.
    """
    found = await asyncio.to_thread(texts.marks, root, pictures=pictures)
    known = await store.known()
    unmet = known.keys() - found.documents.keys()
    if found.problem:
        # Not all of the vault was looked through: what was not met may be there.
        asked = [*unmet, *(before.texts.keys() - found.texts.keys() - found.documents.keys())]
        unmet = set(_bounded(await asyncio.to_thread(texts.gone, root, asked), _LARGEST_LIST))
    forgotten = {path: known[path].pieces if path in known else 1 for path in unmet}
    if removed := known.keys() & forgotten.keys():
        await store.forget(removed)
    gone = list(_bounded(_keys(forgotten), _LARGEST_LIST)) if found.problem else None
    return await asyncio.to_thread(_compared, found, known, gone, lately, now)


def _compared(
    found: texts.Marks, known: Mapping[str, Document], gone: list[str] | None, lately: Container[str], now: int
) -> Look:
    wanted, waiting, unreadable = dict(found.texts), {}, {}
    for path, mark in found.documents.items():
        document = known.get(path)
        if document is None or document.mark != mark:
            waiting[path] = mark
        # Until it is read again, a document is found by what it said before, or by its name.
        wanted |= dict.fromkeys(keys_of(path, document.pieces), document.mark) if document else {path: _UNREAD}
        if document and document.reason and not is_picture(path):
            unreadable[path] = document.reason

    def turn(item: tuple[str, str]) -> tuple[bool, bool, int]:
        path, mark = item
        return is_picture(path), path in lately, -min(texts.changed_at(mark), now)

    # Names of any length are for their writer to choose: the shortest go first.
    asked = {key: wanted[key] for key in _bounded(sorted(wanted, key=len), _LARGEST_QUESTION)}
    longest = max(map(_size, asked), default=1)
    letters = sum(document.letters for path, document in known.items() if path in found.documents)
    order = dict(sorted(waiting.items(), key=turn))
    return Look(found, asked, gone, order, unreadable, letters, _LARGEST_ANSWER // longest)


def _keys(pieces: Mapping[str, int]) -> Iterator[str]:
    for path, count in pieces.items():
        yield from keys_of(path, count)


def _bounded(keys: Iterable[str], most: int) -> Iterator[str]:
    for key in keys:
        most -= _size(key)
        if most < 0:
            return
        yield key


def _size(key: str) -> int:
    """The bytes of a key with its mark, as JSON."""
    return len(json.dumps(key)) + 80
