"""An editor that writes between two steps of a program: each at one place, and in one order."""

import fcntl
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from parachute.files.models import Expected
from parachute.security.keys.models import Caller
from tests.support.errors import raises

from .home import Home, Laptop, visible


class _Moment:
    """Does something once, when the interpreter announces what `is_it` waits for."""

    def __init__(self) -> None:
        self._is_it: Callable[[str, tuple[Any, ...]], bool] | None = None
        self._work: Callable[[], object] = lambda: None
        sys.addaudithook(self._heard)

    def at(self, is_it: Callable[[str, tuple[Any, ...]], bool], work: Callable[[], object]) -> None:
        """Wait for the next one."""
        self._is_it, self._work = is_it, work

    @property
    def is_over(self) -> bool:
        """Return whether it came."""
        return self._is_it is None

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._is_it is not None and self._is_it(event, arguments):
            self._is_it = None
            self._work()


MOMENT = _Moment()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    made.close()


def saves(file: Path, text: str) -> None:
    """Save as editors do."""
    new = file.with_name(f".{file.name}.editor")
    new.write_text(text)
    new.replace(file)


def test_an_editor_on_the_computer_writes_while_it_is_found_out_who_uses_a_file(home: Home) -> None:
    file = home.vault / "a.md"
    file.write_text("before\n")

    def is_search(event: str, arguments: tuple[Any, ...]) -> bool:
        return event == "fcntl.fcntl" and arguments[1] == fcntl.F_SETLEASE

    MOMENT.at(is_search, lambda: saves(file, "of the editor\n"))
    with raises("changed_meanwhile"):
        home.run(home.files.write("a.md", "of a device\n", Expected(), Caller("cli", "agent", ())))
    assert MOMENT.is_over
    assert file.read_text() == "of the editor\n"


@pytest.mark.parametrize("path", ["a.md", "Notes/a.md"])
@pytest.mark.parametrize("is_deleted", [False, True])
def test_an_editor_on_a_laptop_writes_while_its_file_is_looked_at_last(
    home: Home, path: str, *, is_deleted: bool
) -> None:
    (home.vault / "Notes").mkdir()
    (home.vault / path).write_text("before\n")
    laptop = Laptop(home, "one")
    laptop.sync()
    if is_deleted:
        (home.vault / path).unlink()
    else:
        (home.vault / path).write_text("of the computer\n")
    here = laptop.folder / path
    here.touch()  # so that the next scan reads it, too
    inode, reads = here.stat().st_ino, itertools.count(1)

    def is_last_look(event: str, arguments: tuple[Any, ...]) -> bool:
        is_read = event == "open" and isinstance(arguments[0], int) and arguments[1] == "r"
        return is_read and os.fstat(arguments[0]).st_ino == inode and next(reads) == 2

    MOMENT.at(is_last_look, lambda: saves(here, "before\n\nof the editor\n"))
    laptop.sync()
    assert MOMENT.is_over
    laptop.sync()
    assert "of the editor" in here.read_text()
    assert (home.vault / path).read_text() == here.read_text()


@pytest.mark.parametrize("is_here", [False, True])
def test_an_editor_writes_in_the_moment_in_which_a_file_is_removed(home: Home, *, is_here: bool) -> None:
    (home.vault / "a.md").write_text("before\n")
    laptop = Laptop(home, "one")
    laptop.sync()
    file = (laptop.folder if is_here else home.vault) / "a.md"
    (home.vault if is_here else laptop.folder).joinpath("a.md").unlink()

    def is_removal(event: str, arguments: tuple[Any, ...]) -> bool:
        return event == "os.rename" and arguments[0] == "a.md"

    MOMENT.at(is_removal, lambda: saves(file, "of the editor\n"))
    laptop.sync()
    assert MOMENT.is_over
    laptop.sync()
    for root in (laptop.folder, home.vault):
        assert visible(root) == {"a.md": b"of the editor\n"}
        assert not [each for each in root.iterdir() if each.name.startswith(".a.md")]
