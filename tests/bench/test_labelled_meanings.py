"""The labelled questions: as many in each language, every kind in both halves, and no text twice."""

from collections import Counter

from bench.labelled_meanings import ALL, FILES, KINDS, load


def test_each_language_has_as_many_questions_and_half_of_them_are_held_back() -> None:
    questions, _ = load()
    halves = Counter((question.language, question.held_back) for question in questions)
    assert halves == {(language, half): 100 for language in FILES for half in (True, False)}


def test_every_kind_is_in_both_halves_of_each_language() -> None:
    questions, _ = load()
    counts = Counter((question.language, question.kind, question.held_back) for question in questions)
    assert set(counts) == {(language, kind, half) for language in FILES for kind in KINDS for half in (True, False)}
    for language in FILES:
        for kind in KINDS:
            assert abs(counts[language, kind, True] - counts[language, kind, False]) <= 1


def test_no_text_and_no_question_is_there_twice() -> None:
    questions, texts = load()
    assert len(texts) == len(set(texts)) == ALL
    assert len({question.text for question in questions}) == len(questions)
    assert len({question.answer for question in questions}) == len(questions)


def test_the_answer_of_a_long_question_is_one_sentence_of_many() -> None:
    questions, texts = load()
    lengths = [len(texts[question.answer].split()) for question in questions if question.kind == "long"]
    assert all(80 <= length <= 200 for length in lengths)
