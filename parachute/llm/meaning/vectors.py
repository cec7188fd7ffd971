"""Texts by the embeddings of their parts, which a server of the owner's has given."""

from collections.abc import Iterator
from typing import Any

from parachute.base.errors import Unavailable
from parachute.llm.meaning.models import Near
from parachute.llm.meaning.ranking import nearest
from parachute.llm.meaning.store import Model, Store

WIDEST = 8192
_LONGEST_PART, _MOST_PARTS = 1_000, 64
_AT_ONCE = 2_048
_KEPT = 96 << 20
"""Bytes of vectors that are kept in memory; those of more texts are read for each question."""

_FEW, _USUAL = 20, 0.3
"""Any two texts are alike to some models; with fewer parts than that it cannot be told how much."""


def parts_of(text: str) -> list[str]:
    """The parts of a text, whole words where that is possible; none where there are no words."""
    found: list[str] = []
    part = ""
    for word in text.split():
        if part and len(part) + 1 + len(word) > _LONGEST_PART:
            found.append(part)
            part = ""
            if len(found) == _MOST_PARTS:
                return found
        part = f"{part} {word}" if part else word[:_LONGEST_PART]
    return [*found, part] if part else found


def packed(vector: bytes) -> bytes:
    """Numbers of 32 bits as bytes from -127 to 127, which have the same direction."""
    import numpy

    if len(vector) % 4:
        raise bad_vectors("An embedding is cut in the middle of a number.")
    numbers = numpy.frombuffer(vector, "<f4")
    largest = float(numpy.abs(numbers).max()) if len(numbers) else 0.0
    if not numpy.isfinite(largest):
        raise bad_vectors("An embedding has values that are no numbers.")
    return (numbers / (largest or 1.0) * 127).astype("i1").tobytes()


def bad_vectors(message: str) -> Unavailable:
    """The error of embeddings that are not taken over."""
    hint = "See what answers at `meaning.server`; another model needs another name in `meaning.server_model`."
    return Unavailable(message, hint, key="bad_embeddings")


class Collection:
    """The texts of one collection; it may read them anew for each question, so that the store has to stay open."""

    def __init__(self, store: Store, model: Model, name: str) -> None:
        self._store, self._model, self._name = store, model, name
        self._kept: list[tuple[list[str], Any]] | None = None
        if store.vector_count(model, name) * model.dimension <= _KEPT:
            self._kept = list(self._read())

    def find(self, vector: bytes, limit: int, least: float) -> list[Near]:
        """The texts that are nearest to a question's embedding, the nearest first; none below `least`."""
        import numpy

        asked = numpy.frombuffer(packed(vector), "i1").astype("f4")
        if len(asked) != self._model.dimension:
            raise bad_vectors(
                f"The server gives embeddings of {len(asked)} numbers, where they had {self._model.dimension}."
            )
        asked /= max(float(numpy.linalg.norm(asked)), 1e-6)
        keys: list[str] = []
        scores = []
        for own, vectors in self._read() if self._kept is None else self._kept:
            rows = vectors.astype("f4")
            scores.append(rows @ asked / numpy.maximum(numpy.linalg.norm(rows, axis=1), 1e-6))
            keys += own
        if not keys:
            return []
        likeness = numpy.concatenate(scores)
        usual = min(float(likeness.mean()), 0.95) if len(keys) >= _FEW else _USUAL
        return nearest(keys, (likeness - usual) / (1 - usual), limit, least)

    def _read(self) -> Iterator[tuple[list[str], Any]]:
        import numpy

        for rows in self._store.vectors(self._model, self._name, _AT_ONCE):
            data = numpy.frombuffer(b"".join(vector for _, vector in rows), "i1")
            yield [key for key, _ in rows], data.reshape(len(rows), -1)
