"""A computer made of files: an installation, what the system says of itself, and programs that speak as the real ones do."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.ops.doctor.checks import all_checks
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Level, Result
from parachute.ops.doctor.open_files import entries
from parachute.ops.doctor.running import result_of

USER = "sam"
BOOTED = "run/systemd/system"


class Machine:
    """One installation in a folder of its own; nothing of the machine below is seen but its programs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = Home(folder / "p")
        self.vault = folder / "Parachute"
        self.root = folder / "root"
        self.programs = folder / "programs"
        self.settings: dict[str, Any] = {}
        for path in (self.home.root, self.home.root / "run", self.vault, self.vault / ".parachute"):
            path.mkdir(mode=0o700)
        for path in (self.root, self.programs):
            path.mkdir()
        self.path = os.environ["PATH"]
        self.results: list[str] = []

    def file(self, name: str, text: str = "") -> Path:
        """A file of the system, such as `/proc/meminfo`."""
        path = self.root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def booted(self) -> None:
        """Let systemd run the machine."""
        (self.root / BOOTED).mkdir(parents=True)
        self.program("systemctl", "echo 'systemd 257 (257.9-1~deb13u1)'")

    def program(self, name: str, script: str) -> Path:
        """A program of this machine, which is found before the real one."""
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def without_programs(self) -> None:
        """Leave nothing but the programs that were made here."""
        self.path = ""

    def computer(self, **changes: Any) -> Computer:
        """Return the computer that checks examine."""
        computer = Computer(
            home=self.home,
            # Leftovers of other tests in /tmp are none of this machine.
            environment={"PATH": f"{self.programs}:{self.path}", "HOME": str(self.folder), "TMPDIR": str(self.folder)},
            user=USER,
            uid=os.getuid(),
            user_home=self.folder,
            root=self.root,
            settings=Settings(vault=self.vault, **self.settings),
            entries=entries(self.home.root),
        )
        return replace(computer, **changes)

    def look(self, check: str, **changes: Any) -> Result:
        """The result of one check."""
        result = result_of(self.computer(**changes), all_checks()[check])
        fix = f"--fix: {result.fix.summary}" if result.fix else None
        lines = (f"{check}: {result.level}: {result.message}", result.hint, *result.details, fix)
        self.results.append("\n  ".join(filter(None, lines)))
        return result

    def well(self, check: str, **changes: Any) -> str:
        """See that a check has nothing to complain of, and return what it says."""
        result = self.look(check, **changes)
        assert (result.level, result.hint, result.fix) == (Level.OK, None, None), result
        return result.message

    def finds(self, check: str, level: Level, **changes: Any) -> Result:
        """See that a check complains, with a sentence and what to do."""
        result = self.look(check, **changes)
        assert result.level is level, result
        assert "This check failed" not in result.message, result
        assert result.hint, result
        return result

    def warns(self, check: str, **changes: Any) -> Result:
        """See that a check warns."""
        return self.finds(check, Level.WARNING, **changes)

    def accuses(self, check: str, **changes: Any) -> Result:
        """See that a check finds a problem."""
        return self.finds(check, Level.PROBLEM, **changes)

    def skips(self, check: str, **changes: Any) -> str:
        """See that a check does not apply, and return why."""
        result = self.look(check, **changes)
        assert result.level is Level.SKIPPED, result
        return result.message


@contextmanager
def unchanged(*folders: Path) -> Iterator[None]:
    """See that the block changes nothing in these folders: names, modes, sizes, times."""

    def state() -> list[tuple[object, ...]]:
        found: list[tuple[object, ...]] = []
        for folder in folders:
            for path in (folder, *sorted(folder.rglob("*"))):
                status = path.lstat()
                found.append((path, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino))
        return found

    before = state()
    yield
    assert state() == before
