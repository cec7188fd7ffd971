"""Vectors as they are stored: numbers of 8 bits with the direction of those that a model gave."""

from typing import Any

from parachute.base.errors import Unavailable

WIDEST = 8192


def packed(numbers: Any) -> bytes:
    """Numbers as bytes from -127 to 127, which have the same direction. Error: Unavailable for values that are no numbers."""
    import numpy

    largest = float(numpy.abs(numbers).max()) if len(numbers) else 0.0
    if not numpy.isfinite(largest):
        raise bad_vectors("An embedding has values that are no numbers.")
    return bytes((numbers / (largest or 1.0) * 127).astype("i1"))


def unpacked(vector: bytes) -> Any:
    """The 32-bit numbers that a server gave. Error: Unavailable where one is cut."""
    import numpy

    if len(vector) % 4:
        raise bad_vectors("An embedding is cut in the middle of a number.")
    return numpy.frombuffer(vector, "<f4")


def bad_vectors(message: str) -> Unavailable:
    """The error of embeddings that are not taken over."""
    hint = "See what answers at `meaning.server`; another model needs another name in `meaning.server_model`."
    return Unavailable(message, hint, key="bad_embeddings")
