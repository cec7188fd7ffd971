"""Two laptops and the vault: what each of them changes arrives at the others, and nothing is written over."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.files.device.names import refused
from parachute.files.device.service import Device
from parachute.files.sync.models import Synced
from parachute.security.keys.models import FULL_ACCESS, Caller

from .home import Home, InProcess, Killed, Laptop, visible

OWNER = Caller("cli", "owner", FULL_ACCESS)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    made.close()


@pytest.fixture
def one(home: Home) -> Laptop:
    return Laptop(home, "one")


@pytest.fixture
def other(home: Home) -> Laptop:
    return Laptop(home, "other")


def shared(home: Home, *laptops: Laptop, **files: str) -> None:
    """Have these files everywhere."""
    for name, text in files.items():
        (home.vault / f"{name}.md").write_text(text)
    for laptop in laptops:
        laptop.sync()


def test_files_go_both_ways(home: Home, one: Laptop, other: Laptop) -> None:
    large = os.urandom(2_500_000)
    (home.vault / "Notes").mkdir()
    (home.vault / "Notes/garden.md").write_text("Sow peas.\n")
    (one.folder / "photo.jpg").write_bytes(large)
    (one.folder / "empty.txt").touch()
    report = one.sync()
    assert (report.downloaded, report.uploaded) == (["Notes/garden.md"], ["empty.txt", "photo.jpg"])
    other.sync()
    there = {"Notes/garden.md": b"Sow peas.\n", "empty.txt": b"", "photo.jpg": large}
    assert visible(home.vault) == visible(one.folder) == visible(other.folder) == there
    assert not one.sync().has_done

    (other.folder / "Notes/garden.md").unlink()
    (other.folder / "empty.txt").write_text("not empty")
    report = other.sync()
    assert (report.deleted_there, report.uploaded) == (["Notes/garden.md"], ["empty.txt"])
    report = one.sync()
    assert (report.deleted_here, report.downloaded) == (["Notes/garden.md"], ["empty.txt"])
    assert visible(home.vault) == visible(one.folder) == visible(other.folder)
    assert not (one.folder / "Notes").exists()
    # What was deleted is kept.
    deleted = next(each for each in home.run(home.files.changes(None, 50)) if each.files[0].path == "Notes/garden.md")
    home.run(home.files.undo(deleted.change, OWNER))
    one.sync()
    assert (one.folder / "Notes/garden.md").read_text() == "Sow peas.\n"


def test_what_both_changed_is_joined(home: Home, one: Laptop, other: Laptop) -> None:
    shared(home, one, other, a="first\n\nlast\n")
    (one.folder / "a.md").write_text("first of one\n\nlast\n")
    (other.folder / "a.md").write_text("first\n\nlast\n\nof the other\n")
    one.sync()
    assert other.sync().merged == ["a.md"]
    one.sync()
    joined = "first of one\n\nlast\n\nof the other\n"
    assert {laptop.joinpath("a.md").read_text() for laptop in (home.vault, one.folder, other.folder)} == {joined}
    assert home.run(home.inbox.items()) == []


@pytest.mark.parametrize(
    ("word", "text"),
    [("merge", "one\n\ntwo\n"), ("this", "one\n"), ("that", "two\n"), ("both", "one\n")],
)
def test_a_paragraph_that_both_changed_is_a_card(home: Home, one: Laptop, other: Laptop, word: str, text: str) -> None:
    shared(home, one, other, a="zero\n")
    (one.folder / "a.md").write_text("one\n")
    (other.folder / "a.md").write_text("two\n")
    one.sync()
    assert other.sync().conflicts == ["a.md"]
    assert (other.folder / "a.md").read_text() == "one\n"
    (item,) = home.run(home.inbox.items())
    assert (item.details["diff"], item.details["device"]) == ("@@ -1 +1 @@\n-one\n+two", "other")
    home.answer(item.key, word)
    assert home.run(home.inbox.items()) == []
    one.sync()
    assert (one.folder / "a.md").read_text() == text
    assert visible(one.folder).get("a (other version).md") == (b"two\n" if word == "both" else None)
    # Both are in the history.
    numbers = [each.change for each in home.run(home.files.changes(None, 50))]
    if word == "this":
        home.run(home.files.undo(numbers[0], OWNER))
        home.stop()
        home.start()
        (item,) = home.run(home.inbox.items())
        assert item.details["copy"].startswith("a.conflict-")


def test_a_picture_that_both_changed_is_kept_twice(home: Home, one: Laptop, other: Laptop) -> None:
    (home.vault / "a.png").write_bytes(b"\0zero")
    shared(home, one, other)
    (one.folder / "a.png").write_bytes(b"\0one")
    (other.folder / "a.png").write_bytes(b"\0two")
    one.sync()
    assert other.sync().conflicts == ["a.png"]
    (item,) = home.run(home.inbox.items())
    assert item.answers == ("this", "that", "both")
    home.answer(item.key, "both")
    one.sync()
    assert visible(one.folder) == {"a.png": b"\0one", "a (other version).png": b"\0two"}


def test_who_changes_wins_over_who_deletes(home: Home, one: Laptop, other: Laptop) -> None:
    shared(home, one, other, a="a\n", b="b\n")
    (one.folder / "a.md").unlink()
    (one.folder / "b.md").write_text("b1\n")
    (other.folder / "a.md").write_text("a1\n")
    (other.folder / "b.md").unlink()
    for laptop in (one, other, one):
        laptop.sync()
    assert visible(home.vault) == visible(one.folder) == visible(other.folder) == {"a.md": b"a1\n", "b.md": b"b1\n"}


def test_after_a_restore_nothing_newer_is_lost(home: Home, one: Laptop, other: Laptop) -> None:
    shared(home, one, other, a="a\n", b="b\n", c="c\n")
    home.back_up()
    (one.folder / "a.md").write_text("a, and later\n")
    (one.folder / "new.md").write_text("new\n")
    one.sync()
    other.sync()
    (other.folder / "b.md").write_text("b, offline\n")
    home.restore()
    assert visible(home.vault) == {"a.md": b"a\n", "b.md": b"b\n", "c.md": b"c\n"}
    for laptop in (one, other, one):
        report = laptop.sync()
    assert not report.deleted_here
    assert visible(home.vault) == {
        "a.md": b"a, and later\n",
        "b.md": b"b, offline\n",
        "c.md": b"c\n",
        "new.md": b"new\n",
    }
    assert visible(home.vault) == visible(one.folder) == visible(other.folder)
    assert home.run(home.inbox.items()) == []


def test_a_copied_vault_begins_a_new_epoch(home: Home, one: Laptop) -> None:
    shared(home, one, a="a\n")
    first = home.run(home.sync.page(None, 10))
    home.stop()
    shutil.copytree(home.vault, home.root / "copy")
    shutil.rmtree(home.vault)
    (home.root / "copy").rename(home.vault)
    home.start()
    page = home.run(home.sync.page(first.cursor, 10))
    assert page.is_anew
    assert page.epoch != first.epoch
    home.stop()
    home.start()
    assert not home.run(home.sync.page(page.cursor, 10)).is_anew


def test_many_deletions_wait_for_a_yes(home: Home, one: Laptop) -> None:
    shared(home, one, a="a\n", b="b\n", c="c\n", d="d\n", e="e\n")
    for path in one.folder.iterdir():
        path.unlink()
    device = Device(one.folder, one.state, one.remote)
    try:
        assert device.run().withheld == 5
        assert len(visible(home.vault)) == 5
        assert len(device.run(may_delete=lambda count, of: (count, of) == (5, 5)).deleted_there) == 5
    finally:
        device.close()


def test_a_broken_connection_goes_on_where_it_was(home: Home, one: Laptop) -> None:
    data = os.urandom(1_500_000)
    (one.folder / "film.mp4").write_bytes(data)
    one.remote.cut_at = 4
    with pytest.raises(Killed):
        one.sync()
    assert [each.stat().st_size for each in (home.vault / ".parachute/pieces").iterdir()] == [300_000]
    one.sync()
    assert visible(home.vault) == {"film.mp4": data}


def test_hostile_names_and_links_are_left_alone(home: Home, one: Laptop, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (one.folder / "link.md").symlink_to(tmp_path / "secret")
    (one.folder / "folder").symlink_to(tmp_path)
    (one.folder / ".git").mkdir()
    (one.folder / ".git/config").touch()
    one.sync()
    assert visible(home.vault) == {}
    hostile = ["../a", "/etc/passwd", "a/../../b", ".git/hooks/post-commit", "a\\..\\b", "a\nb", "", "id_rsa", "a//b"]
    assert set(refused(hostile, [], distinguishes=False)) == set(hostile)
    assert set(refused(hostile[:4], [], distinguishes=True)) == set(hostile[:4])
    same = ["Notes/a.md", "notes/b.md", "x.md", "X.md", "con.md"]
    assert set(refused(same, ["x.md"], distinguishes=False)) == {"notes/b.md", "X.md", "con.md"}
    assert not refused(same, [], distinguishes=True)


def test_computer_says_whether_there_is_news(home: Home, one: Laptop, other: Laptop) -> None:
    one.sync()
    assert not one.has_news()
    (other.folder / "beans.md").write_text("Beans.\n")
    other.sync()
    assert one.has_news()
    assert not one.has_news(), "it is remembered"
    assert one.sync().downloaded == ["beans.md"]


class _Late(InProcess):
    """A connection on which a file comes to be on the computer just before a version of the device arrives."""

    def upload(self, path: str, base: str, digest: str, data: bytes) -> Synced:
        file = self._home.vault / path
        if not file.exists():
            file.write_text("Theirs.\n")
        return super().upload(path, base, digest, data)


def test_what_both_wrote_anew_after_a_restore_is_joined(home: Home, one: Laptop) -> None:
    home.back_up()
    (one.folder / "new.md").write_text("Mine.\n")
    one.sync()
    home.restore()
    one.remote = _Late(home, "one")
    one.sync()
    there = (home.vault / "new.md").read_text() + "".join(
        home.conflicts.content(each.id).read_text() for each in home.conflicts.all()
    )
    assert "Mine." in there
    assert "Theirs." in there
