"""The cost of answers does not grow with the years of a journal (G)."""

import datetime
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from daily.days.day import Entry
from daily.journal.index import Index, Indexed
from daily.sync.hashes import Hashes

from parachute.core.files import Files

FIRST = datetime.date(2020, 1, 1)
ALL = ("2019-01-01", "2100-01-01")


async def fill(index: Index, days: range, a_day: int = 12) -> None:
    changes = []
    for number in days:
        date = str(FIRST + datetime.timedelta(days=number))
        entries = [Entry(f"k{number}-{place}", "", "some words " * 60, {}) for place in range(number % 3 and a_day)]
        changes.append((Indexed(f"Daily/journals/{date}.md", date, 1, 1), entries))
    await index.put(changes)


async def steps(index: Index, offset: int) -> int:
    """Count, in tens, the instructions of SQLite for a page at an offset, and for the number of all entries."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    await index._database.run(lambda connection: connection.set_progress_handler(count, 10))
    assert len(await index.between(*ALL, 20, offset)) == 20
    assert await index.count(*ALL) > offset
    await index._database.run(lambda connection: connection.set_progress_handler(None, 10))
    return counted


async def test_a_page_far_behind_reads_no_entry_before_it(tmp_path: Path) -> None:
    index = Index(tmp_path / "index.db")
    await fill(index, range(60), a_day=60)
    near, far = await steps(index, 60), await steps(index, 2_300)
    assert far < 1.5 * near
    index.close()


async def test_pages_follow_each_other(tmp_path: Path) -> None:
    index = Index(tmp_path / "index.db")
    await fill(index, range(30))
    await index.put([], ["Daily/journals/2020-01-05.md"])
    everything = [found.entry.key for found in await index.between(*ALL, 1000, 0)]
    assert len(everything) == await index.count(*ALL) == 19 * 12
    for offset in range(0, len(everything) + 20, 7):
        page = [found.entry.key for found in await index.between(*ALL, 10, offset)]
        assert page == everything[offset : offset + 10]
    week = ("2020-01-03", "2020-01-09")
    within = [found.entry.key for found in await index.between(*week, 1000, 0)]
    assert len(within) == await index.count(*week) == 4 * 12
    assert [found.entry.key for found in await index.between(*week, 5, 14)] == within[14:19]
    assert await index.count("2030-01-01", "2030-02-01") == 0
    index.close()


async def test_an_index_of_an_older_version_is_counted(tmp_path: Path) -> None:
    index = Index(tmp_path / "index.db")
    await fill(index, range(10))
    await index._database.run(
        lambda connection: connection.executescript(
            "DROP TRIGGER entries_counted; DROP TRIGGER entries_uncounted; DROP TABLE days"
        )
    )
    index.close()
    assert await index.count(*ALL) == len(await index.between(*ALL, 1000, 0)) == 6 * 12
    await fill(index, range(10, 11))
    assert await index.count(*ALL) == 7 * 12
    index.close()


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    folder = tmp_path / "vault" / "Daily" / "journals"
    folder.mkdir(parents=True)
    for number in range(20):
        path = folder / f"2024-01-{number + 1:02}.md"
        path.write_text(f"text {number}\n")
        os.utime(path, (1_000_000_000, 1_000_000_000))
    return folder


def _in_place(path: Path) -> None:
    path.write_text("TEXT 3\n")


def _anew(path: Path) -> None:
    path.unlink()
    path.write_text("TEXT 3\n")


def _by_name(path: Path) -> None:
    (path.parent / "new").write_text("TEXT 3\n")
    (path.parent / "new").rename(path)


@pytest.mark.parametrize("write", [_in_place, _anew, _by_name])
async def test_every_edit_is_in_the_manifest(tmp_path: Path, journals: Path, write: Callable[[Path], None]) -> None:
    hashes = Hashes(Files(tmp_path / "vault", write=["Daily/**"]), tmp_path / "hashes.db")
    before = await hashes.all()
    assert await hashes.all() is before  # nothing was made again
    path = journals / "2024-01-04.md"
    write(path)
    # As programs do that keep the time of a file: the same size and the same time of change.
    os.utime(path, (1_000_000_000, 1_000_000_000))
    after = await hashes.all()
    assert [old.path for old, new in zip(before, after, strict=True) if old.hash != new.hash] == [
        "journals/2024-01-04.md"
    ]
    assert len({file.hash for file in after}) == 20
    hashes.close()


async def test_a_file_of_this_moment_is_read_again(tmp_path: Path, journals: Path) -> None:
    hashes = Hashes(Files(tmp_path / "vault", write=["Daily/**"]), tmp_path / "hashes.db")
    path = journals / "2024-02-01.md"
    seen = set()
    for number in range(50):
        path.write_text(f"text {number:02}\n")
        seen.add((await hashes.all())[-1].hash)
    assert len(seen) == 50
    hashes.close()


async def test_after_an_edit_only_what_changed_is_looked_up(tmp_path: Path, journals: Path) -> None:
    hashes = Hashes(Files(tmp_path / "vault", write=["Daily/**"]), tmp_path / "hashes.db")
    before = await hashes.all()
    _in_place(journals / "2024-01-04.md")
    (journals / "2024-01-05.md").unlink()
    for _ in range(2):  # what is of this moment is read again
        after = await hashes.all()
        kept = [file for file in after if file.path not in ("journals/2024-01-04.md", "journals/2024-01-05.md")]
        assert len(kept) == 18
        assert {id(file) for file in kept} < {id(file) for file in before}
    hashes.close()
    again = Hashes(Files(tmp_path / "vault", write=["Daily/**"]), tmp_path / "hashes.db")
    assert await again.all() == after
    again.close()


async def test_a_word_that_tells_counts_alone_and_of_words_that_very_many_have_the_newest(tmp_path: Path) -> None:
    index = Index(tmp_path / "index.db")
    rain = [Entry(f"rain-{number}", "", "今天下雨 every day", {}) for number in range(2_600)]
    await index.put([(Indexed("Daily/journals/2020-01-02.md", "2020-01-02", 1, 1), rain)])
    tower = Entry("tower", "", "今天在灯塔 every Monday", {})
    await index.put([(Indexed("Daily/journals/2020-01-01.md", "2020-01-01", 1, 1), [tower])])
    for text in ("今 灯", "今天的灯塔", "day Monday"):
        assert [found.entry.key for found in await index.search_any(text, *ALL, 3)] == ["tower"]
    for text in ("今", "今 下", "every"):
        newest = await index.search_any(text, *ALL, 3)
        assert [found.entry.key for found in newest] == [f"rain-{number}" for number in (2599, 2598, 2597)]
    index.close()
