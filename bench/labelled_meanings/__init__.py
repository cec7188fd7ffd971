"""Questions that people would ask of their notes, each with the text that answers it, in four languages."""

from dataclasses import dataclass
from pathlib import Path

from bench.labelled_meanings.filler import texts

FILES = {"en": "english.txt", "de": "german.txt", "es": "spanish.txt", "fr": "french.txt"}
KINDS = ("paraphrase", "name", "negation", "date", "long", "across")
ALL = 4_000
_RIVAL = "rival"


@dataclass(frozen=True, slots=True)
class Question:
    """A question; `answer` is the place of its text, `held_back` those that no number of the recipe was chosen by.

    The text of a question of the kind `across` is in another language than the question.
    """

    language: str
    kind: str
    text: str
    answer: int
    held_back: bool


def load() -> tuple[list[Question], list[str]]:
    """The questions, and 4,000 texts of which each question has one for its answer.

    A rival is a text without a question: it says of the same thing the opposite, or when else it was.
    """
    questions: list[Question] = []
    known: list[str] = []
    for language, name in FILES.items():
        lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
        number = 0
        for line in (line for line in lines if not line.startswith("#")):
            kind, question, text = line.split(" | ", 2)
            if kind != _RIVAL:
                # A rival is not counted, so that one more of them leaves what is held back as it is.
                questions.append(Question(language, kind, question, len(known), held_back=number % 2 == 1))
                number += 1
            known.append(text)
    return questions, [*known, *texts(ALL - len(known))]
