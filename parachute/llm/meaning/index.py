"""The index: texts come in, wait until there is time to read them, and are found by what they mean."""

import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError, Unavailable
from parachute.llm.meaning import words
from parachute.llm.meaning.models import MeaningUnavailable, Near
from parachute.llm.meaning.source import Source
from parachute.llm.meaning.store import Model, Store, disk_problem
from parachute.llm.meaning.table import Table, open_table

LEAST = 0.05
"""Below this two texts are as near as any."""
_BATCH = 64


class Index:
    """Blocking: call it in threads, any number at once; each method has its turn, and a long one gives others theirs."""

    def __init__(self, folder: Path, source: Source) -> None:
        self._folder = folder
        self._source = source
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._tables: dict[str, Table] = {}
        self._vocabulary: tuple[Model, words.Vocabulary] | None = None
        self._collections: dict[str, words.Collection] = {}

    def put(self, collection: str, texts: Mapping[str, str], gone: Sequence[str]) -> dict[str, Any]:
        """Take texts over, and forget others; error: Unavailable for a full disk."""
        with self._lock:
            store = self._open()
            try:
                store.put(collection, texts, gone)
                if gone:
                    self._forget()
                return {"index": store.index(collection), "waiting": store.count(self._wanted(store))[0]}
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
            ) from error

    def find(self, collection: str, question: str, limit: int) -> tuple[str, list[Near]]:
        """The texts nearest to a question, of those that were read, and the name of the index; error: Unavailable."""
        with self._lock:
            store = self._open()
            try:
                if self._vocabulary is None:
                    self._load(store)
                if self._vocabulary is None:
                    return store.index(collection), []
                model, vocabulary = self._vocabulary
                table = self._tables.get(model.name)
                if table is None:
                    # The table that the vectors are of is there no more: another one is being read.
                    return store.index(collection), []
                if collection not in self._collections:
                    self._collections[collection] = words.Collection(store, model, vocabulary, collection)
                return store.index(collection), self._collections[collection].find(table, question, limit, LEAST)
            except sqlite3.Error as error:
                raise disk_problem(error) from error

    def status(self) -> dict[str, Any]:
        """How far it is, and what its vectors are of."""
        with self._lock:
            store = self._open()
            waiting, total = store.count(self._wanted(store))
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
                self._store = Store.open(self._folder / "index.db")
            except sqlite3.Error as error:
                raise disk_problem(error) from error
        return self._store

    def _wanted(self, store: Store) -> Model | None:
        name = self._source.name
        return next((model for model in store.models() if model.name == name), None)

    def _wanted_table(self) -> Table:
        if self._source.path is None:
            raise self._source.error or MeaningUnavailable("No meanings are known here.")
        name = self._source.name
        if name not in self._tables:
            self._tables[name] = open_table(self._source.path, self._folder / "tables")
        return self._tables[name]

    def _load(self, store: Store) -> None:
        """Read the vectors of the table that is in use: a new one is not until it has every text."""
        model = next((model for model in store.models() if model.ready), None) or next(iter(store.models()), None)
        if model is None:
            return
        if model.name not in self._tables:
            try:
                if model.name == self._source.name:
                    self._wanted_table()
                else:
                    kept = self._source.kept(model.name, self._folder / "tables")
                    if kept is not None:
                        self._tables[model.name] = kept
            except (ParachuteError, OSError):
                return
        self._vocabulary = model, words.Vocabulary(store, model)

    def _forget(self) -> None:
        self._vocabulary = None
        self._collections.clear()
