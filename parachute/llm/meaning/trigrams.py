"""Similarity of words by their letters: forms of one word, and compounds, of which a table of another language knows nothing."""

import unicodedata
from collections.abc import Iterable
from typing import Any

_BEGINS, _ENDS = "^", "\n"
_BITS = 21
"""Of a sign of Unicode."""


class Trigrams:
    """Words by each three signs that follow one another, the beginning counted as one."""

    def __init__(self, words: Iterable[str]) -> None:
        import numpy

        joined = "".join(f"{_BEGINS}{_folded(word)}{_ENDS}" for word in words)
        signs = numpy.frombuffer(joined.encode("utf-32-le"), "<u4").astype("u8")
        ends = signs == ord(_ENDS)
        owners = numpy.cumsum(ends) - ends
        inside = ~(ends[:-2] | ends[1:-1] | ends[2:]) if len(signs) > 2 else numpy.zeros(0, bool)
        trigrams, owners = _trigrams(signs)[inside], owners[: len(inside)][inside].astype("u4")
        order = numpy.argsort(trigrams, kind="stable")
        self._trigrams, self._owners = trigrams[order], owners[order]
        self._counts = numpy.bincount(owners, minlength=int(ends.sum()))

    def likeness(self, word: str) -> Any:
        """From 0 to 1 how many of the trigrams of a word each of the words has, and the other way round."""
        import numpy

        signs = numpy.frombuffer(f"{_BEGINS}{_folded(word)}".encode("utf-32-le"), "<u4").astype("u8")
        own = numpy.unique(_trigrams(signs))
        first, last = (numpy.searchsorted(self._trigrams, own, side) for side in ("left", "right"))
        shared = numpy.zeros(len(self._counts), "f4")
        for start, end in zip(first, last, strict=True):
            shared[self._owners[start:end]] += 1
        return numpy.minimum(2 * shared / (len(own) + numpy.maximum(self._counts, 1)), 1)


def _trigrams(signs: Any) -> Any:
    return signs[:-2] << 2 * _BITS | signs[1:-1] << _BITS | signs[2:]


def _folded(word: str) -> str:
    apart = unicodedata.normalize("NFD", word.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))
