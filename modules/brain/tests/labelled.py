"""Sentences of which people have said what in them is worth an entity, and how well somebody finds just that."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("en", "de", "es")
WORTH_PROPOSING = 0.4
"""From this confidence on Daily proposes a name at its first sight."""

_FILE = Path(__file__).with_name("sentences.txt")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text, and its names, each in all the ways in which it may be cut out."""

    language: str
    names: tuple[frozenset[str], ...]
    text: str


@dataclass(frozen=True, slots=True)
class Quality:
    """The share of what was found that is right, and the share of what is right that was found; and the mistakes."""

    precision: float
    recall: float
    wrong: tuple[str, ...]
    missed: tuple[str, ...]


def sentences(language: str) -> list[Sentence]:
    """All of a language."""
    lines = [line.split(" | ", 2) for line in _FILE.read_text().splitlines() if not line.startswith("#")]
    return [Sentence(code, _names(names), text.replace("\\n", "\n")) for code, names, text in lines if code == language]


def quality(found: Callable[[str], Iterable[str]], among: Iterable[Sentence]) -> Quality:
    """Return how well the names of some sentences are found."""
    right, wrong, missed = 0, [], []
    for sentence in among:
        said = set(found(sentence.text))
        for name in sentence.names:
            if said & name:
                right += 1
                said -= name
            else:
                missed.append(f"{' or '.join(sorted(name))}: {sentence.text}")
        wrong += [f"{text}: {sentence.text}" for text in sorted(said)]
    return Quality(right / max(1, right + len(wrong)), right / max(1, right + len(missed)), tuple(wrong), tuple(missed))


def _names(text: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(way.strip() for way in name.split("=")) for name in text.split(";") if name.strip())
