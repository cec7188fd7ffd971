"""The token embeddings and the vocabulary of a GGUF file, read with bounds; nothing else of it is looked at."""

import mmap
import os
import struct
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec import Struct

from parachute.llm.meaning.models import BadModel

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_F32, _F16, _Q8_0 = 0, 1, 8
_BLOCK = 32  # values of Q8_0 that have one scale
_MOST_FIELDS, _MOST_VALUES, _LONGEST = 10_000, 1_000_000, 1 << 20
_WIDEST = 8192
_TOKEN_EMBEDDINGS = "token_embd.weight"  # noqa: S105 - the name of a table
_WANTED = (
    "tokenizer.ggml.model",
    "tokenizer.ggml.pre",
    "tokenizer.ggml.tokens",
    "tokenizer.ggml.merges",
    "general.alignment",
)


class _Tensor(Struct, frozen=True):
    sizes: tuple[int, ...]
    kind: int
    offset: int


class Gguf:
    """An open file; error: BadModel for one that is no GGUF, or has no token embeddings that can be read."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("rb")
            self._data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise BadModel(f"The model file {path.name} cannot be read: {error}.") from error
        self._position = 0
        try:
            self.fields, tensors = self._header()
            tensor = tensors[_TOKEN_EMBEDDINGS]
            self.width, self.tokens = tensor.sizes
        except (struct.error, KeyError, ValueError, IndexError) as error:
            raise BadModel(f"{path.name} is not a GGUF file with token embeddings.") from error
        alignment = int(self.fields.get("general.alignment", 32)) or 32
        self._start = -(-self._position // alignment) * alignment + tensor.offset
        self._kind = tensor.kind
        sizes = {_F32: self.width * 4, _F16: self.width * 2, _Q8_0: self.width // _BLOCK * 34}
        if self._kind not in sizes or not 0 < self.width <= _WIDEST or self.width % _BLOCK:
            raise BadModel(f"The token embeddings of {path.name} have an unknown format.")
        self._row_bytes = sizes[self._kind]
        if not 0 < self.tokens <= _MOST_VALUES or self._start + self.tokens * self._row_bytes > len(self._data):
            raise BadModel(f"{path.name} ends before its token embeddings do.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._data.close()
        self._file.close()

    def rows(self, first: int, last: int) -> Any:
        """The embeddings of some tokens, as numbers of 32 bits."""
        import numpy

        start, count = self._start + first * self._row_bytes, last - first
        # Read and not looked at in the mapped file, all of whose pages would count as memory of ours.
        data = os.pread(self._file.fileno(), count * self._row_bytes, start)
        if self._kind == _Q8_0:
            block = numpy.dtype([("scale", "<f2"), ("values", "i1", _BLOCK)])
            blocks = numpy.frombuffer(data, dtype=block)
            return (blocks["scale"].astype("f4")[:, None] * blocks["values"]).reshape(count, self.width)
        return (
            numpy.frombuffer(data, dtype="<f4" if self._kind == _F32 else "<f2").astype("f4").reshape(count, self.width)
        )

    def _header(self) -> tuple[dict[str, Any], dict[str, _Tensor]]:
        if self._data[:4] != b"GGUF":
            raise ValueError("its first bytes are others")
        self._position = 4
        if self._take("I") not in (2, 3):
            raise ValueError("its version is another")
        tensors, fields = self._take("Q"), self._take("Q")
        if tensors > _MOST_FIELDS or fields > _MOST_FIELDS:
            raise ValueError("it has too many fields")
        found: dict[str, Any] = {}
        for _ in range(fields):
            name = self._text()
            value = self._value(self._take("I"))
            if name in _WANTED:
                found[name] = value
        return found, dict(self._tensor() for _ in range(tensors))

    def _tensor(self) -> tuple[str, _Tensor]:
        name = self._text()
        sizes = tuple(self._take("Q") for _ in range(self._count("I", 8)))
        return name, _Tensor(sizes, self._take("I"), self._take("Q"))

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY:
            inner = self._take("I")
            if inner == _ARRAY:
                raise ValueError("it has lists of lists")
            read: Callable[[], Any] = self._text if inner == _STRING else lambda: self._take(_SCALARS[inner])
            return [read() for _ in range(self._count("Q", _MOST_VALUES))]
        return self._take(_SCALARS[kind])

    def _text(self) -> str:
        size = self._count("Q", _LONGEST)
        data = self._data[self._position : self._position + size]
        if len(data) != size:
            raise ValueError("it ends too early")
        self._position += size
        return data.decode()

    def _count(self, kind: str, most: int) -> int:
        count = self._take(kind)
        if count > most:
            raise ValueError("it has too many values")
        return int(count)

    def _take(self, kind: str) -> Any:
        (value,) = struct.unpack_from(f"<{kind}", self._data, self._position)
        self._position += struct.calcsize(f"<{kind}")
        return value
