"""A database and its journals are one thing, and nothing that a running program has open is replaced."""

import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from parachute.base.errors import Conflict
from tests.changes.listing import listed
from tests.changes.views import World

pytestmark = pytest.mark.process

SELECT = "python3 -c \"import sqlite3; c = sqlite3.connect('app.db'); print(c.execute('select count(*) from t').fetchone()); c.close()\""
INSERT = "python3 -c \"import sqlite3; c = sqlite3.connect('app.db'); c.execute('insert into t values (1000)'); c.commit(); c.close()\""


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as made:
        yield made


@contextmanager
def database(world: World, mode: str = "wal") -> Iterator[sqlite3.Connection]:
    """A program of the owner's that has a database open."""
    with closing(sqlite3.connect(world.project / "app.db", isolation_level=None)) as live:
        live.execute(f"pragma journal_mode={mode}")
        live.execute("create table t (a)")
        for number in range(50):
            live.execute("insert into t values (?)", (number,))
        yield live


def rows(world: World) -> int:
    with closing(sqlite3.connect(world.project / "app.db")) as made:
        assert made.execute("pragma integrity_check").fetchone() == ("ok",)
        return int(made.execute("select count(*) from t").fetchone()[0])


@pytest.mark.parametrize("writes", [False, True])
async def test_a_question_to_a_database_that_is_open_changes_nothing(world: World, writes: bool) -> None:
    with database(world) as live:
        before = {path.name: path.stat().st_ino for path in world.project.iterdir()}
        applied = await world.turn(SELECT, lambda: writes and live.execute("insert into t values (50)") and None)
        assert (applied.written, await world.reasons()) == (0, {})
        assert {path.name: path.stat().st_ino for path in world.project.iterdir()} == before
        assert await world.changes.is_stale("s")  # the agent's next view shows what the owner's program writes
        for number in range(30):
            live.execute("insert into t values (?)", (number,))
    assert rows(world) == (81 if writes else 80)


async def test_a_question_while_a_transaction_goes_on_leaves_its_journal(world: World) -> None:
    with database(world, "delete") as live:
        live.execute("begin immediate")
        live.execute("update t set a = a + 1")
        assert (world.project / "app.db-journal").exists()
        assert (await world.turn(SELECT)).written == 0
        assert await world.reasons() == {}
        live.execute("rollback")
    assert rows(world) == 50


@pytest.mark.long
@pytest.mark.parametrize("mode", ["wal", "delete"])
async def test_a_change_of_a_database_that_is_open_waits_as_one(world: World, mode: str) -> None:
    with database(world, mode) as live:
        files = {path.name: path.stat().st_ino for path in world.project.iterdir()}
        number = (await world.turn(INSERT)).number
        assert set((await world.reasons()).values()) == {"in_use"}
        assert {each.root for each in await world.changes.history.held("s")} == {"app.db"}
        with pytest.raises(Conflict) as caught:
            await world.changes.answer("s", number, "apply", ["app.db"])
        assert caught.value.key == "in_use"
        assert {path.name: path.stat().st_ino for path in world.project.iterdir()} == files
        live.execute("insert into t values (50)")
    assert rows(world) == 51
    await world.turn("true")
    assert await world.reasons() == {"app.db": "conflict"}
    await world.changes.answer("s", (await world.changes.history.held("s"))[0].number, "apply")
    assert rows(world) == 51
    await world.changes.undo("s")
    assert rows(world) == 51


async def test_what_a_killed_program_left_is_replaced_and_brought_back_as_one(world: World) -> None:
    with database(world):
        shutil.copytree(world.project, world.folder / "killed")
    shutil.rmtree(world.project)
    (world.folder / "killed").rename(world.project)
    before = {name: what for name, what in listed(world.project).items() if name != "app.db-shm"}
    number = (await world.turn(INSERT)).number
    assert await world.reasons() == dict.fromkeys(("app.db", "app.db-wal"), "in_use")
    await world.changes.answer("s", number, "apply", ["app.db"])
    assert await world.reasons() == {}
    assert not (world.project / "app.db-wal").exists()
    await world.changes.undo("s")
    assert {name: what for name, what in listed(world.project).items() if name != "app.db-shm"} == before
    assert rows(world) == 50


async def test_an_undo_leaves_a_database_that_is_open(world: World) -> None:
    with database(world, "delete"):
        pass
    await world.turn(INSERT)
    with closing(sqlite3.connect(world.project / "app.db", isolation_level=None)) as live:
        assert live.execute("select count(*) from t").fetchone() == (51,)
        assert (await world.changes.undo("s")).conflicts == ("app.db",)
        live.execute("insert into t values (51)")
    assert rows(world) == 52


async def test_whatever_a_program_writes_to_is_left_alone(world: World) -> None:
    for name in ("log", "store/CURRENT", "store/LOCK", "store/MANIFEST-1", "store/1.ldb", "table.ods", ".git/index"):
        world.write(name)
    for name in (".~lock.table.ods#", ".git/index.lock"):
        world.write(name)
    before = listed(world.project)
    script = "echo agent >> log; rm store/1.ldb; echo agent > store/CURRENT; rm -f table.ods .~lock*; touch new.lck"
    with (world.project / "log").open("a") as log, (world.project / "store/LOCK").open("a"):
        await world.turn(script)
        assert listed(world.project) == before
        log.write("owner\n")
    assert await world.reasons() == dict.fromkeys(
        ("log", "store/1.ldb", "store/CURRENT", "table.ods", ".~lock.table.ods#"), "in_use"
    )
    (world.project / ".~lock.table.ods#").unlink()
    await world.turn("true")
    assert await world.reasons() == {"log": "conflict"}
    assert sorted(path.name for path in (world.project / "store").iterdir()) == ["CURRENT", "LOCK", "MANIFEST-1"]


@pytest.mark.long
@pytest.mark.parametrize("lock", ["index.lock", "refs/heads/main.lock", "packed-refs.lock"])
async def test_a_commit_waits_while_git_is_at_work(world: World, lock: str) -> None:
    world.git("init", "-q", "-b", "main")
    world.write("a")
    world.git("add", "a")
    world.git("commit", "-qm", "first")
    head = world.git("rev-parse", "main")

    await world.turn(
        "echo more >> a; git commit -qam second; git pack-refs --all", lambda: world.write(f".git/{lock}", "")
    )
    assert world.git("rev-parse", "main") == head
    assert set((await world.reasons()).values()) <= {"in_use", "commit"}
    (world.project / ".git" / lock).unlink()
    await world.turn("true")
    assert await world.reasons() == {}
    assert world.git("log", "--format=%s") == "second\nfirst\n"
    assert world.git("fsck") == ""
