"""One whole computer or one server for these tests, and its owner."""

import asyncio
import json
import os
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from parachute.security.keys.cli_token import CliToken
from tests.support.computer import Computer
from tests.support.installation import Installation
from tests.support.messages_api import MessagesAPI, text
from tests.support.server import Server
from tests.support.sse import chat

from .with_key import ComputerWithKey

KEY = "sk-ant-api03-the-real-one"
_TABLES = """
SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN
('marks', 'sqlite_sequence', 'words_data', 'words_idx', 'words_content', 'words_docsize', 'words_config', 'context_files')
"""
"""Without those in which SQLite keeps the search index `words`, which is as long as all transcripts together, and without the
hashes of contexts, which are read a moment after a fixture has written one."""

MESSAGE = "What does Ottilie's telescope cost?"


@pytest.fixture(scope="package")
def model() -> Iterator[MessagesAPI]:
    """A model that always answers."""
    with MessagesAPI() as service:
        service.default(text("It is a present."))
        yield service


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Play every call of the app twice, the second time (a long test) in another time zone and with a key.

    A file joins by reading answers with `check_response`, and by taking `installation` from here, or making its own of the class in
    `request.param`. One that starts no agent says `HERE = Server`: its tests ask a server in their process.
    One whose computer is in Tokyo and asks for keys anyway says `FAR_AWAY`, and is played once.
    """
    if "installation" not in metafunc.fixturenames:
        return
    kind = getattr(metafunc.module, "HERE", Computer)
    here = [pytest.param(kind, id="here", marks=() if kind is Server else pytest.mark.computer)]
    if hasattr(metafunc.module, "check_response") and not hasattr(metafunc.module, "FAR_AWAY"):
        marks = (pytest.mark.long, pytest.mark.computer)
        here.append(pytest.param(ComputerWithKey, marks=marks, id="tokyo-with-key"))
    metafunc.parametrize("installation", here, indirect=True, scope="package")


@pytest.fixture(scope="package")
def installation(request: pytest.FixtureRequest, model: MessagesAPI) -> Iterator[Installation]:
    """A computer whose model is `model`, or a server."""
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
    with request.param(environment=environment) as running:
        yield running


@pytest.fixture
async def owner(installation: Installation) -> AsyncIterator[httpx2.AsyncClient]:
    """The owner, as the command line proves it, or with a key where the app needs one."""
    if isinstance(installation, ComputerWithKey):
        async with installation.client() as client:
            yield client
        return
    async with installation.client(
        headers={"authorization": f"Bearer {CliToken(installation.home.root).obtain()}"}
    ) as client:
        yield client


@pytest.fixture(scope="module")
def remembered() -> dict[str, str]:
    """Notes of a test for the next ones of its file."""
    return {}


@pytest.fixture
async def session(installation: Installation, owner: httpx2.AsyncClient, remembered: dict[str, str]) -> str:
    """A session with one answer, the same for all tests of a file."""
    if "session" not in remembered:
        remembered["session"] = await talk(owner)
        await settled(installation)
    return remembered["session"]


async def talk(client: httpx2.AsyncClient, message: str = MESSAGE, session: str = "new", **fields: Any) -> str:
    """Send a message, read the answer to its end, and return the id of the session."""
    async with chat(client, message, session, **fields) as stream:
        await stream.collect()
    assert stream.terminal["type"] == "done", stream.terminal
    return str(stream.terminal["sessionId"])


_UNASKED = (".keys.yaml.", ".browser-sessions.yaml.", ".audit-", "audit-seals")
"""Beginnings of names of what is written within a minute by itself."""


def state_of(installation: Installation) -> str:
    """All that is stored: every row of every database, and every file with its size, but for logs and sockets.

    What the computer writes without being asked is left out: the end of an answer, which is written after its last event, is waited
    for, and the times at which keys were used, which are written once in a minute, do not count.
    """
    _wait_for_runs(installation)
    found: dict[str, Any] = {}
    for path in (*sorted(installation.vault.glob(".parachute/*.db")), installation.home.trust_database):
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        for (name,) in connection.execute(_TABLES).fetchall():
            columns = "session, kind, length(body)" if name == "words" else "*"
            found[f"{path.name} {name}"] = repr(connection.execute(f"SELECT {columns} FROM {name}").fetchall())
        connection.close()
    for root in (installation.vault, installation.home.root):
        for folder, folders, files in os.walk(root):  # which ignores what goes away meanwhile
            folders[:] = sorted({*folders} - {"audit", "logs", "run", "sandboxes"})
            found[folder] = folders
            for path in (Path(folder) / name for name in sorted(files)):
                is_own = path.suffix != ".lock" and not path.name.startswith(_UNASKED)
                # What was approved is noted a few seconds later.
                if ".db" not in path.name and is_own and path != installation.home.known_approvals:
                    found[str(path)] = _content(path)
    return json.dumps(found, indent=1)


def _content(path: Path) -> Any:
    if path.name in ("keys.yaml", "browser-sessions.yaml"):
        (keys,) = (value for value in yaml.safe_load(path.read_text()).values() if isinstance(value, list))
        return [{field: value for field, value in key.items() if field != "last_used"} for key in keys]
    # The agent's program writes on in the transcript after its answer.
    return path.stat().st_size if path.suffix != ".jsonl" else "there"


async def settled(installation: Installation) -> None:
    """Wait until every run has been written down as ended."""
    await asyncio.to_thread(_wait_for_runs, installation)


def _wait_for_runs(installation: Installation) -> None:
    path = installation.vault / ".parachute" / "runs.db"

    def ended() -> bool:
        with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as connection:
            (running,) = connection.execute("SELECT COUNT(*) FROM runs WHERE status = 'running'").fetchone()
        connection.close()
        return bool(running == 0)

    installation.wait_until(ended, "no run is under way")


def tree(folder: Path) -> Iterator[Path]:
    """All that lies in a folder now, whatever goes away meanwhile."""
    for place, folders, files in os.walk(folder):
        yield from (Path(place) / name for name in (*folders, *files))


def vault_text(installation: Installation, pattern: str) -> str:
    """The text of all files of the vault's own folder that match."""
    return "".join(path.read_text() for path in sorted(Path(installation.vault / ".parachute").glob(pattern)))
