"""Mentions of entities in a text, found in one pass over its words, and names that may be new ones."""

import json
import re
import sqlite3
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from .index import ALIAS, ID
from .names import fold, words
from .news import news_of
from .resolving import target_of
from .spans import Spans

LONGEST = 100_000

_MOST_WORDS = 8
_BATCH = 2_000
_WIKI = re.compile(r"\[\[([^\[\]|#\n]+)(?:[#|][^\[\]\n]*)?\]\]")
_LINKED, _NAMED, _ALIAS, _OTHER_CASE, _AMBIGUOUS = 1.0, 0.95, 0.92, 0.6, 0.5


@dataclass(frozen=True, slots=True)
class Mentioned:
    """Words of a text; `number` is the row of the entity that they name, None for what may become one.

    `news` is the sentence that tells something new of it.
    """

    text: str
    confidence: float
    number: int | None = None
    type: str | None = None
    news: str | None = None


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    number: int
    confidence: float


def suggest(connection: sqlite3.Connection, text: str) -> list[Mentioned]:
    """Each entity that a text mentions, once, the surest first, and after them candidates for new ones."""
    text = unicodedata.normalize("NFC", text[:LONGEST])
    spans = [*_linked(connection, text)]
    taken = [(match.start(), match.end()) for match in _WIKI.finditer(text)]
    spans += _named(connection, text, taken)
    best: dict[int, _Span] = {}
    places: dict[int, list[tuple[int, int]]] = {}
    for span in sorted(spans, key=lambda span: span.start):
        if span.confidence >= _ALIAS:
            places.setdefault(span.number, []).append((span.start, span.end))
        known = best.get(span.number)
        if known is None or span.confidence > known.confidence:
            best[span.number] = span
    ordered = sorted(best.values(), key=lambda span: (-span.confidence, span.start))
    known_links = {(span.start, span.end) for span in spans}
    found = [
        Mentioned(
            text[span.start : span.end].strip("[]").split("|")[0],
            span.confidence,
            span.number,
            news=news_of(text, places[span.number]) if span.confidence >= _ALIAS else None,
        )
        for span in ordered
    ]
    for match in _WIKI.finditer(text):
        if match.span() not in known_links:
            found.append(Mentioned(match[1].strip(), 0.9))
    spans_taken = Spans([*taken, *((span.start, span.end) for span in spans)])
    from .candidates import new_names  # only here: its words of three languages cost most requests nothing

    names = new_names(text, spans_taken)
    # `Kevin` is hardly somebody new where there is a Kevin Nguyen.
    begun = _longest(connection, {fold(entry.text) for entry in names})
    found += [
        Mentioned(entry.text, entry.confidence, type=entry.type) for entry in names if fold(entry.text) not in begun
    ]
    seen: set[tuple[str, int | None]] = set()
    once = []
    for entry in found:
        same = (entry.text.casefold() if entry.number is None else "", entry.number)
        if same not in seen:
            seen.add(same)
            once.append(entry)
    return once


def _linked(connection: sqlite3.Connection, text: str) -> Iterator[_Span]:
    for match in _WIKI.finditer(text):
        number = target_of(connection, match[1].rstrip("\\"))
        if number is not None:
            yield _Span(match.start(), match.end(), number, _LINKED)


def _named(connection: sqlite3.Connection, text: str, taken: list[tuple[int, int]]) -> list[_Span]:
    """Known names, the longest one at each place; the index is asked twice, whatever the length of the text."""
    free = Spans(taken)
    found = [entry for entry in words(text) if not free.touches(entry[1], entry[2])]
    lengths = _longest(connection, {key for key, _, _ in found})
    keys: dict[str, list[tuple[int, int]]] = {}
    for first, (key, _, _) in enumerate(found):
        for count in range(1, min(lengths.get(key, 0), len(found) - first) + 1):
            joined = " ".join(entry[0] for entry in found[first : first + count])
            keys.setdefault(joined, []).append((first, count))
    spans: list[_Span] = []
    covered: set[int] = set()
    known = _known(connection, list(keys))
    places = [(count, first, key) for key, rows in keys.items() if key in known for first, count in rows]
    for count, first, key in sorted(places, key=lambda place: (-place[0], place[1])):
        inside = range(first, first + count)
        start, end = found[first][1], found[first + count - 1][2]
        if covered.isdisjoint(inside) and "\n\n" not in text[start:end]:
            covered.update(inside)
            spans += [
                _Span(start, end, number, confidence) for number, confidence in _sure(known[key], text[start:end])
            ]
    return spans


def _sure(rows: list[tuple[int, int, str]], written: str) -> Iterator[tuple[int, float]]:
    """Each entity of a name with how sure it is; `will` is hardly ever the alias `Will`."""
    several = len({number for number, _, _ in rows}) > 1
    for number, kind, name in rows:
        confidence = _ALIAS if kind == ALIAS else _NAMED
        if written.islower() and not name.islower() and " " not in written:
            confidence = _OTHER_CASE
        yield number, min(confidence, _AMBIGUOUS) if several else confidence


def _longest(connection: sqlite3.Connection, firsts: set[str]) -> dict[str, int]:
    """For each word that a name begins with, of how many words the longest such name consists."""
    rows = connection.execute(
        "SELECT value, (SELECT max(words) FROM names WHERE first = value) AS longest FROM json_each(?)"
        " WHERE longest IS NOT NULL",
        (json.dumps(list(firsts)),),
    )
    return {row["value"]: min(row["longest"], _MOST_WORDS) for row in rows}


def _known(connection: sqlite3.Connection, keys: list[str]) -> dict[str, list[tuple[int, int, str]]]:
    found: dict[str, list[tuple[int, int, str]]] = {}
    for start in range(0, len(keys), _BATCH):
        rows = connection.execute(
            "SELECT key, entity, kind, text FROM names WHERE key IN (SELECT value FROM json_each(?)) AND kind != ?"
            " ORDER BY kind, entity",
            (json.dumps(keys[start : start + _BATCH]), ID),
        )
        for row in rows:
            found.setdefault(row["key"], []).append((row["entity"], row["kind"], row["text"]))
    return found
