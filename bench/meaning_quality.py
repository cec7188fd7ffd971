"""Ranks of the labelled answers: by words, by meaning, and by both as a person gets them. `python -m bench.meaning_quality`."""

import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.labelled_meanings import FILES, KINDS, Question, load
from bench.results import Result
from parachute.core.meaning import ENOUGH, MOST, merged, worth_showing
from parachute.core.stopwords import keywords
from parachute.llm.meaning.index import Index

WORDS, MEANING, BOTH = WAYS = ("words", "meaning", "both")
_LIMIT, _FIRST = 10, 5
_ALL = "all"
_HALVES = {True: "held_back", False: "training"}
Hit = tuple[int, bool]
"""The place of a text, and whether the words are sure of it."""
Ranks = Mapping[str, Mapping[Question, int]]
"""By way and question the rank of the answer, 0 where it was not found."""


def ranks(folder: Path) -> Ranks:
    """Ask every labelled question, with an index in this folder."""
    questions, known = load()
    index = Index(folder)
    index.put("texts", {str(place): text for place, text in enumerate(known)}, [])
    while index.work(5)["waiting"]:
        pass
    words = _Words(known)
    found: dict[str, dict[Question, int]] = {way: {} for way in WAYS}
    for question in questions:
        hits = words.search(question.text)
        close = index.find("texts", question.text, MOST)["results"]
        sure = sum(sure for _, sure in hits)
        both = hits
        if sure < ENOUGH:
            shown = [(int(each.key), False) for each in worth_showing(close, sure)]
            both = merged(hits, shown, _LIMIT, lambda hit: hit[0], lambda hit: hit[1])
        found[WORDS][question] = _rank(question, [place for place, _ in hits])
        found[MEANING][question] = _rank(question, [int(each.key) for each in close])
        found[BOTH][question] = _rank(question, [place for place, _ in both])
    return found


def results(found: Ranks) -> Iterator[Result]:
    """The shares among the first five of both halves: of each way by language, and of both by language and kind."""
    for held_back, half in _HALVES.items():
        for language in FILES:
            for way in WAYS:
                own = _of(found[way], held_back, language)
                yield Result(f"meaning.{half}_{language}_{way}_in_5", _share(own), "%")
                yield Result(
                    f"meaning.{half}_{language}_{way}_mrr", sum(1 / rank for rank in own if rank) / len(own), ""
                )
            for kind in KINDS:
                share = _share(_of(found[BOTH], held_back, language, kind))
                yield Result(f"meaning.{half}_{language}_{kind}_in_5", share, "%")
    worse = sum(_good(found[WORDS][each]) and not _good(found[BOTH][each]) for each in found[BOTH])
    yield Result("meaning.answered_by_words_and_worse", worse, "", 8)


def show(found: Ranks, console: Console) -> None:
    """Print a table for each half: a row for each language and kind, the share among the first five by each way."""
    for held_back, half in _HALVES.items():
        table = Table("language", "kind", title=f"Answers among the first {_FIRST} in %: {half}", title_justify="left")
        for heading in ("questions", *WAYS):
            table.add_column(heading, justify="right")
        for language in (*FILES, _ALL):
            for kind in (*KINDS, _ALL):
                by_way = [_of(found[way], held_back, language, kind) for way in WAYS]
                shares = [f"{_share(own):.0f}" for own in by_way]
                table.add_row(language, kind, str(len(by_way[0])), *shares, end_section=kind == _ALL)
        console.print(table)


def _of(by_question: Mapping[Question, int], held_back: bool, language: str, kind: str = _ALL) -> list[int]:
    return [
        rank
        for question, rank in by_question.items()
        if question.held_back == held_back and language in (question.language, _ALL) and kind in (question.kind, _ALL)
    ]


def _share(own: Sequence[int]) -> float:
    return 100 * sum(map(_good, own)) / len(own)


def _good(rank: int) -> bool:
    return 0 < rank <= _FIRST


def _rank(question: Question, places: Sequence[int]) -> int:
    return places.index(question.answer) + 1 if question.answer in places else 0


class _Words:
    """Words as Brain finds them: all of them, or else any."""

    def __init__(self, known: Sequence[str]) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute(
            "CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')"
        )
        self._connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(known))

    def search(self, question: str) -> list[Hit]:
        words = "".join(sign if sign.isalnum() else " " for sign in question).split()
        for joint, wanted in ((" AND ", words), (" OR ", keywords(words))):
            end = "*" if wanted[-1] is words[-1] else ""
            expression = joint.join(f'"{word}"' for word in wanted) + end
            rows: list[Any] = self._connection.execute(
                "SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (expression, _LIMIT)
            ).fetchall()
            if rows:
                return [(row[0], joint == " AND ") for row in rows]
        return []


def _main() -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as in the process of the index: more of them wait for one another
    with tempfile.TemporaryDirectory() as folder:
        show(ranks(Path(folder)), Console(file=sys.stdout, width=100))


if __name__ == "__main__":
    _main()
