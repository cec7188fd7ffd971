"""Resolution of a name to an entity: exactly, without case and accents, by an alias, or nearly."""

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

from .index import ALIAS, ID, NAME, SLUG
from .names import LONGEST, distance, fold, trigrams
from .wiki import key_of

Match = Literal["id", "exact", "alias", "folded", "fuzzy", "part"]

SURE = 0.8
"""From this confidence on a name is taken to mean the entity."""

_EXACT = {NAME: 1.0, SLUG: 0.98, ALIAS: 0.97, ID: 1.0}
_FOLDED = 0.95
_AMBIGUOUS = 0.5
_MOST_OF_ONE, _CANDIDATES = 200, 20
_SHORTEST_FUZZY = 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that a text may mean; `number` is its row, `text` the name of it that fits."""

    number: int
    confidence: float
    match: Match
    text: str


def resolve(connection: sqlite3.Connection, text: str, limit: int = 5) -> list[Candidate]:
    """The entities that a text may mean, the likeliest first; several with the same name are none of them sure."""
    wanted = text.strip()
    if wanted.startswith("[[") and wanted.endswith("]]"):
        wanted = wanted[2:-2].split("|")[0].split("#")[0].strip()
    if not wanted or len(wanted) > LONGEST:
        return []
    exact = _exact(connection, wanted)
    if exact:
        return exact[:limit]
    key = fold(wanted)
    found: dict[int, Candidate] = {}
    for candidate in (*_fuzzy(connection, key), *_part(connection, key)):
        known = found.get(candidate.number)
        if known is None or candidate.confidence > known.confidence:
            found[candidate.number] = candidate
    ordered = sorted(found.values(), key=lambda entry: (-entry.confidence, entry.text))
    # Two that are as near as each other: neither can be meant without asking.
    if len(ordered) > 1 and ordered[0].confidence - ordered[1].confidence < 0.02:
        ordered = [_with(entry, min(entry.confidence, _AMBIGUOUS)) for entry in ordered]
    return ordered[:limit]


def target_of(connection: sqlite3.Connection, target: str) -> int | None:
    """The entity that a link leads to: by its name before others by their alias, the older one first.

    What stands before a slash tells several of one name apart, and need not be there.
    """
    if "/" in target:
        row = connection.execute(
            "SELECT entity FROM names WHERE key = ? AND kind != ? AND instr(text, '/') ORDER BY kind, entity LIMIT 1",
            (fold(target), ID),
        ).fetchone()
        if row is not None:
            return int(row["entity"])
    rows = connection.execute(
        "SELECT entity, path FROM names JOIN entities ON entities.id = entity WHERE key = ? ORDER BY kind, entity LIMIT ?",
        (key_of(target), _MOST_OF_ONE if "/" in target else 1),
    ).fetchall()
    inside = (row["entity"] for row in rows if lies_at(row["path"], target))
    return next(inside, rows[0]["entity"] if rows else None)


def lies_at(path: str, target: str) -> bool:
    """True if a link names a file, with one or more of the folders that it lies in."""
    way, wanted = (text.removesuffix(".md").split("/") for text in (path, target))
    return [*map(fold, way)][-len(wanted) :] == [*map(fold, wanted)]


def _exact(connection: sqlite3.Connection, wanted: str) -> list[Candidate]:
    found: dict[int, Candidate] = {}
    for key in dict.fromkeys((fold(wanted), key_of(wanted))):
        rows = connection.execute(
            "SELECT entity, kind, text, path FROM names JOIN entities ON entities.id = entity WHERE key = ?"
            " ORDER BY kind, entity",
            (key,),
        ).fetchall()
        for row in rows:
            same = row["text"] == wanted
            if row["kind"] == ID:
                if same:
                    return [Candidate(row["entity"], _EXACT[ID], "id", wanted)]
                continue
            if "/" in wanted and lies_at(row["path"], wanted):
                return [Candidate(row["entity"], _EXACT[SLUG], "folded", row["text"])]
            match: Match = "alias" if row["kind"] == ALIAS else "exact"
            confidence = _EXACT[row["kind"]] if same or row["kind"] == SLUG else _FOLDED
            found.setdefault(
                row["entity"], Candidate(row["entity"], confidence, match if same else "folded", row["text"])
            )
        if found:
            break
    ordered = sorted(found.values(), key=lambda entry: -entry.confidence)
    if len(ordered) > 1 and ordered[0].match == ordered[1].match:
        return [_with(entry, _AMBIGUOUS) for entry in ordered]
    return ordered


def _fuzzy(connection: sqlite3.Connection, key: str) -> list[Candidate]:
    """Names with a few other letters; those with one alone, if there are any."""
    if len(key) < _SHORTEST_FUZZY:
        return []
    most = 1 if len(key) < 8 else 2 if len(key) < 16 else 3
    # Most names that are misspelt have one mistake, for which far fewer names have to be looked at.
    return _within(connection, key, 1) or (_within(connection, key, most) if most > 1 else [])


def _within(connection: sqlite3.Connection, key: str, most: int) -> list[Candidate]:
    """Names that differ in `most` letters at the most, found by the rarest runs of three letters that they share."""
    lengths = len(key) - most, len(key) + most
    # Plain tuples: there are hundreds of these rows.
    cursor = connection.cursor()
    cursor.row_factory = None
    counted = "SELECT count(*) FROM (SELECT 1 FROM trigrams WHERE gram = ? AND letters BETWEEN ? AND ? LIMIT ?)"
    counts = {gram: cursor.execute(counted, (gram, *lengths, _MOST_OF_ONE + 1)).fetchone()[0] for gram in trigrams(key)}
    # By the gram as well, or which of equally rare ones count would differ from process to process. One mistake touches
    # four of them at most, so that one of five leads to every name that has only one.
    rarest = sorted((count, gram) for gram, count in counts.items() if count)[: 3 * most + 2]
    listed = "SELECT name FROM trigrams WHERE gram = ? AND letters BETWEEN ? AND ? LIMIT ?"
    shared: Counter[int] = Counter()
    for _, gram in rarest:
        shared.update(map(itemgetter(0), cursor.execute(listed, (gram, *lengths, _MOST_OF_ONE))))
    numbers = [name for name, _ in shared.most_common(_CANDIDATES)]
    found = []
    for row in connection.execute(
        "SELECT entity, key, text FROM names WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(numbers),)
    ):
        letters = distance(key, row["key"], most)
        if letters <= most:
            confidence = 0.93 - letters * 0.9 / max(len(key), len(row["key"]))
            found.append(Candidate(row["entity"], round(confidence, 2), "fuzzy", row["text"]))
    return found


def _part(connection: sqlite3.Connection, key: str) -> list[Candidate]:
    """Names that begin with the text: `Kevin` for `Kevin Nguyen`, as long as there is only one."""
    parts = key.split(" ")
    rows = connection.execute(
        "SELECT DISTINCT entity, text FROM names WHERE first = ? AND words > ? AND key >= ? AND key < ? LIMIT 3",
        (parts[0], len(parts), f"{key} ", f"{key}!"),
    ).fetchall()
    entities = {row["entity"]: row["text"] for row in rows}
    confidence = SURE if len(entities) == 1 else 0.4
    return [Candidate(number, confidence, "part", text) for number, text in entities.items()]


def _with(candidate: Candidate, confidence: float) -> Candidate:
    return Candidate(candidate.number, confidence, candidate.match, candidate.text)
