"""Updates of a computer whose supervisor holds the sockets: real wheels, real processes, requests all the while."""

import asyncio
import contextlib
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import httpx2
import psutil
import pytest
from msgspec.structs import replace

from parachute.base.clock import now
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import Phase, Update, Version
from parachute.ops.updates.orders import Orders
from parachute.ops.updates.service import Updates
from parachute.ops.updates.versions import Versions
from tests.conftest import needs_bubblewrap
from tests.support.computer import Computer
from tests.support.errors import raises
from tests.support.installation import PLAIN
from tests.support.small_disk import small_disk
from tests.support.waiting import still_running, until, wait_until

from .versions import (
    FAILS_AFTER_MIGRATING,
    FAILS_AT_START,
    FAILS_LATER,
    MIGRATES,
    NEWER,
    SUPERVISOR_FAILS,
    Changes,
)
from .wheels import built, changed

pytestmark = pytest.mark.long


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

    def hostile(self) -> Path:
        """A file that is called a wheel."""
        path = self._folder / "hostile.whl"
        path.write_bytes(b"PK\x03\x04 no archive")
        return path

    def running(self) -> str:
        return str(httpx2.get(f"{self.computer.url}/api/health", timeout=60, **PLAIN).json()["version"])

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
        refused = await installation.updates(2).run(installation.hostile())
        assert refused.phase is Phase.REFUSED
        # One that is refused does not take the way back away.
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


PROGRAM = """
import asyncio, sys
from pathlib import Path
from parachute.config.settings.home import Home
from parachute.base.errors import Conflict
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.updates.service import Updates

async def passed(new, report):
    return Rehearsal((Check("start", True, "It starts."),))

home, vault, probation, source = sys.argv[1:]
asyncio.run(Updates(Home(Path(home)), Path(vault), passed, float(probation)).run(Path(source)))
"""


@pytest.fixture
def updating(installation: Installation, wheel: Path, tmp_path: Path) -> Iterator[Callable[[], psutil.Popen]]:
    """Start an update that migrates, in a process of its own that can be killed."""
    source = changed(wheel, tmp_path, MIGRATES)
    started: list[psutil.Popen] = []

    def start(probation: float = 600) -> psutil.Popen:
        computer = installation.computer
        words = [str(computer.home.root), str(computer.vault), str(probation), str(source)]
        started.append(psutil.Popen([sys.executable, "-c", PROGRAM, *words], cwd="/"))
        return started[-1]

    yield start
    for process in started:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
        process.wait()


async def reached(installation: Installation, phase: Phase) -> Update:
    def is_there() -> Update | None:
        update = installation.journal.read()
        return update if update is not None and update.phase is phase else None

    # A machine that does much else takes a minute for an environment.
    found: Update = await asyncio.to_thread(wait_until, is_there, f"the update is {phase}", seconds=400)
    return found


async def test_who_watches_is_killed_and_the_next_one_takes_it_up(
    installation: Installation, updating: Callable[..., psutil.Popen]
) -> None:
    process = updating()
    await reached(installation, Phase.PROBATION)
    process.kill()
    process.wait()
    assert installation.running() == "0.2.0"
    # What is left of its probation passes.
    update = await installation.updates(2).run(Path("/nowhere"))
    assert update.phase is Phase.DONE
    assert installation.running() == "0.2.0"


async def test_one_that_was_cut_off_in_its_last_step_is_taken_up_by_the_next_start(installation: Installation) -> None:
    update = await installation.update(NEWER, probation=1)
    assert update.phase is Phase.DONE
    installation.journal.write(replace(update, phase=Phase.BLESSING, until=now(), previous=None))
    installation.computer.find_process("parachute.server").kill()
    taken_up = await reached(installation, Phase.DONE)
    assert (taken_up.problem, taken_up.previous) == (None, update.old)
    assert installation.running() == "0.2.0"
    await until(lambda: not installation.journal.is_held(), "the update has ended")


async def test_the_power_is_cut_during_the_probation(
    installation: Installation, updating: Callable[..., psutil.Popen]
) -> None:
    before = installation.columns()
    watching = updating()
    await reached(installation, Phase.PROBATION)
    computer = installation.computer
    # The one that watches first: it would see the others go.
    family = computer.processes()
    for process in (watching, *family):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    assert not still_running(family)
    computer.stop()  # nothing of it is left but what the test holds
    computer.start()
    assert installation.running() == "0.1.0"
    assert installation.columns() == before
    update = installation.journal.read()
    assert update is not None
    assert update.phase is Phase.BACK
    assert len(update.since) == 1


async def test_one_update_at_a_time(installation: Installation, updating: Callable[..., psutil.Popen]) -> None:
    updating()
    await reached(installation, Phase.PROBATION)
    with raises("busy"):
        await installation.update(NEWER)


async def test_a_full_disk_is_said_and_changes_nothing(installation: Installation, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with small_disk(data):
        update = await installation.update(NEWER)
        assert update.phase is Phase.REFUSED
        assert "The disk is full" in (update.problem or "")
        assert list(installation.versions.folder.glob("*")) == []
    assert installation.running() == "0.1.0"


async def test_what_is_no_version_changes_nothing(installation: Installation) -> None:
    update = await installation.updates(1).run(installation.hostile())
    assert update.phase is Phase.REFUSED
    assert "is no wheel of this program" in (update.problem or "")
    assert installation.running() == "0.1.0"
    assert list(installation.versions.folder.glob("*")) == []


@needs_bubblewrap
@pytest.mark.parametrize("phase", [Phase.STAGING, Phase.REHEARSING])
async def test_one_that_is_cancelled_changes_nothing(
    installation: Installation, wheel: Path, tmp_path: Path, phase: Phase
) -> None:
    computer, orders = installation.computer, Orders(installation.computer.home)
    before = {process.pid for process in computer.processes()}
    await orders.begin(changed(wheel, tmp_path, NEWER))
    await reached(installation, phase)
    await orders.cancel()
    await until(lambda: not installation.journal.is_held(), "the update has ended")
    situation = await orders.situation()
    assert situation.update is not None
    assert situation.update.phase is Phase.CANCELLED
    assert (situation.number, situation.can_go_back) == ("0.1.0", False)
    with raises("nothing_under_way"):
        await orders.cancel()
    await until(lambda: {process.pid for process in computer.processes()} <= before, "nothing of it runs on")
