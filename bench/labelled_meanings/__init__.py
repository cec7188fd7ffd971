"""Questions that people would ask of their notes, each with the text that answers it, in English and German."""

from dataclasses import dataclass
from pathlib import Path

from bench.labelled_meanings.filler import texts

_FILES = {"en": "english.txt", "de": "german.txt"}
ALL = 2_000


@dataclass(frozen=True, slots=True)
class Question:
    """A question; `answer` is the place of its text, `held_back` those that no number of the recipe was chosen by."""

    language: str
    kind: str
    text: str
    answer: int
    held_back: bool


def load() -> tuple[list[Question], list[str]]:
    """The questions, and 2,000 texts of which each has one answer."""
    questions: list[Question] = []
    answers: list[str] = []
    for language, name in _FILES.items():
        lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(line for line in lines if not line.startswith("#")):
            kind, question, answer = line.split(" | ", 2)
            questions.append(Question(language, kind, question, len(answers), held_back=number % 2 == 1))
            answers.append(answer)
    return questions, [*answers, *texts(ALL - len(answers))]
