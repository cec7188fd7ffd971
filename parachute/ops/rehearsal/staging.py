"""Staging: the copies on which a new version is started, in a scratch folder next to the state directory."""

import errno
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from parachute.base.errors import Unavailable
from parachute.base.files import private_folder, remove_tree
from parachute.config.settings.home import Home
from parachute.ops.backup.models import Part
from parachute.ops.rehearsal.copying import Measured, copy_database, copy_folder, measure, shares_blocks
from parachute.sandbox.engines import views
from parachute.sandbox.engines.views import View

SECRETS = (
    "credentials.json",
    "bot-tokens.json",
    "git-tokens.json",
    "mcp-secrets.json",
    "mcp-logins.json",
    "backup",
)
"""Files of the state directory that are in no copy: with them a program could act for the owner elsewhere."""

_PASSING = (
    "run",
    "logs",
    "sandboxes",
    "caches",
    "views",
    "runtime-plugins",
    "meaning",
    "copies",
    "**/*.unfinished",
    "**/.*.lock",
)
_NOT_OF_A_REHEARSAL = ("hooks", "hooks.yaml", "panic.json", "updates")
"""Hooks are the owner's programs, which would do their work twice; a stopped computer would refuse the conversation; an update
would be taken up."""

_VIEWED = ("changes", "modules")
"""Folders of the state directory that may be large, and hold no database."""

_VAULT_STATE = ".parachute"
_SPARE = 256 << 20
"""Bytes that the new version writes, and that have to stay free for the running one."""


def remove_private(state: Path) -> None:
    """Remove from a state directory that is a copy what no rehearsal may have: secrets and the owner's programs. Error: OSError."""
    for name in (*SECRETS, *_NOT_OF_A_REHEARSAL):
        remove_tree(state / name)


class NoSpace(Unavailable):
    """The copies do not fit on the disk."""

    key = "disk_full"


class TooSlow(Unavailable):
    """The disk takes longer than a rehearsal may."""

    key = "too_slow"


@dataclass(slots=True)
class Staged:
    """The copies: folders that are mounted, views that are, and databases that belong into what is mounted."""

    binds: list[tuple[str, str]] = field(default_factory=list)
    views: list[tuple[str, str]] = field(default_factory=list)
    databases: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Scratch:
    """The scratch folder of an installation."""

    folder: Path

    @classmethod
    def of(cls, home: Home) -> "Scratch":
        """The one of a state directory; it is not made."""
        root = home.root.resolve()
        return cls(root.with_name(f".{root.name.lstrip('.')}.rehearsal"))

    @contextmanager
    def made(self) -> Iterator[None]:
        """Make it for the block, without what a killed rehearsal has left. Error: OSError."""
        self.clear()
        private_folder(self.folder)
        try:
            yield
        finally:
            self.clear()

    def clear(self) -> None:
        """Remove it with all that is in it; error: OSError."""
        with suppress(FileNotFoundError):
            for view in sorted((self.folder / "views").iterdir()):
                View(view).remove()
        remove_tree(self.folder)

    def stage(self, home: Home, vault: Path, deadline: float = math.inf) -> Staged:
        """Make the copies until a moment of the monotonic clock; errors: NoSpace, TooSlow, DamagedDatabase, OSError."""
        try:
            return _Staging(self.folder, home.root.resolve(), vault.resolve(), deadline).run()
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NoSpace(
                    "The disk became full while the copies were made.", "Make room, and try again."
                ) from error
            raise


class _Staging:
    def __init__(self, folder: Path, root: Path, vault: Path, deadline: float) -> None:
        self._folder = folder
        self._root = root
        self._vault = vault
        self._deadline = deadline
        self._views_fail = views.unavailable(folder / "tried")
        left_out = [*SECRETS, *_PASSING, *_NOT_OF_A_REHEARSAL]
        if not self._views_fail:
            left_out += _VIEWED
        if vault.is_relative_to(root):
            left_out.append(str(vault.relative_to(root)))
        self._state = Part("state", root, tuple(left_out), ("**/*.db",))
        self._data = Part("vault", vault, ("**/*.unfinished", f"{_VAULT_STATE}/copies"), (f"{_VAULT_STATE}/**/*.db",))
        self._staged = Staged()

    def run(self) -> Staged:
        state = measure(self._root, self._state.is_left_out, self._state.is_database)
        vault = self._vault_measured()
        self._check_space(state, vault)
        copy = private_folder(self._folder / "state")
        copy_folder(self._root, copy, self._without(self._state))
        for path in state.found:
            copy_database(self._root / path, copy / path)
        self._staged.binds.append((str(copy), str(self._root)))
        if self._views_fail:
            data = private_folder(self._folder / "vault")
            copy_folder(self._vault, data, self._without(self._data))
            self._staged.binds.append((str(data), str(self._vault)))
        else:
            self._view(self._vault)
            for name in _VIEWED:
                if (self._root / name).is_dir():
                    (copy / name).mkdir(mode=0o700)
                    self._view(self._root / name)
        for number, path in enumerate(vault.found):
            staged = self._folder / "databases" / f"{number}.db"
            copy_database(self._vault / path, staged)
            if staged.exists():
                self._staged.databases.append((str(staged), str(self._vault / path)))
        return self._staged

    def _without(self, part: Part) -> Callable[[str], bool]:
        def is_left_out(path: str) -> bool:
            if time.monotonic() > self._deadline:
                raise TooSlow(
                    "The copies were not made in time.",
                    "This disk may be too busy; try again later.",
                )
            return part.is_left_out(path) or part.is_database(path)

        return is_left_out

    def _view(self, folder: Path) -> None:
        view = View(self._folder / "views" / str(len(self._staged.views))).make()
        shutil.copymode(folder, view.upper)
        self._staged.views.append((str(folder), str(view.folder)))

    def _vault_measured(self) -> Measured:
        if self._views_fail:
            return measure(self._vault, self._data.is_left_out, self._data.is_database)
        inner = Part("", self._vault / _VAULT_STATE, ("copies", "**/*.unfinished"), ("**/*.db",))
        if not inner.root.is_dir():
            return Measured()
        found = measure(inner.root, inner.is_left_out, inner.is_database)
        return Measured(0, found.databases, [f"{_VAULT_STATE}/{path}" for path in found.found])

    def _check_space(self, state: Measured, vault: Measured) -> None:
        # Twice: the new version copies each database before it migrates it.
        needed = 2 * (state.databases + vault.databases) + _SPARE
        for found in (state, vault):
            if found.sample and not shares_blocks(found.sample, self._folder):
                needed += found.files
        status = os.statvfs(self._folder)
        free = status.f_bavail * status.f_frsize
        if needed > free:
            why = f" {self._views_fail}" if self._views_fail else ""
            raise NoSpace(
                f"The copies need {_size(needed)} next to {self._root}, and {_size(free)} are free: "
                f"{_size(needed - free)} are missing.{why}",
                "Make room on that disk: `parachute doctor disk-space` says what takes it.",
            )


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
