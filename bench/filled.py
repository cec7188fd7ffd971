"""Computers with much in them, kept outside of the tree between runs: to fill one takes minutes, to copy it seconds."""

import asyncio
import hashlib
import itertools
import json
import os
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from bench import stored_sessions, transcript_turns
from bench.connection import Connection
from bench.official import OfficialComputer, generator
from bench.transcript_turns import LONG_SESSION, transcript_turn
from parachute.automation.suggestions import store as suggestion_store
from parachute.base.database import Database
from parachute.config.vault.service import Vault
from parachute.modules.registry.scaffold import create_module
from parachute.modules.registry.service import Modules

NO_TRANSCRIPT = "no-transcript"

_OFFICIAL = ("daily", "brain")

_FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "parachute-bench"
_TRANSCRIPT_BYTES = 13 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Amount:
    """Numbers of things in a filled computer."""

    sessions: int
    entries: int
    entities: int
    modules: int
    suggestions: int
    folders: int


class FilledComputer(OfficialComputer):
    """A computer with that much in it, not started yet."""

    def __init__(self, amount: Amount) -> None:
        super().__init__()
        self.amount = amount
        kept = _FOLDER / f"{amount.sessions}-{_version(amount)}"
        self.installed = (*_OFFICIAL, *(f"notes{number}" for number in range(amount.modules - len(_OFFICIAL))))
        if not kept.is_dir():
            self._fill(amount)
            self._keep(kept)
            return
        shutil.rmtree(self.home.root)
        for part in (self.home.root, self.vault):
            shutil.copytree(kept / part.name, part, symlinks=True)

    @property
    def names(self) -> list[str]:
        """The names of the entities, as their files have them."""
        files = sorted((self.vault / "Brain" / "entities").rglob("*.md"))
        return [file.stem.rpartition("-")[0].replace("-", " ").title() for file in files]

    def _fill(self, amount: Amount) -> None:
        names = self.installed
        self.install(*_OFFICIAL)
        modules = Modules(self.home, self.vault)
        with tempfile.TemporaryDirectory(prefix="modules-") as folder:
            for name in names[len(_OFFICIAL) :]:
                source = create_module(name, Path(folder))
                with modules.installing(str(source)) as installation:
                    installation.finish()
        self.installed = names
        generator("daily").write_vault(self.vault, amount.entries, date.today() - timedelta(days=1))
        generator("brain").write_vault(self.vault, amount.entities)
        vault = Vault(self.vault)
        stored_sessions.store_sessions(vault, amount.sessions)
        _store_words(vault)
        _store_suggestions(vault, amount.suggestions)
        _write_transcripts(vault, amount.folders)
        self.start()
        try:
            with self.connect() as connection:
                self.wait_until(lambda: _total(connection.get(_ALL)) == amount.entries, "the journal is indexed", 600)
                self.wait_until(lambda: _is_built(connection, amount), "the entities are indexed", 600)
                # As somebody has who made it here: a transcript of this length is opened all the time.
                connection.get(f"/api/chat/{LONG_SESSION}/transcript")
            described = self.home.run / "module"
            self.wait_until(
                lambda: len(list(described.glob("*/description.json"))) == amount.modules,
                "all modules are described",
                600,
            )
        finally:
            self.stop()

    def _keep(self, kept: Path) -> None:
        unfinished = kept.with_name(f"{kept.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        for part in (self.home.root, self.vault):
            shutil.copytree(part, unfinished / part.name, symlinks=True, ignore=_sockets)
        for older in kept.parent.glob(f"{kept.name.partition('-')[0]}-*"):
            if older != unfinished:
                shutil.rmtree(older)
        unfinished.rename(kept)


_ALL = "/api/daily/entries?from=1900-01-01&to=2100-01-01&limit=1"


def _is_built(connection: Connection, amount: Amount) -> bool:
    status = json.loads(connection.get("/api/brain/status"))
    return bool(status["entities"] == amount.entities and not status["building"])


def _total(body: bytes) -> int:
    return int(json.loads(body)["total"])


def _sockets(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_socket()]


def _version(amount: Amount) -> str:
    """Another one when what fills a computer, or what it is filled for, is another one."""
    modules = [Path(str(generator(name).__file__)).parents[1] for name in _OFFICIAL]
    own = [Path(__file__), Path(stored_sessions.__file__), Path(transcript_turns.__file__)]
    sources = own + sorted(path for module in modules for path in module.rglob("*.py"))
    text = repr(amount).encode() + b"".join(path.read_bytes() for path in sources) + date.today().isoformat().encode()
    return hashlib.sha256(text).hexdigest()[:12]


def _store_words(vault: Vault) -> None:
    connection = sqlite3.connect(vault.state / "sessions.db")
    with connection:
        connection.execute(
            "INSERT INTO words (rowid, session, kind, body) SELECT rowid, id, 'title', title FROM sessions"
        )
        connection.execute("INSERT INTO words_of_session SELECT id, rowid FROM sessions")
    connection.close()


def _store_suggestions(vault: Vault, count: int) -> None:
    database = Database(vault.state / "suggestions.db", suggestion_store.ALL)

    async def create() -> None:
        await database.open()
        await database.close()

    asyncio.run(create())
    connection = sqlite3.connect(database.path)
    with connection:
        connection.executemany(
            "INSERT INTO suggestions (id, source_module, source_agent, timestamp, action, target_module, title, payload, "
            "reasoning, status, told) VALUES (?, 'notes0', 'notes0', '2026-01-01T00:00:00.000Z', 'create', 'daily', 'A title', "
            "'{\"text\": \"What was proposed\"}', 'It seemed useful.', ?, ?)",
            ((f"{number:012x}", status, status) for number in range(count) for status in _statuses(number, count)),
        )
    connection.close()


def _statuses(number: int, count: int) -> tuple[str]:
    return ("pending",) if number > count - 20 else ("approved",)


def _write_transcripts(vault: Vault, folders: int) -> None:
    root = vault.transcripts / "projects"
    for number in range(folders):
        (root / f"-home-somebody-project-{number}").mkdir(parents=True)
    folder = root / f"-scratch-{LONG_SESSION}"
    folder.mkdir(parents=True)
    with (folder / f"{LONG_SESSION}.jsonl").open("w") as file:
        size = 0
        for number in itertools.count(1):
            size += file.write(transcript_turn(number))
            if size > _TRANSCRIPT_BYTES:
                break
    connection = sqlite3.connect(vault.state / "sessions.db")
    with connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(sessions)")]
        for place, session in enumerate((LONG_SESSION, NO_TRANSCRIPT)):
            values = ", ".join("?" if name == "id" else name for name in names)
            connection.execute(
                f"INSERT INTO sessions SELECT {values} FROM sessions ORDER BY rowid LIMIT 1 OFFSET ?",
                (session, place),
            )
    connection.close()
