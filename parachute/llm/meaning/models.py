"""Models of the index, and the errors that it has of its own."""

from dataclasses import dataclass

from parachute.base.errors import InvalidInput, Unavailable

INSTALL_COMMAND = "pip install 'parachute-computer[offline]'"


class BadModel(InvalidInput):
    """A file or folder that is no model of words, or one that cannot be used."""

    key = "bad_model"


class MeaningUnavailable(Unavailable):
    """There is nothing here that knows meanings; words alone are searched."""

    key = "no_meaning"


@dataclass(frozen=True, slots=True)
class Near:
    """A text that is near to a question: its key in the collection, and from 0 to 1 how near."""

    key: str
    score: float
