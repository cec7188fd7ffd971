"""A table of word embeddings: made from a model file of this machine, or a folder in the format of Model2Vec."""

import hashlib
import json
import mmap
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.llm.meaning.gguf import Gguf
from parachute.llm.meaning.models import BadModel

DIMENSION = 256
_DROPPED = 3
"""The first directions tell how frequent a token is, and not what it means."""
_ROWS = 2048
_RECIPE = 1
"""Counted up when `_make` makes another table of the same file."""
_VECTORS, _TOKENIZER, _WEIGHTS, _MODEL = "vectors.npy", "tokenizer.json", "weights.npy", "model.safetensors"
_LARGEST_TOKENIZER, _LARGEST_MODEL, _LARGEST_HEADER = 32 << 20, 1 << 30, 1 << 20
_MOST_TOKENS, _WIDEST = 1_000_000, 2048


class Table:
    """Embeddings of tokens, and how a word becomes tokens; `name` is another one for another table."""

    def __init__(self, name: str, vectors: Any, weights: Any, tokenizer: Any) -> None:
        self.name = name
        self.dimension = int(vectors.shape[1])
        self._vectors = vectors
        self._weights = weights
        self._tokenizer = tokenizer
        # The vocabulary of a model of one language: what it has no token for is put together from pieces that mean nothing.
        self._guesses = type(tokenizer.model).__name__ == "BPE"

    def guesses(self, word: str) -> bool:
        """True if the direction of a word says little: nobody has learned it."""
        return self._guesses and len(self._tokenizer.encode(word, add_special_tokens=False).ids) > 1

    def word(self, word: str) -> tuple[bytes, float]:
        """The direction of a word as bytes from -127 to 127, and from 0 to 1 how much it says; all zero for an unknown one."""
        import numpy

        tokens = [
            token for token in self._tokenizer.encode(word, add_special_tokens=False).ids if token < len(self._vectors)
        ]
        vector = numpy.zeros(self.dimension, "f4")
        if tokens:
            vector = self._vectors[tokens].astype("f4").mean(0)
        largest = float(abs(vector).max())
        if not largest or not numpy.isfinite(largest):
            return bytes(self.dimension), 0.0
        # A word of several tokens is a rare one.
        weight = float(self._weights[tokens[0]]) if len(tokens) == 1 else 1.0
        return (vector / largest * 127).astype("i1").tobytes(), weight


def name_of(path: Path) -> str:
    """The name of the table that a file or a folder gives, without reading it; error: BadModel."""
    try:
        files = [path / _MODEL, path / _TOKENIZER] if path.is_dir() else [path]
        parts = [f"{file.name}:{(found := file.stat()).st_size}:{found.st_mtime_ns}" for file in files]
    except OSError as error:
        raise BadModel(f"{path} is no model of words: {error.strerror}.") from error
    return hashlib.sha256(f"{_RECIPE}:{':'.join(parts)}".encode()).hexdigest()[:24]


def open_table(path: Path, folder: Path) -> Table:
    """The table of a file or a folder, made in `folder` once; error: BadModel, OSError of a full disk."""
    name = name_of(path)
    if copy_of(name, folder) is None:
        _make(path, folder / name)
    return _made(folder / name, name)


def copy_of(name: str, folder: Path) -> Table | None:
    """The table that was made in `folder` before, or None: whatever became of its source, what was read with it can be found."""
    return _made(folder / name, name) if (folder / name).is_dir() else None


def _make(path: Path, own: Path) -> None:
    own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in own.parent.glob("making-*"):
        shutil.rmtree(left, ignore_errors=True)
    # The one in use stays until everything was read with the new one; older ones are of no use to anybody.
    for older in sorted(own.parent.iterdir(), key=lambda each: each.stat().st_mtime, reverse=True)[1:]:
        shutil.rmtree(older, ignore_errors=True)
    making = Path(tempfile.mkdtemp(prefix="making-", dir=own.parent))
    try:
        if path.is_dir():
            _copy_model2vec(path, making)
        else:
            with Gguf(path) as model:
                (making / _TOKENIZER).write_text(_tokenizer_of(model), encoding="utf-8")
                _write_vectors(model, making)
        for file in making.iterdir():
            with file.open("rb") as written:
                os.fsync(written.fileno())
        making.rename(own)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _write_vectors(model: Gguf, folder: Path) -> None:
    """Principal components of the embeddings, in parts: all of them at once would take more memory than this may have."""
    import numpy

    total = numpy.zeros(model.width)
    products = numpy.zeros((model.width, model.width))
    parts = [(first, min(model.tokens, first + _ROWS)) for first in range(0, model.tokens, _ROWS)]
    for part in parts:
        rows = model.rows(*part).astype("f8")
        total += rows.sum(0)
        products += rows.T @ rows
    mean = total / model.tokens
    _, directions = numpy.linalg.eigh(products / model.tokens - numpy.outer(mean, mean))
    chosen = directions[:, ::-1][:, _DROPPED : _DROPPED + DIMENSION].astype("f4")
    vectors = numpy.lib.format.open_memmap(
        folder / _VECTORS, mode="w+", dtype="i1", shape=(model.tokens, chosen.shape[1])
    )
    for part in parts:
        rows = (model.rows(*part) - mean.astype("f4")) @ chosen
        vectors[part[0] : part[1]] = _bytes_of(rows)
    vectors.flush()
    # Tokens are numbered by how frequent they are, which Zipf's law turns into a share of all texts.
    shares = 1 / (numpy.arange(model.tokens) + 2.7)
    shares /= shares.sum()
    numpy.save(folder / _WEIGHTS, ((1e-4 / (1e-4 + shares)) ** 2).astype("f4"))


