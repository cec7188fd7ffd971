"""Search by meaning: what it finds of questions that people have labelled, how fast, and what the index takes."""

import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.labelled_meanings import Question, load
from bench.labelled_meanings.filler import texts
from bench.results import NotMeasurable, Result
from parachute.core.meaning import ENOUGH, MOST, SURE, merged, worth_showing
from parachute.core.stopwords import keywords
from parachute.llm.meaning.index import Index
from parachute.llm.meaning.source import Source

_ENTRIES, _PUT = 50_000, 1_000
_LIMIT = 10
Hit = tuple[int, bool]
"""The place of a text, and whether the words are sure of it."""


def measure() -> Iterator[Result]:
    """In a process of its own, whose memory is that of the index."""
    if (problem := Source(None).problem) is not None:
        raise NotMeasurable(problem)
    done = subprocess.run(
        [sys.executable, "-m", "bench.benchmarks.meaning"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    for line in done.stdout.splitlines():
        yield Result(**json.loads(line))


def _quality(folder: Path) -> Iterator[Result]:
    questions, known = load()
    index = Index(folder, Source(None))
    index.put("texts", {str(place): text for place, text in enumerate(known)}, [])
    while index.work(5)["waiting"]:
        pass
    words = _Words(known)
    found: dict[str, dict[Question, list[int]]] = {"words": {}, "meaning": {}, "both": {}}
    for question in questions:
        hits = words.search(question.text)
        close = index.find("texts", question.text, MOST)["results"]
        near = [(int(each.key), True) for each in close]
        found["words"][question] = [place for place, _ in hits]
        found["meaning"][question] = [place for place, _ in near]
        sure = sum(sure for _, sure in hits)
        both = hits
        if sure < ENOUGH:
            shown = [(int(each.key), True) for each in worth_showing(close, sure)]
            both = merged(hits, shown, _LIMIT, lambda hit: hit[0], lambda hit: hit[1])
        found["both"][question] = [place for place, _ in both]
    for language in ("en", "de"):
        own = [question for question in questions if question.language == language and question.held_back]
        for how, answers in found.items():
            ranks = [_rank(question, answers[question]) for question in own]
            yield Result(
                f"meaning.{language}_{how}_missed_in_5", 100 * sum(not 0 < rank <= 5 for rank in ranks) / len(own), "%"
            )
            yield Result(f"meaning.{language}_{how}_mrr", sum(1 / rank for rank in ranks if rank) / len(own), "")
        for kind in ("paraphrase", "name", "negation"):
            ranks = [_rank(question, found["both"][question]) for question in own if question.kind == kind]
            missed = 100 * sum(not 0 < rank <= 5 for rank in ranks) / len(ranks)
            yield Result(f"meaning.{language}_{kind}_missed_in_5", missed, "%")
    worse = [question for question in questions if _is_worse(question, found)]
    yield Result("meaning.answered_by_words_and_worse", len(worse), "", 1)


def _is_worse(question: Question, found: dict[str, dict[Question, list[int]]]) -> bool:
    before, after = (_rank(question, found[how][question]) for how in ("words", "both"))
    return 0 < before <= 5 and not 0 < after <= 5


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
                return [(row[0], joint == " AND " or -row[1] / (5 - row[1]) >= SURE) for row in rows]
        return []


def _size(folder: Path) -> Iterator[Result]:
    index = Index(folder, Source(None))
    known = list(texts(_ENTRIES))
    for first in range(0, _ENTRIES, _PUT):
        part = {str(first + place): text for place, text in enumerate(known[first : first + _PUT])}
        index.put("texts", part, [])
    del known
    begun = time.perf_counter()
    while index.work(5)["waiting"]:
        pass
    yield Result("meaning.index_50000", time.perf_counter() - begun, "s", 600)
    questions, _ = load()
    index.find("texts", "anything", MOST)
    times = []
    for question in questions:
        begun = time.perf_counter()
        index.find("texts", question.text, MOST)
        times.append(time.perf_counter() - begun)
    yield Result("meaning.find_p95", sorted(times)[len(times) * 95 // 100] * 1000, "ms", 30)
    yield Result("meaning.memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB", 150)


def _main() -> None:
    for part in (_size, _quality):
        with tempfile.TemporaryDirectory() as folder:
            for result in part(Path(folder)):
                print(json.dumps({name: getattr(result, name) for name in ("name", "value", "unit", "budget")}))


if __name__ == "__main__":
    _main()
