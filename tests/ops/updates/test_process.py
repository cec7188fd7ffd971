"""Updates of a computer whose supervisor holds the sockets: real wheels, real processes, requests all the while."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path

import httpx2
import psutil
import pytest

from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import Phase, Update, Version
from parachute.ops.updates.service import Updates
from parachute.ops.updates.versions import Versions
from tests.support.computer import PLAIN, Computer
from tests.support.waiting import until

from .wheels import built, changed

pytestmark = pytest.mark.long

Changes = Mapping[str, tuple[str, str]]
NEWER: Changes = {"parachute/__init__.py": ('__version__ = "0.1.0"', '__version__ = "0.2.0"')}
_COLOUR = """
def m0009_colours(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE sessions ADD COLUMN colour TEXT")


ALL = (
    m0009_colours,"""
MIGRATES: Changes = {**NEWER, "parachute/chat/sessions/migrations.py": ("\nALL = (", _COLOUR)}
FAILS_AT_START: Changes = {
    **NEWER,
    "parachute/server/app.py": (
        "    first_boot = FirstBoot(",
        "    raise SystemExit('broken')\n    first_boot = FirstBoot(",
    ),
}
FAILS_AFTER_MIGRATING: Changes = {
    **MIGRATES,
    "parachute/server/composition/storage.py": ("    recovery.start()\n", "    raise SystemExit('broken')\n"),
}
FAILS_LATER: Changes = {
    **MIGRATES,
    "parachute/server/__main__.py": (
        "    interval = watchdog_interval()\n",
        "    asyncio.get_running_loop().call_later(3, os._exit, 1)\n    interval = watchdog_interval()\n",
    ),
}
SUPERVISOR_FAILS: Changes = {
    **NEWER,
    "parachute/supervisor/main.py": ("    keep_private()\n", "    raise SystemExit('broken')\n"),
}


class Installation:
    """A computer that is updated, and what updates it."""

    def __init__(self, computer: Computer, wheel: Path, folder: Path) -> None:
        self.computer = computer
        self._wheel = wheel
        self._folder = folder
        self.journal = Journal(computer.home.root)
        self.versions = Versions(computer.home)

    async def update(self, changes: Changes, *, probation: float = 8) -> Update:
        return await self.updates(probation).run(changed(self._wheel, self._folder, changes))

    def updates(self, probation: float) -> Updates:
        async def passed(new: Version, report: Callable[[Check], None]) -> Rehearsal:
            check = Check("start", True, "It starts.")
            report(check)
            return Rehearsal((check,))

        return Updates(self.computer.home, self.computer.vault, passed, probation)

    def running(self) -> str:
        return str(httpx2.get(f"{self.computer.url}/api/health", **PLAIN).json()["version"])

    def columns(self) -> set[str]:
        with closing(sqlite3.connect(self.computer.vault / ".parachute" / "sessions.db")) as connection:
            return {row[1] for row in connection.execute("PRAGMA table_info(sessions)")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def installation(computer: Computer, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(computer.folder))
    return Installation(computer, wheel, tmp_path)


@asynccontextmanager
async def never_refused(url: str) -> AsyncIterator[None]:
    """Ask all the while, over a connection of its own each time: each is accepted, and answered in the end."""
    asked, refused = 0, []

    async def ask() -> None:
        nonlocal asked
        while True:
            try:
                async with httpx2.AsyncClient(timeout=60, **PLAIN) as client:
                    answer = await client.get(f"{url}/api/health")
                asked += 1
                if answer.status_code != 200:
                    refused.append(f"{answer.status_code}")
            except httpx2.ConnectError as error:
                refused.append(str(error))
            except httpx2.HTTPError:
                pass  # cut off in the middle by the end of the program that was answering
            await asyncio.sleep(0.02)

    task = asyncio.create_task(ask())
    try:
        yield
        before = asked
        await until(lambda: asked > before, "one more is answered")
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert refused == []


async def test_an_update_and_back_again(installation: Installation) -> None:
    before = installation.columns()
    async with never_refused(installation.computer.url):
        update = await installation.update(MIGRATES, probation=2)
        assert (update.phase, update.problem) == (Phase.DONE, None)
        assert update.new is not None
        assert installation.running() == "0.2.0"
        assert installation.columns() == before | {"colour"}
        assert installation.versions.current.resolve() == update.new.prefix
        update = await installation.updates(2).go_back()
    assert (update.phase, update.problem) == (Phase.BACK, None)
    assert installation.running() == "0.1.0"
    assert installation.columns() == before
    (said,) = update.since
    assert "sessions.db" in said
    kept = Path(said.rpartition(" ")[2].rstrip("."))
    with closing(sqlite3.connect(kept)) as connection:
        assert "colour" in {row[1] for row in connection.execute("PRAGMA table_info(sessions)")}


@pytest.mark.parametrize("changes", [FAILS_AT_START, FAILS_AFTER_MIGRATING, FAILS_LATER])
async def test_a_broken_version_goes_by_itself(installation: Installation, changes: Changes) -> None:
    before = installation.columns()
    async with never_refused(installation.computer.url):
        update = await installation.update(changes, probation=600)
    assert update.phase is Phase.BACK
    assert update.problem
    assert installation.running() == "0.1.0"
    assert installation.columns() == before


async def test_a_supervisor_that_does_not_start_goes_as_well(installation: Installation) -> None:
    try:
        update = await installation.update(SUPERVISOR_FAILS, probation=600)
        assert update.phase is Phase.BACK
        assert installation.running() == "0.1.0"
    finally:
        process = psutil.Process(int(installation.computer.home.pid_file.read_text()))
        process.terminate()
        process.wait(60)
