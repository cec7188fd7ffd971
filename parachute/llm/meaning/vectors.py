"""Texts by the vectors of their parts: the nearest to that of a question."""

from collections.abc import Iterator
from typing import Any

from parachute.llm.meaning.models import ServerModel
from parachute.llm.meaning.packing import bad_vectors
from parachute.llm.meaning.store import Model, Store

_AT_ONCE = 2_048
_KEPT = 48 << 20
"""Bytes of vectors that are kept in memory; those of more texts are read for each question."""

_FEW, _USUAL = 20, 0.3
"""Any two texts are alike to some models of servers; with fewer parts than that it cannot be told how much."""
_LARGEST = 10.0
"""Standard deviations above the usual that no text reaches."""

Place = tuple[str, int, float]
"""The key of a text, the number of its nearest part, and from 0 to 1 how near that is."""


_Rows = tuple[list[tuple[str, int]], Any, Any, Any, Any]
"""Texts with the numbers of their parts, and of these the vectors, their lengths, and what is usual for each and its spread."""


class Collection:
    """The texts of one collection; it may read them anew for each question, so that the store has to stay open."""

    def __init__(self, store: Store, model: Model, name: str) -> None:
        self._store, self._model, self._name = store, model, name
        self._kept: list[_Rows] | None = None
        if store.vector_count(model, name) * model.dimension <= _KEPT:
            self._kept = list(self._read())

    def find(self, asked: Any, limit: int, least: float) -> list[Place]:
        """The texts that are nearest to a question's vector, the nearest first; none below `least`."""
        import numpy

        if len(asked) != self._model.dimension:
            raise bad_vectors(
                f"The server gives embeddings of {len(asked)} numbers, where they had {self._model.dimension}."
            )
        asked = asked / max(float(numpy.linalg.norm(asked)), 1e-6)
        places: list[tuple[str, int]] = []
        scores = []
        for own, vectors, lengths, usual, spread in self._read() if self._kept is None else self._kept:
            scores.append((vectors.astype("f4") @ asked / lengths - usual) / spread)
            places += own
        if not places:
            return []
        likeness = numpy.concatenate(scores)
        if not ServerModel.is_name(self._model.name):
            return _nearest(places, likeness / _LARGEST, limit, least)
        mean = min(float(likeness.mean()), 0.95) if len(places) >= _FEW else _USUAL
        return _nearest(places, (likeness - mean) / (1 - mean), limit, least)

    def _read(self) -> Iterator["_Rows"]:
        import numpy

        for rows in self._store.vectors(self._model, self._name, _AT_ONCE):
            keys, parts, found, usual, spread = zip(*rows, strict=True)
            data = numpy.frombuffer(b"".join(found), "i1")
            vectors = data.reshape(len(rows), -1)
            # In whole numbers of 32 bits: those of 8 bits would overflow, and a copy as fractions takes four times the memory.
            lengths = numpy.sqrt(numpy.einsum("ij,ij->i", vectors, vectors, dtype="i4"))
            yield (
                list(zip(keys, parts, strict=True)),
                vectors,
                numpy.maximum(lengths, 1e-6).astype("f4"),
                numpy.array(usual, "f4"),
                numpy.array(spread, "f4"),
            )


def _nearest(places: list[tuple[str, int]], scores: Any, limit: int, least: float) -> list[Place]:
    """Texts by the score of their best part."""
    import numpy

    most, found = 0, dict[str, Place]()
    # A text may have any number of parts among the best: then more are looked at.
    while len(found) < limit and most < len(scores):
        most = min(len(scores), max(limit * 4, most * 8))
        likely = numpy.argpartition(-scores, most - 1)[:most]
        for at in likely[numpy.argsort(-scores[likely], kind="stable")]:
            if scores[at] < least:
                return list(found.values())
            key, part = places[at]
            if len(found) < limit:
                found.setdefault(key, (key, part, float(scores[at])))
    return list(found.values())
