"""Five devices, an agent and an editor, with everything that goes wrong between them: no line is lost, none is there twice, all converge.

`PARACHUTE_SYNC_STEPS=100000` has it take so many steps; with `-s` it says how far it is.
"""

import contextlib
import itertools
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from parachute.base.errors import ParachuteError

from .home import Home, Interruption, Killed, Laptop, visible

STEPS = int(os.environ.get("PARACHUTE_SYNC_STEPS", "0"))
PER_EXAMPLE = 50 if STEPS else 20
FILES = ("a.md", "Notes/b.md", "c.md")
DEVICES = 5
LINE = re.compile(r"w\d+")

INTERRUPTION = Interruption()
TAKEN = itertools.count()

pytestmark = [
    pytest.mark.timeout(0 if STEPS else 300),
    # What is killed leaves files open.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]

files = st.sampled_from(FILES)
devices = st.integers(0, DEVICES - 1)
positions = st.integers(0, 5)
times = st.sampled_from((0, 1_000_000_000, 4_000_000_000))
edits = st.sampled_from(("add", "add", "add", "change", "remove", "delete"))


class Vaults(RuleBasedStateMachine):
    """`said` are all lines that were written anywhere, by file; `unsaid` those that somebody took away on purpose, or that nobody had any more."""

    def __init__(self) -> None:
        super().__init__()
        memory = Path("/dev/shm")
        self.root = Path(tempfile.mkdtemp(prefix="sync-", dir=memory if memory.is_dir() else None))
        self.home = Home(self.root)
        self.laptops = [Laptop(self.home, f"laptop{number}") for number in range(DEVICES)]
        self.said: set[str] = set()
        self.unsaid: set[str] = set()
        self.saved: set[str] = set()
        self.home.back_up()
        self._numbers = itertools.count(1)

    def teardown(self) -> None:
        INTERRUPTION.over()
        try:
            self._converge()
        finally:
            self.home.close()
            shutil.rmtree(self.root)

    @rule(device=devices, path=files, edit=edits, place=positions, time=times)
    def edit(self, device: int, path: str, edit: str, place: int, time: int) -> None:
        """A person edits on a device, whose clock shows anything."""
        self._edited(self.laptops[device].folder / path, edit, place)
        with contextlib.suppress(FileNotFoundError):
            os.utime(self.laptops[device].folder / path, (time, time))

    @rule(path=files, edit=edits, place=positions)
    def editor_writes(self, path: str, edit: str, place: int) -> None:
        """An editor on the computer."""
        self._edited(self.home.vault / path, edit, place)

    @rule(path=files, place=positions)
    def agent_writes(self, path: str, place: int) -> None:
        """A program that uses the API."""
        file = self.home.vault / path
        text = file.read_text() if file.exists() else ""
        changed = self._changed(text, "add", place)
        self.home.agent_writes(path, changed)
        self.said |= set(LINE.findall(changed))

    @rule(device=devices, is_offline=st.booleans())
    def partition(self, device: int, is_offline: bool) -> None:
        self.laptops[device].remote.is_offline = is_offline

    @rule(device=devices)
    def sync(self, device: int) -> None:
        self._sync(device)

    @rule(device=devices, call=st.integers(1, 8), answers=st.booleans())
    def cut_off(self, device: int, call: int, answers: bool) -> None:
        """The device dies, or its connection, before a call or after it was carried out."""
        remote = self.laptops[device].remote
        remote.cut_at, remote.cuts_answer = call, answers
        self._sync(device)
        remote.cut_at = 0

    @rule(device=devices, step=st.integers(1, 40))
    def kill(self, device: int, step: int) -> None:
        """The device or the server dies before a step in the file system; the server starts again."""
        INTERRUPTION.kill_at(step)
        self._sync(device)
        INTERRUPTION.over()
        self.home.stop()
        self.home.start()

    @rule(device=devices, step=st.integers(1, 40), path=files, place=positions, here=st.booleans())
    def write_meanwhile(self, device: int, step: int, path: str, place: int, here: bool) -> None:
        """An editor writes in the middle of it."""
        root = self.laptops[device].folder if here else self.home.vault
        INTERRUPTION.do_at(step, lambda: self._edited(root / path, "add", place))
        self._sync(device)
        INTERRUPTION.over()

    @rule()
    def back_up(self) -> None:
        self.home.back_up()
        self.saved = self._in_vault() | self._in_conflicts()

    @rule()
    def restore(self) -> None:
        """Lines that no device has and no backup are gone."""
        self.home.restore()
        there = self._in_vault() | self._in_conflicts()
        for laptop in self.laptops:
            there |= _lines(laptop.folder)
        self.unsaid |= self.said - there

    @rule(number=positions, word=st.sampled_from(("merge", "this", "that", "both")))
    def answer(self, number: int, word: str) -> None:
        items = self.home.run(self.home.inbox.items())
        if not items:
            return
        before = self._in_vault() | self._in_conflicts()
        self.home.answer(items[number % len(items)].key, word)
        if word in ("this", "that"):
            self.unsaid |= before - self._in_vault() - self._in_conflicts()

    @invariant()
    def count(self) -> None:
        taken = next(TAKEN)
        if STEPS and not taken % 1000 and sys.__stderr__ is not None:
            sys.__stderr__.write(f"{taken:,} steps\n")

    def _sync(self, device: int) -> None:
        with contextlib.suppress(Killed, ParachuteError):
            self.laptops[device].sync(may_join=True)

    def _edited(self, file: Path, edit: str, place: int) -> None:
        text = file.read_text() if file.exists() else ""
        if edit == "delete":
            self.unsaid |= set(LINE.findall(text))
            file.unlink(missing_ok=True)
            return
        changed = self._changed(text, edit, place)
        file.parent.mkdir(exist_ok=True)
        temporary = file.with_name(f".{file.name}.editor")
        temporary.write_text(changed)
        temporary.replace(file)
        self.said |= set(LINE.findall(changed))

    def _changed(self, text: str, edit: str, place: int) -> str:
        lines = text.split()
        place = min(place, len(lines))
        if edit in ("change", "remove"):
            self.unsaid |= set(lines[place : place + 1])
            del lines[place : place + 1]
        if edit != "remove":
            lines.insert(place, f"w{next(self._numbers)}")
        return "\n\n".join(lines) + "\n" if lines else ""

    def _in_vault(self) -> set[str]:
        return _lines(self.home.vault)

    def _in_conflicts(self) -> set[str]:
        names = [each.id for each in self.home.conflicts.all()]
        return {line for name in names for line in LINE.findall(self.home.conflicts.content(name).read_text())}

    def _converge(self) -> None:
        for laptop in self.laptops:
            laptop.remote.is_offline = False
        self._settle()
        there = visible(self.home.vault)
        for laptop in self.laptops:
            assert visible(laptop.folder) == there
        found = self._in_vault() | self._in_conflicts()
        assert self.said - self.unsaid <= found, sorted(self.said - self.unsaid - found)
        for path, data in there.items():
            lines = LINE.findall(data.decode())
            assert len(lines) == len(set(lines)), (path, lines)
        kept = [(each.path, each.hash) for each in self.home.conflicts.all()]
        assert len(kept) == len(set(kept))

    def _settle(self) -> None:
        for _ in range(10):
            before = visible(self.home.vault)
            done = [laptop.sync(may_join=True) for laptop in self.laptops]
            assert not any(each.left for each in done), [each.left for each in done]
            if not any(each.has_done for each in done) and visible(self.home.vault) == before:
                return
        raise AssertionError("The devices exchange files for ever.")


def _lines(root: Path) -> set[str]:
    return {line for data in visible(root).values() for line in LINE.findall(data.decode())}


Model = Vaults.TestCase
Model.settings = settings(
    max_examples=max(STEPS // PER_EXAMPLE, 12),
    stateful_step_count=PER_EXAMPLE,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
