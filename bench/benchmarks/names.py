"""Names that Brain finds in 200 labelled sentences and does not know: mistakes, and what is missed."""

from collections.abc import Iterator

from bench.connection import Connection
from bench.official import OfficialComputer, generator
from bench.results import Result

_BEFORE = {"en": (51, 27), "de": (78, 26), "es": (47, 30)}
"""The same of what took every word for a name that is written large within a sentence."""

_WRONG, _MISSED = 10, 25


def measure() -> Iterator[Result]:
    """Of each language, the share of what is proposed at its first sight that is no name, and of the names that are not."""
    labelled = generator("brain", "labelled")
    computer = OfficialComputer()
    computer.install("brain")
    with computer, computer.connect() as connection:
        for language in labelled.LANGUAGES:
            reached = labelled.quality(
                lambda text: _proposed(connection, text, labelled.WORTH_PROPOSING), labelled.sentences(language)
            )
            wrong, missed = _BEFORE[language]
            yield Result(f"names.{language}_wrong", 100 * (1 - reached.precision), "%", _WRONG, wrong)
            yield Result(f"names.{language}_missed", 100 * (1 - reached.recall), "%", _MISSED, missed)


def _proposed(connection: Connection, text: str, least: float) -> list[str]:
    answer = connection.send("/api/brain/suggest", {"text": text})
    return [name["text"] for name in answer["candidates"] if name["confidence"] >= least]
