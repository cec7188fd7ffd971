"""The index: texts come in, wait until there is time to read them, and are found by what they mean."""

import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError, Unavailable
from parachute.llm.meaning import full_text, vectors, words
from parachute.llm.meaning.models import MeaningUnavailable, Near, ServerModel
from parachute.llm.meaning.source import Source
from parachute.llm.meaning.store import Model, Store, disk_problem
from parachute.llm.meaning.table import Table, open_table

LEAST = 0.05
"""Below this two texts are as near as any."""
_BATCH = 64
_PARTS = 64
"""Parts of texts that a server is asked for at a time."""

Vectors = dict[int, tuple[bytes, list[bytes]]]
"""By the number of a text the hash of what it says, and the vectors of its parts."""


class Index:
    """Blocking: call it in threads, any number at once; each method has its turn, and a long one gives others theirs.

    Where a server's model is used, each call names it: this process asks nobody.
    """

    def __init__(self, folder: Path, source: Source) -> None:
        self._folder = folder
        self._source = source
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._tables: dict[str, Table] = {}
        self._vocabulary: tuple[Model, words.Vocabulary] | None = None
        self._collections: dict[str, words.Collection] = {}
        self._embedded: dict[tuple[Model, str], vectors.Collection] = {}

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
                    self._forget()
                return {"index": store.index(collection), "waiting": store.count(self._wanted(store, server))[0]}
            except sqlite3.Error as error:
                raise disk_problem(error) from error

    def missing(self, collection: str, marks: Mapping[str, str], limit: int) -> dict[str, Any]:
        """Keys whose texts are not there as these marks say; all others of the collection are forgotten. Error: Unavailable."""
        with self._lock:
            store = self._open()
            try:
                found = full_text.missing(store, collection, marks, limit)
            except sqlite3.Error as error:
                raise disk_problem(error) from error
            self._forget()
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
            self._forget()

    def work(self, seconds: float) -> dict[str, Any]:
        """Read texts that wait, for so long; a table that is new is made first. Errors: MeaningUnavailable, BadModel, Unavailable."""
        ends = time.monotonic() + seconds
        try:
            table = self._wanted_table()
            while True:
                with self._lock:
                    store = self._open()
                    model = store.begin(table.name, table.dimension)
                    waiting = store.waiting(model, _BATCH)
                    if waiting or not model.ready:
                        words.read(store, table, model, waiting)
                        self._forget()
                    left, total = store.count(model)
                if not left or time.monotonic() > ends:
                    return {"waiting": left, "total": total}
        except sqlite3.Error as error:
            raise disk_problem(error) from error
        except OSError as error:
            raise Unavailable(
                f"The table of words cannot be written: {error.strerror}.",
                "Make room on the disk; it goes on by itself.",
                key="table_not_written",
            ) from error

    def wanted(self, server: ServerModel) -> dict[str, Any]:
        """Texts of which a server's model has to give the vectors, each with its hash and its parts; error: Unavailable."""
        with self._lock:
            store = self._open()
            try:
                model = store.begin(server.name, 0)
                found: list[tuple[int, str, list[str]]] = []
                empty: Vectors = {}
                size = 0
                for number, text, digest in store.waiting(model, _BATCH):
                    if parts := vectors.parts_of(text):
                        found.append((number, digest.hex(), parts))
                        size += len(parts)
                    else:
                        empty[number] = digest, []
                    if size >= _PARTS:
                        break
                if empty or not (found or model.ready):
                    store.write_vectors(model, 0, empty)
                    self._forget()
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
                if sizes - {expected} or not 0 <= expected <= vectors.WIDEST:
                    raise vectors.bad_vectors(
                        f"The server gives embeddings of {max(sizes)} numbers, where they had {expected}."
                    )
                own = {number: (digest, list(map(vectors.packed, each))) for number, (digest, each) in given.items()}
                store.write_vectors(model, expected, own)
                self._forget()
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
        with self._lock:
            store = self._open()
            try:
                answer = {"index": store.index(collection), "lacks": store.lacks(self._wanted(store, server))}
                model = self._in_use(store, server)
                if model is None:
                    return {**answer, "results": []}
                if not ServerModel.is_name(model.name):
                    return {**answer, "results": self._by_words(store, model, collection, question, limit)}
                if vector is None or vector[0] != model.name:
                    return {**answer, "results": [], "wants": model.name}
                if (model, collection) not in self._embedded:
                    self._embedded[model, collection] = vectors.Collection(store, model, collection)
                return {**answer, "results": self._embedded[model, collection].find(vector[1], limit, LEAST)}
            except sqlite3.Error as error:
                raise disk_problem(error) from error

    def status(self) -> dict[str, Any]:
        """Return the progress, and the source of the vectors."""
        with self._lock:
            store = self._open()
            waiting, total = store.count(self._wanted(store, None))
            return {
                "source": self._source.kind,
                "problem": self._source.problem,
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
        name = server.name if server else self._source.name
        return next((model for model in store.models() if model.name == name), None)

    def _in_use(self, store: Store, server: ServerModel | None) -> Model | None:
        """The model that has every text, as long as its server may be asked; else the one that has some."""
        usable = [
            model
            for model in store.models()
            if not ServerModel.is_name(model.name) or (server is not None and server.is_neighbour(model.name))
        ]
        return next((model for model in usable if model.ready), None) or next(iter(usable), None)

    def _wanted_table(self) -> Table:
        if self._source.path is None:
            raise self._source.error or MeaningUnavailable("No meanings are known here.")
        name = self._source.name
        if name not in self._tables:
            self._tables[name] = open_table(self._source.path, self._folder / "tables")
        return self._tables[name]

    def _by_words(self, store: Store, model: Model, collection: str, question: str, limit: int) -> list[Near]:
        """Return the nearest texts by the words of a table: a new one is not in use until it has every text."""
        table = self._table_of(model)
        if table is None:
            # The table that the vectors are of is there no more: another one is being read.
            return []
        if self._vocabulary is None or self._vocabulary[0] != model:
            self._vocabulary = model, words.Vocabulary(store, model)
            self._collections.clear()
        if collection not in self._collections:
            self._collections[collection] = words.Collection(store, model, self._vocabulary[1], collection)
        return self._collections[collection].find(table, question, limit, LEAST)

    def _table_of(self, model: Model) -> Table | None:
        if model.name not in self._tables:
            try:
                if model.name == self._source.name:
                    return self._wanted_table()
                if (kept := self._source.kept(model.name, self._folder / "tables")) is None:
                    return None
                self._tables[model.name] = kept
            except (ParachuteError, OSError):
                return None
        return self._tables[model.name]

    def _forget(self) -> None:
        self._vocabulary = None
        self._collections.clear()
        self._embedded.clear()
