"""The index: texts come in, wait until there is time to read them, and are found by what they mean."""

import itertools
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parachute.base.errors import Unavailable
from parachute.llm.meaning import full_text, packing, vectors
from parachute.llm.meaning.encoder import DIMENSION, NAME, Encoder
from parachute.llm.meaning.models import Near, ServerModel
from parachute.llm.meaning.parts import parts_of
from parachute.llm.meaning.store import Model, Store, Vector, disk_problem
from parachute.llm.meaning.times import MOST_LOOKED_AT, Times, times_of

LEAST = 0.15
"""Below this a text is as near as any: 96 of 100 that have nothing to do with a question are."""
_LEAST_OF_SERVERS = 0.05
_DATED, _TIMELY = 300, 0.2
"""So many texts are looked at for a time that a question names, and what one of that time is nearer by."""
_BATCH, _LETTERS = 64, 20_000
"""Texts that are read at a time, and their letters."""
_PARTS = 64
"""Parts of texts that a server is asked for at a time."""
_MOST_PARTS = 200
"""Parts of one text that a server is given."""

Vectors = dict[int, tuple[bytes, list[bytes]]]
"""By the number of a text the hash of what it says, and the vectors of its parts."""


class Index:
    """Blocking: call it in threads, any number at once; each method has its turn, and a long one gives others theirs.

    Where a server's model is used, each call names it: this process asks nobody.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._encoder: Encoder | None = None
        self._loading = threading.Lock()
        self._collections: dict[tuple[Model, str], vectors.Collection] = {}

    def put(
        self,
        collection: str,
        texts: Mapping[str, str],
        gone: Sequence[str],
        server: ServerModel | None = None,
        marks: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Take texts over, with what marks them as they are now, and forget others; error: Unavailable for a full disk."""
        with self._lock:
            store = self._open()
            try:
                store.put(collection, texts, gone)
                full_text.mark(store, collection, marks or {})
                if gone:
                    self._collections.clear()
                waiting, total = store.count(self._wanted(store, server))
                return {"index": store.index(collection), "waiting": waiting, "total": total}
            except sqlite3.Error as error:
                raise disk_problem(error) from error

    def missing(
        self, collection: str, marks: Mapping[str, str], limit: int, gone: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Keys whose texts are not there as these marks say; those `gone` are forgotten, by default all others. Error: Unavailable."""
        with self._lock:
            store = self._open()
            try:
                found = full_text.missing(store, collection, marks, limit, gone)
            except sqlite3.Error as error:
                raise disk_problem(error) from error
            self._collections.clear()
            return {"missing": found}

    def search(self, collection: str, question: str, limit: int) -> list[full_text.Hit]:
        """Texts by their words; error: Unavailable."""
        with self._lock:
            try:
                return full_text.search(self._open(), collection, question, limit)
            except sqlite3.Error as error:
                raise disk_problem(error) from error

    def keep(self, collections: Sequence[str]) -> None:
        """Forget all other collections."""
        with self._lock:
            store = self._open()
            try:
                store.keep(collections)
            except sqlite3.Error as error:
                raise disk_problem(error) from error
            self._collections.clear()

    def load(self) -> None:
        """Load the model, if it is not. Errors: MeaningUnavailable, Unavailable."""
        with self._loading:
            if self._encoder is None:
                try:
                    self._encoder = Encoder(self._folder / "model")
                except OSError as error:
                    raise Unavailable(
                        f"The model of meanings cannot be prepared: {error.strerror or error}.",
                        "Make room on the disk; it goes on by itself.",
                        key="model_not_written",
                    ) from error

    def work(self, seconds: float) -> dict[str, Any]:
        """Read texts that wait, for so long. Errors: MeaningUnavailable, Unavailable."""
        ends = time.monotonic() + seconds
        encoder = self._loaded()
        try:
            while True:
                with self._lock:
                    model = self._open().begin(NAME, DIMENSION)
                    waiting = _first(self._open().waiting(model, _BATCH))
                # Without the lock: a question does not wait for a long text.
                read = _read(encoder, waiting)
                with self._lock:
                    store = self._open()
                    if read or not model.ready:
                        store.write_vectors(model, DIMENSION, read)
                        self._collections.clear()
                    left, total = store.count(model)
                if not left or time.monotonic() > ends:
                    return {"waiting": left, "total": total}
        except sqlite3.Error as error:
            raise disk_problem(error) from error

    def wanted(self, server: ServerModel) -> dict[str, Any]:
        """Texts of which a server's model has to give the vectors, each with its hash and its parts; error: Unavailable."""
        with self._lock:
            store = self._open()
            try:
                model = store.begin(server.name, 0)
                found: list[tuple[int, str, list[str]]] = []
                empty: dict[int, tuple[bytes, list[Vector]]] = {}
                size = 0
                for number, text, digest in store.waiting(model, _BATCH):
                    if parts := [part.text for part in parts_of(text)][:_MOST_PARTS]:
                        found.append((number, digest.hex(), parts))
                        size += len(parts)
                    else:
                        empty[number] = digest, []
                    if size >= _PARTS:
                        break
                if empty or not (found or model.ready):
                    store.write_vectors(model, 0, empty)
                    self._collections.clear()
                left, total = store.count(model)
                return {"waiting": left, "total": total, "texts": found}
            except sqlite3.Error as error:
                raise disk_problem(error) from error

    def take(self, server: ServerModel, given: Vectors) -> dict[str, Any]:
        """Take over vectors in numbers of 32 bits. Errors: Unavailable, also for sizes that do not fit; then nothing is taken over."""
        sizes = {len(vector) // 4 for _, own in given.values() for vector in own}
        with self._lock:
            store = self._open()
            try:
                model = store.begin(server.name, 0)
                expected = model.dimension or max(sizes, default=0)
                if sizes - {expected} or not 0 <= expected <= packing.WIDEST:
                    raise packing.bad_vectors(
                        f"The server gives embeddings of {max(sizes)} numbers, where they had {expected}."
                    )
                own = {
                    number: (digest, [Vector(packing.packed(packing.unpacked(one))) for one in each])
                    for number, (digest, each) in given.items()
                }
                store.write_vectors(model, expected, own)
                self._collections.clear()
                left, total = store.count(self._wanted(store, server))
                return {"waiting": left, "total": total}
            except sqlite3.Error as error:
                raise disk_problem(error) from error

    def find(
        self,
        collection: str,
        question: str,
        limit: int,
        server: ServerModel | None = None,
        vector: tuple[str, bytes] | None = None,
    ) -> dict[str, Any]:
        """The texts nearest to a question, of those that were read, and the name of the index; error: Unavailable.

        `vector` is the question's, by the name of a server's model; `wants` names the one that has to be asked first.
        """
        own = self._loaded().question(question) if vector is None and self._has_own() else None
        with self._lock:
            store = self._open()
            try:
                answer = {"index": store.index(collection), "lacks": store.lacks(self._wanted(store, server))}
                model = self._in_use(store, server)
                if model is None:
                    return {**answer, "results": []}
                if not ServerModel.is_name(model.name):
                    asked, least = self._loaded().question(question) if own is None else own, LEAST
                elif vector is None or vector[0] != model.name:
                    return {**answer, "results": [], "wants": model.name}
                else:
                    asked, least = packing.unpacked(vector[1]), _LEAST_OF_SERVERS
                if (model, collection) not in self._collections:
                    self._collections[model, collection] = vectors.Collection(store, model, collection)
                times = times_of(question)
                places = self._collections[model, collection].find(asked, max(limit, _DATED) if times else limit, least)
                if times:
                    places = sorted(
                        (_timely(store, collection, times, place) for place in places), key=lambda each: -each[2]
                    )
                return {**answer, "results": [_near(store, collection, place) for place in places[:limit]]}
            except sqlite3.Error as error:
                raise disk_problem(error) from error

    def status(self) -> dict[str, Any]:
        """Return the progress."""
        with self._lock:
            store = self._open()
            waiting, total = store.count(self._wanted(store, None))
            return {
                "waiting": waiting,
                "total": total,
                "models": [
                    {"name": model.name, "dimension": model.dimension, "ready": model.ready} for model in store.models()
                ],
            }

    def _open(self) -> Store:
        if self._store is None:
            try:
                store = Store.open(self._folder / "index.db")
                full_text.prepare(store)
                self._store = store
            except sqlite3.Error as error:
                raise disk_problem(error) from error
        return self._store

    def _wanted(self, store: Store, server: ServerModel | None) -> Model | None:
        name = server.name if server else NAME
        return next((model for model in store.models() if model.name == name), None)

    def _in_use(self, store: Store, server: ServerModel | None) -> Model | None:
        """The model that has every text, as long as its server may be asked; else the one that has some."""
        usable = [
            model
            for model in store.models()
            if model.name == NAME
            or (ServerModel.is_name(model.name) and server is not None and server.is_neighbour(model.name))
        ]
        return next((model for model in usable if model.ready), None) or next(iter(usable), None)

    def _has_own(self) -> bool:
        """True if the model of this machine has read something."""
        with self._lock:
            try:
                return any(model.name == NAME for model in self._open().models())
            except sqlite3.Error as error:
                raise disk_problem(error) from error

    def _loaded(self) -> Encoder:
        self.load()
        assert self._encoder is not None
        return self._encoder


def _first(waiting: Sequence[tuple[int, str, bytes]]) -> Sequence[tuple[int, str, bytes]]:
    """The first texts that are read within a second or so, at least one."""
    sizes = itertools.accumulate(len(text) for _, text, _ in waiting)
    return waiting[: max(1, sum(size <= _LETTERS for size in sizes))]


def _read(encoder: Encoder, waiting: Sequence[tuple[int, str, bytes]]) -> dict[int, tuple[bytes, list[Vector]]]:
    """The vectors of texts by their numbers, with the hashes of what was read."""
    parts = [(number, part.text) for number, text, _ in waiting for part in parts_of(text)]
    read: dict[int, tuple[bytes, list[Vector]]] = {number: (digest, []) for number, _, digest in waiting}
    for (number, _), vector in zip(parts, encoder.read([text for _, text in parts]), strict=True):
        read[number][1].append(vector)
    return read


def _timely(store: Store, collection: str, times: Times, place: vectors.Place) -> vectors.Place:
    key, part, score = place
    if times.meets(times_of(f"{key}\n{store.text(collection, key, MOST_LOOKED_AT)}")):
        score += -_TIMELY if times.is_negated else _TIMELY
    return key, part, score


def _near(store: Store, collection: str, place: vectors.Place) -> Near:
    key, part, score = place
    parts = parts_of(store.text(collection, key))
    return Near(key, min(1.0, max(0.0, round(score, 3))), parts[part].offset if part < len(parts) else 0)
