"""Shares among the first five: of both halves apart, by way, language and kind."""

import io

from rich.console import Console

from bench.labelled_meanings import FILES, KINDS, Question
from bench.meaning_quality import BOTH, MEANING, WAYS, WORDS, Ranks, results, show

QUESTIONS = [
    Question(language, kind, f"{kind} {number}", number, held_back=number % 2 == 1)
    for language in FILES
    for kind in KINDS
    for number in range(4)
]


def ranks(**found: set[Question]) -> Ranks:
    """The fifth for what is found by a way, the sixth for anything else."""
    return {way: {question: 5 if question in found[way] else 6 for question in QUESTIONS} for way in WAYS}


def values(found: Ranks) -> dict[str, float]:
    """Results by their names."""
    return {result.name: result.value for result in results(found)}


def test_what_is_held_back_counts_for_itself() -> None:
    held_back = {question for question in QUESTIONS if question.held_back}
    measured = values(ranks(words=set(), meaning=held_back, both=held_back))
    for language in FILES:
        assert measured[f"meaning.held_back_{language}_{MEANING}_in_5"] == 100
        assert measured[f"meaning.training_{language}_{MEANING}_in_5"] == 0
        assert measured[f"meaning.held_back_{language}_{WORDS}_in_5"] == 0


def test_a_kind_counts_for_itself() -> None:
    measured = values(ranks(words=set(), meaning=set(), both={each for each in QUESTIONS if each.kind == "date"}))
    assert {name for name, value in measured.items() if value == 100} == {
        f"meaning.{half}_{language}_date_in_5" for half in ("held_back", "training") for language in FILES
    }


def test_an_answer_that_words_have_and_both_have_not_is_counted() -> None:
    lost = set(QUESTIONS[:3])
    measured = values(ranks(words=lost, meaning=set(), both=set(QUESTIONS[2:])))
    assert measured["meaning.answered_by_words_and_worse"] == 2


def test_the_table_has_a_row_for_each_language_and_kind_in_both_halves() -> None:
    written = io.StringIO()
    show(ranks(words=set(), meaning=set(), both=set(QUESTIONS)), Console(file=written, width=100))
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in written.getvalue().splitlines()]
    kinds = [(language, kind) for language in (*FILES, "all") for kind in (*KINDS, "all")]
    assert [(row[0], row[1]) for row in rows if row] == kinds * 2
    assert all(row[3:] == ["0", "0", "100"] for row in rows if row)
    assert BOTH in written.getvalue()
