"""Models of the index, and the errors that it has of its own."""

from parachute.base.errors import InvalidInput, Unavailable
from parachute.core.meaning import Near

__all__ = ["INSTALL_COMMAND", "BadModel", "MeaningUnavailable", "Near"]

INSTALL_COMMAND = "pip install 'parachute-computer[offline]'"


class BadModel(InvalidInput):
    """A file or folder that is no model of words, or one that cannot be used."""

    key = "bad_model"


class MeaningUnavailable(Unavailable):
    """There is nothing here that knows meanings; words alone are searched."""

    key = "no_meaning"