def _tokenizer_of(model: Gguf) -> str:
    from tokenizers import Tokenizer, models, pre_tokenizers

    fields = model.fields
    tokens, merges = fields.get("tokenizer.ggml.tokens"), fields.get("tokenizer.ggml.merges")
    if fields.get("tokenizer.ggml.model") != "gpt2" or not tokens or not merges:
        raise BadModel("The vocabulary of the model file has an unknown format.")
    pairs = [tuple(merge.split(" ", 1)) for merge in merges]
    tokenizer = Tokenizer(models.BPE(vocab={token: number for number, token in enumerate(tokens)}, merges=pairs))
    # A word begins with a blank in this vocabulary, and each digit is a token of its own.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False),
        ]
    )
    return str(tokenizer.to_str())


def _made(own: Path, name: str) -> Table:
    import numpy
    from tokenizers import Tokenizer

    vectors = numpy.load(own / _VECTORS, mmap_mode="r", allow_pickle=False)
    weights = numpy.load(own / _WEIGHTS, allow_pickle=False)
    return Table(name, vectors, weights, Tokenizer.from_str((own / _TOKENIZER).read_text(encoding="utf-8")))


def _copy_model2vec(folder: Path, making: Path) -> None:
    """A table of a Model2Vec model: numbers and JSON. Files of Python objects are never looked at, whatever they are called."""
    import numpy
    from tokenizers import Tokenizer

    text = bytes(_regular(folder, _TOKENIZER, _LARGEST_TOKENIZER)).decode("utf-8", "replace")
    try:
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # the library has no type of its own for what it cannot read
        raise BadModel(f"{folder}/{_TOKENIZER} is no tokenizer: {str(error)[:200]}.") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    (making / _TOKENIZER).write_text(tokenizer.to_str(), encoding="utf-8")
    vectors = _safetensors(folder)
    copy = numpy.lib.format.open_memmap(making / _VECTORS, mode="w+", dtype="i1", shape=vectors.shape)
    lengths = numpy.empty(len(vectors), "f4")
    # In parts: it may be larger than what this may take of memory.
    for first in range(0, len(vectors), _ROWS):
        rows = vectors[first : first + _ROWS].astype("f4")
        lengths[first : first + _ROWS] = numpy.linalg.norm(rows, axis=1)
        if not numpy.isfinite(lengths[first : first + _ROWS]).all():
            raise BadModel(f"The embeddings of {folder} have values that are no numbers.")
        copy[first : first + _ROWS] = _bytes_of(rows)
    copy.flush()
    # Such a model has its weights in the lengths of its vectors.
    usual = float(numpy.median(lengths)) or 1.0
    numpy.save(making / _WEIGHTS, numpy.clip(lengths / usual, 0, 1))


def _bytes_of(rows: Any) -> Any:
    import numpy

    return rows / numpy.maximum(numpy.abs(rows).max(1, keepdims=True), 1e-9) * 127


def _safetensors(folder: Path) -> Any:
    import numpy

    path = folder / _MODEL
    data = _regular(folder, _MODEL, _LARGEST_MODEL)
    size = int.from_bytes(data[:8], "little")
    if not 2 <= size <= min(_LARGEST_HEADER, len(data) - 8):
        raise BadModel(f"{path} is no file of safetensors.")
    try:
        header = json.loads(data[8 : 8 + size])
        found = header["embeddings"]
        kind, (tokens, width), (first, last) = found["dtype"], found["shape"], found["data_offsets"]
        numbers = {"F32": "<f4", "F16": "<f2", "I8": "i1"}[kind]
        whole = all(isinstance(value, int) and value >= 0 for value in (tokens, width, first, last))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadModel(f"{path} has no embeddings that can be read: {type(error).__name__}.") from error
    expected = numpy.dtype(numbers).itemsize * tokens * width if whole else -1
    if not whole or not 0 < tokens <= _MOST_TOKENS or not 0 < width <= _WIDEST:
        raise BadModel(f"The embeddings of {path} have a shape that is not allowed.")
    if last - first != expected or 8 + size + last > len(data):
        raise BadModel(f"The embeddings of {path} are not as large as it says.")
    return numpy.frombuffer(data, dtype=numbers, count=tokens * width, offset=8 + size + first).reshape(tokens, width)


def _regular(folder: Path, name: str, most: int) -> mmap.mmap:
    """The content of a file that is no link and not too large; error: BadModel."""
    try:
        with Folder.open(folder) as opened, opened.file(name) as file:
            size = os.fstat(file.fileno()).st_size
            if not 0 < size <= most:
                raise BadModel(f"{name} of {folder} is empty, or larger than {most >> 20} MB.")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except BadModel:
        raise
    except ParachuteError as error:
        raise BadModel(f"{name} of {folder} cannot be used: {error.message}") from error
    except OSError as error:
        raise BadModel(
            f"{name} of {folder} cannot be read: {error.strerror}.", "A link is not followed here."
        ) from error
