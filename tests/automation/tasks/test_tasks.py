"""Tasks of a vault on a clock that the test sets: which are found, what a tick changes, and what waits in the inbox."""

import os
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from parachute.automation.tasks import looking
from parachute.automation.tasks.inbox import TasksSource
from parachute.automation.tasks.models import Task
from parachute.automation.tasks.service import Tasks
from parachute.config.vault.service import Vault
from parachute.events.file_watcher.service import VaultWatcher
from parachute.events.inbox.models import Answer
from parachute.files.service import VaultFiles
from parachute.security.keys.models import FULL_ACCESS, Caller, Scope
from tests.support.clock import ManualClock
from tests.support.errors import raises

ZONE = ZoneInfo("Europe/Berlin")
TUESDAY = datetime(2026, 12, 1, 12, tzinfo=ZONE)
OWNER = Caller("cli", "owner", FULL_ACCESS)
DEVICE = Caller("key", "phone", (Scope("vault", frozenset(("read", "write"))),))


class Desk:
    """Notes, the tasks in them, and the items of the inbox in which these wait."""

    def __init__(self, root: Path, files: VaultFiles) -> None:
        self.root = root
        self.vault = root / "vault"
        self.clock = ManualClock(TUESDAY, ZONE)
        self.told = 0
        self._files = files
        self.restart()

    def restart(self) -> None:
        """Begin anew with what is on the disk."""
        watcher = VaultWatcher(self.vault, self.clock)
        self.tasks = Tasks(Vault(self.vault), self.root, self._files, watcher, self.clock, self._tell)
        self.source = TasksSource(self.tasks, self.clock)

    def _tell(self) -> None:
        self.told += 1

    def write(self, path: str, text: str) -> Path:
        """Write a note, as an editor does."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    async def found(self, **wanted: Any) -> list[Task]:
        """Return the tasks that are asked for."""
        asked = {"done": False, "due": None, "path": "", "limit": 200, **wanted}
        return list((await self.tasks.list(**asked)).tasks)

    async def texts(self, **wanted: Any) -> str:
        """Return their texts."""
        return "".join(each.text for each in await self.found(**wanted))

    async def tick(self, task: Task, caller: Caller = OWNER, *, done: bool = True) -> Task:
        """Tick one."""
        return await self.tasks.tick(task.id, caller, done=done)

    async def waiting(self, days: int = 0) -> str:
        """Let days pass, and return what waits."""
        self.clock.move(days * 24 * 3600)
        return "".join(each.title for each in await self.source.items())

    async def answer(self, word: str) -> None:
        """Answer the first that waits."""
        item, *_ = await self.source.items()
        await self.source.answer(item, Answer(word, "owner"))


@pytest.fixture
def desk(tmp_path: Path, files: VaultFiles) -> Desk:
    return Desk(tmp_path, files)


async def test_they_are_found_in_markdown_that_a_search_finds(desk: Desk) -> None:
    for path in ("b.md", "Notes/Inner/c.MD", "Daily/journals/2026-12-01.md", "z.markdown"):
        desk.write(path, "- [ ] a\n")
    for path in (
        *("a.txt", ".obsidian/a.md", "Notes/.hidden.md", "AGENTS.md", "Notes/CLAUDE.md", "Chat/contexts/a.md"),
        *("node_modules/a.md", "b.sync-conflict-20261201-120000-ABCDEFG.md"),
    ):
        desk.write(path, "- [ ] b\n")
    (desk.vault / "link.md").symlink_to(desk.root / "outside.md")
    (desk.root / "outside.md").write_text("- [ ] b\n")
    (desk.vault / "no.md").write_bytes(b"- [ ] \xff\n")
    paths = [each.path for each in await desk.found()]
    assert paths == ["Daily/journals/2026-12-01.md", "Notes/Inner/c.MD", "b.md", "z.markdown"]


async def test_they_are_listed_by_their_day_and_place(desk: Desk) -> None:
    desk.write("b.md", "- [ ] d\n- [ ] b due:2026-12-02\n- [x] f\n")
    desk.write("a.md", "- [ ] c\n- [ ] a 📅 2026-12-01\n")
    desk.write("bb/e.md", "- [ ] e\n")
    assert await desk.texts() == "abcde"
    assert await desk.texts(done=True) == "f"
    assert await desk.texts(due=date(2026, 12, 1)) == "a"
    assert await desk.texts(path="b.md") == "bd"
    assert await desk.texts(path="/bb/") == "e"
    page = await desk.tasks.list(done=False, due=None, path="", limit=2)
    assert (len(page.tasks), page.total, page.left_out, page.is_cut) == (2, 5, 0, False)


async def test_what_changes_and_goes_is_seen(desk: Desk) -> None:
    file = desk.write("a.md", "- [ ] a\n")
    os.utime(file, ns=(10**18, 10**18))
    assert await desk.texts() == "a"
    # What has the same size and time is not read again.
    desk.write("a.md", "- [ ] z\n")
    os.utime(file, ns=(10**18, 10**18))
    assert await desk.texts() == "a"
    desk.write("a.md", "- [ ] b\n")
    assert await desk.texts() == "b"
    desk.write("a.md", "- [ ] c\n")
    assert await desk.texts() == "c"
    file.unlink()
    assert await desk.texts() == ""


def test_a_look_that_ends_early_keeps_what_it_knows_and_the_next_one_goes_on(desk: Desk) -> None:
    notes = looking.Notes(desk.vault, desk.clock)
    desk.write("a.md", "- [ ] a\n")
    assert [each.text for each in notes.look(10).tasks] == ["a"]
    desk.write("a.md", "- [ ] changed\n")
    desk.write("b.md", "- [ ] b\n")
    early = notes.look(0)
    assert ([each.text for each in early.tasks], early.is_cut, early.is_partial) == (["a"], True, True)
    whole = notes.look(10)
    assert ([each.text for each in whole.tasks], whole.is_cut, whole.is_partial) == (["changed", "b"], False, False)


async def test_a_file_that_is_too_large_is_counted(desk: Desk) -> None:
    desk.write("a.md", "- [ ] a\n")
    desk.write("b.md", "- [ ] b\n" + "x" * looking.LARGEST)
    found = await desk.tasks.list(done=False, due=None, path="", limit=9)
    assert ([each.text for each in found.tasks], found.left_out) == (["a"], 1)


async def test_a_tick_changes_one_byte_and_keeps_all_else(desk: Desk) -> None:
    text = "\ufeff# é\r\n- [ ] a\n- [ ] a\r\n\t- [X] b\n- [ ] c"
    file = desk.write("a.md", text)
    file.chmod(0o640)
    _, second, last = await desk.found()
    done = await desk.tick(second)
    assert (done.done, done.id, done.line) == (True, second.id, 3)
    assert file.read_bytes() == text.replace("- [ ] a\r", "- [x] a\r").encode()
    assert file.stat().st_mode & 0o777 == 0o640
    await desk.tick(second)
    await desk.tick(last)
    assert (await desk.texts(), await desk.texts(done=True)) == ("a", "abc")
    for each in (second, last, second):
        await desk.tick(each, done=False)
    assert file.read_bytes() == text.encode()
    assert desk.told == 6


async def test_a_line_is_ticked_where_it_stands_now(desk: Desk) -> None:
    file = desk.write("a.md", "- [ ] a\n")
    (task,) = await desk.found()
    file.write_text("New\n\n- [ ] b\n- [ ] a\n")
    assert (await desk.tick(task)).line == 4
    assert file.read_text() == "New\n\n- [ ] b\n- [x] a\n"


async def test_what_is_gone_is_a_conflict_and_changes_nothing(desk: Desk) -> None:
    file = desk.write("a.md", "- [ ] a\n")
    (task,) = await desk.found()
    file.write_text("- [ ] a!\n")
    with raises("task_gone"):
        await desk.tick(task)
    assert file.read_text() == "- [ ] a!\n"
    file.unlink()
    with raises("task_gone"):
        await desk.tick(task)


async def test_a_tick_is_an_edit_that_is_undone(desk: Desk, files: VaultFiles) -> None:
    file = desk.write("a.md", "- [ ] a\n")
    await desk.tick((await desk.found())[0], DEVICE)
    await files.undo(None, DEVICE)
    assert file.read_text() == "- [ ] a\n"


async def test_one_waits_on_its_day_until_it_is_ticked(desk: Desk) -> None:
    file = desk.write("a.md", "- [ ] a 📅 2026-12-03\n- [ ] b\n- [x] c due:2026-12-01\n")
    assert await desk.waiting(days=1) == ""
    assert await desk.waiting(days=1) == "a"
    (item,) = await desk.source.items()
    assert (item.since, item.details["path"]) == ("2026-12-02T23:00:00.000Z", "a.md")
    desk.restart()
    file.write_text("New\n" + file.read_text())
    assert [each.hash for each in await desk.source.items()] == [item.hash]
    await desk.answer("done")
    assert (await desk.waiting(), file.read_text().count("[x]")) == ("", 2)
    await desk.source.answer(item, Answer("done", "owner"))


async def test_one_that_is_put_off_waits_again_on_the_next_day(desk: Desk) -> None:
    file = desk.write("a.md", "- [ ] a 📅 2026-12-01\n")
    await desk.answer("later")
    assert await desk.waiting() == ""
    desk.restart()
    assert (await desk.waiting(), await desk.waiting(days=1)) == ("", "a")
    assert file.read_text() == "- [ ] a 📅 2026-12-01\n"


async def test_what_was_due_long_ago_and_too_much_of_it_does_not_wait(desk: Desk) -> None:
    desk.write("a.md", "- [ ] a due:2026-11-01\n- [ ] b due:2026-10-31\n- [ ] c due:2026-12-02\n")
    assert await desk.waiting() == "a"
    desk.write("a.md", "".join(f"- [ ] {number} due:2026-12-01\n" for number in range(60)))
    desk.restart()
    assert len(await desk.source.items()) == 50


async def test_changes_are_seen_in_the_inbox_a_minute_later(desk: Desk) -> None:
    assert await desk.waiting() == ""
    desk.write("a.md", "- [ ] a due:2026-12-01\n")
    assert await desk.waiting() == ""
    desk.clock.move(60)
    assert await desk.waiting() == "a"


async def test_what_was_put_off_and_cannot_be_read_is_said_and_kept(desk: Desk) -> None:
    desk.write("a.md", "- [ ] a due:2026-12-01\n")
    (desk.root / "tasks.json").write_text('{"later": {"a": "soon"}}')
    with raises("tasks_unreadable"):
        await desk.source.items()
    assert "soon" in (desk.root / "tasks.json").read_text()
