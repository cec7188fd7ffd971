"""Entities that may be one: the same words in their names, nearly the same letters, or one name that begins the other."""

import sqlite3
from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from .index import ALIAS, NAME
from .names import distance

Reason = Literal["same_name", "same_words", "similar", "part"]

MOST = 200
"""Pairs that are told."""

_MOST_NAMES = 4_000
"""Of so many names each is compared with those that are like it; of more, only the same words are looked for."""

_SURE: dict[Reason, float] = {"same_name": 0.95, "same_words": 0.9, "similar": 0.7, "part": 0.5}
_SHORTEST = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows that may be one entity; the first is the older one."""

    one: int
    other: int
    reason: Reason
    confidence: float


def pairs(connection: sqlite3.Connection, type_: str) -> list[Pair]:
    """The pairs of one type, the surest first."""
    rows = connection.execute(
        "SELECT DISTINCT names.entity, names.key FROM names JOIN entities ON entities.id = names.entity"
        " WHERE entities.type = ? AND names.kind IN (?, ?) ORDER BY names.entity",
        (type_, NAME, ALIAS),
    ).fetchall()
    found: dict[tuple[int, int], Pair] = {}

    def note(one: int, other: int, reason: Reason) -> None:
        ends = min(one, other), max(one, other)
        if one != other and (ends not in found or found[ends].confidence < _SURE[reason]):
            found[ends] = Pair(*ends, reason, _SURE[reason])

    names = [(row["entity"], row["key"]) for row in rows]
    by_key, by_words, by_first = (defaultdict[str, list[tuple[int, str]]](list) for _ in range(3))
    for entity, key in names:
        by_key[key].append((entity, key))
        by_words[" ".join(sorted(key.split(" ")))].append((entity, key))
        by_first[key.partition(" ")[0]].append((entity, key))
    for group, reason in ((by_words, "same_words"), (by_key, "same_name")):
        for same in group.values():
            for entity, _ in same[1:MOST]:
                note(same[0][0], entity, reason)  # type: ignore[arg-type]
    if len(names) <= _MOST_NAMES:
        for entity, key in names:
            longer = {other for other, name in by_first.get(key, ()) if name != key}
            if " " not in key and len(longer) == 1:
                note(entity, longer.pop(), "part")
        for one, other in _similar(names):
            note(one, other, "similar")
    return sorted(found.values(), key=lambda pair: (-pair.confidence, pair.one, pair.other))[:MOST]


def _similar(names: list[tuple[int, str]]) -> list[tuple[int, int]]:
    """Names with as many words of which one differs in one letter, or two if it is long: found by what they share."""
    found = []
    shared: defaultdict[tuple[object, ...], list[tuple[int, str]]] = defaultdict(list)
    for entity, key in names:
        words = key.split(" ")
        for place, word in enumerate(words):
            # The other words are the same, and of this one the first or the last letters.
            rest = (place, *words[:place], "", *words[place + 1 :])
            if len(word) >= _SHORTEST:
                shared[(*rest, "begins", word[:2])].append((entity, word))
                shared[(*rest, "ends", word[-2:])].append((entity, word))
    for group in shared.values():
        for number, (one, word) in enumerate(group[:MOST]):
            for other, like in group[number + 1 : MOST]:
                most = 1 if max(len(word), len(like)) < 8 else 2
                if one != other and word != like and distance(word, like, most) <= most:
                    found.append((one, other))
    return found
