"""Files of the events of runs: after a crash, on a full disk, and when they are dropped."""

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.base.database import Database
from parachute.chat.runs import store
from parachute.chat.runs.event_files import EventFiles, Stored
from parachute.chat.runs.events import Model, TextDelta

pytestmark = pytest.mark.process

SESSION, OTHER = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"

FILLING = """
import resource, sys
from pathlib import Path
from parachute.chat.runs.event_files import EventFiles

files = EventFiles(Path(sys.argv[1]))
files.append(1, [(1, {"type": "text_delta", "text": "a"})])
resource.setrlimit(resource.RLIMIT_FSIZE, (60, resource.RLIM_INFINITY))
try:
    files.append(1, [(2, {"type": "text_delta", "text": "b" * 1000})])
except OSError:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
    files.append(1, [(3, {"type": "done"})])
    sys.exit(7)
"""


def said(word: str) -> Stored:
    return {"type": "text_delta", "text": word}


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "runs.db", store.ALL, page_size=store.PAGE_SIZE)
    await database.open()
    yield database
    await database.close()


async def test_batches_come_back_in_their_order(tmp_path: Path) -> None:
    files = EventFiles(tmp_path / "runs")
    files.append(1, [(1, said("ä\n")), (2, {"type": "tool_use"})])
    files.append(2, [(1, said("another run"))])
    files.append(1, [(5, said("half of a character: \ud800"))])
    assert files.read(1) == [(1, said("ä\n")), (2, {"type": "tool_use"}), (5, said("half of a character: ?"))]
    assert files.read(3) == []
    (tmp_path / "runs").chmod(0o700)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "runs").iterdir()} == {0o600}


@pytest.mark.parametrize("rest", [b'[[2,{"type":"text_', b"\0" * 100, b"\0" * 100 + b"\n", b"\xff\n"])
async def test_a_power_cut_costs_the_last_line_alone(tmp_path: Path, rest: bytes) -> None:
    files = EventFiles(tmp_path)
    files.append(1, [(1, said("whole"))])
    with (tmp_path / "1.jsonl").open("ab") as file:
        file.write(rest)
    assert files.read(1) == [(1, said("whole"))]


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", FILLING, str(tmp_path)], check=False)
    assert ended.returncode == 7
    assert EventFiles(tmp_path).read(1) == [(1, said("a")), (3, {"type": "done"})]


async def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    (tmp_path / "1.jsonl").symlink_to(target)
    with pytest.raises(OSError, match="link"):
        EventFiles(tmp_path).append(1, [(1, said("a"))])
    assert target.read_text() == "precious"


async def test_a_new_run_does_not_begin_with_what_a_dropped_one_has_said(database: Database, tmp_path: Path) -> None:
    runs = store.RunStore(database)
    first = await runs.begin(SESSION)
    await runs.append(first, [(1, TextDelta("old"))])
    await runs.end(first, "done")
    await runs.drop(first)
    second = await runs.begin(SESSION)
    assert second == first, "SQLite gives the number of the last row again; otherwise this test shows nothing"
    assert await runs.events(second) == []
    assert list((tmp_path / "runs").iterdir()) == []


async def test_the_end_of_a_run_drops_what_ended_well_before_it(database: Database, tmp_path: Path) -> None:
    runs = store.RunStore(database)
    other = await runs.begin(OTHER)
    for status in ("done", "error"):
        run = await runs.begin(SESSION)
        await runs.append(run, [(1, TextDelta(status))])
        await runs.end(run, status)
    assert await runs.unfinished(SESSION) == [run]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [f"{run}.jsonl"]
    assert await runs.last(OTHER) == (other, "running")


async def test_what_ended_badly_is_kept_within_a_bound(database: Database) -> None:
    runs = store.RunStore(database)
    begun = []
    for _ in range(10):
        begun.append(await runs.begin(SESSION))
        await runs.end(begun[-1], "error")
    assert await runs.unfinished(SESSION) == begun[-8:]
    # Nothing ends while server after server is killed: the start has the same bound.
    begun += [await runs.begin(SESSION) for _ in range(3)]
    await runs.interrupt_running()
    assert await runs.unfinished(SESSION) == begun[-8:]


async def test_what_was_interrupted_is_kept_until_it_is_history(database: Database) -> None:
    runs = store.RunStore(database)
    cut_off, other = await runs.begin(SESSION), await runs.begin(OTHER)
    await runs.append(cut_off, [(1, TextDelta("half"))])
    await runs.append(other, [(1, TextDelta("of the other"))])
    assert await runs.interrupt_running() == 2
    assert await runs.events(cut_off) == [(1, TextDelta("half"))]
    following = await runs.begin(SESSION)
    assert await runs.events(cut_off) == [(1, TextDelta("half"))]
    await runs.end(following, "done")
    assert await runs.events(cut_off) == []
    assert await runs.events(other) == [(1, TextDelta("of the other"))]
    await runs.forget(OTHER)
    assert await runs.events(other) == []


async def test_the_start_removes_files_without_a_run(database: Database, tmp_path: Path) -> None:
    runs = store.RunStore(database)
    run = await runs.begin(SESSION)
    await runs.append(run, [(1, TextDelta("kept"))])
    EventFiles(tmp_path / "runs").append(run + 1, [(1, said("left behind"))])
    await runs.interrupt_running()
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [f"{run}.jsonl"]


async def test_events_of_an_older_version_move_into_files(tmp_path: Path) -> None:
    older = Database(tmp_path / "runs.db", store.ALL[:1])
    await older.open()
    await older.write(f"INSERT INTO runs VALUES (3, '{SESSION}', 'interrupted', '2026-01-01T00:00:00Z', NULL)")
    await older.write(
        "INSERT INTO batches VALUES (?, ?)", ((3 << 32) + 2, '[[1,{"type":"model","model":"m"}],[2,{"type":"a"}]]')
    )
    await older.write("INSERT INTO batches VALUES (?, ?)", ((3 << 32) + 9, '[[9,{"type":"text_delta","text":"ä"}]]'))
    await older.close()
    newer = Database(tmp_path / "runs.db", store.ALL)
    await newer.open()
    try:
        runs = store.RunStore(newer)
        assert await runs.last(SESSION) == (3, "interrupted")
        assert await runs.events(3) == [(1, Model("m")), (9, TextDelta("ä"))]
    finally:
        await newer.close()
