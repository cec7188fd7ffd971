"""Staging: copy-on-write views, or copies where there are none, with copies of the databases, in a scratch folder next to the state directory."""

import errno
import os
import shutil
import sqlite3
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from parachute.base.database import copy_live
from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.files import kind_of, private_folder, remove_tree, walk_tree
from parachute.config.settings.home import Home
from parachute.sandbox.engines.views import View

_SECRETS = (
    "credentials.json",
    "bot-tokens.json",
    "push.json",
    "push.pem",
    "git-tokens.json",
    "mcp-secrets.json",
    "mcp-logins.json",
    "mcp-clients.json",
    "backup",
)
"""Files of the state directory that no rehearsal has: with them a program could act for the owner elsewhere."""

_NOT_OF_A_REHEARSAL = ("hooks", "hooks.yaml", "panic.json", "updates")
"""Hooks are the owner's programs, which would do their work twice; a stopped computer would not start; an update would be taken up."""

_PASSING = ("run", "logs", "sandboxes", "caches", "views", "runtime-plugins", "meaning", "documents", "copies")
_LARGE = ("changes", "modules")
"""Folders of the state directory that hold no database."""

_VAULT_STATE = ".parachute"
_SIDECARS = ("-wal", "-shm", "-journal")
_SPARE = 256 << 20
"""Bytes that the new version writes, and that have to stay free for the running one."""


def remove_private(state: Path) -> None:
    """Remove from a state directory that is a copy what no rehearsal may have: secrets and the owner's programs. Error: OSError."""
    for name in (*_SECRETS, *_NOT_OF_A_REHEARSAL):
        remove_tree(state / name)


class NoSpace(Unavailable):
    """The copies do not fit on the disk."""

    key = "disk_full"


class DamagedDatabase(ParachuteError):
    """A database that SQLite cannot read; it is the running version's."""

    key = "database_damaged"


class Scratch(Struct, frozen=True):
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

    def stage(self, home: Home, vault: Path, *, copied: bool = False) -> list[tuple[str, str]]:
        """Make views of the state directory and the vault, each after its folder, or with `copied` copies, each before it.

        Errors: NoSpace, DamagedDatabase, OSError.
        """
        root, vault = home.root.resolve(), vault.resolve()
        # Names with a dot are of locks, and of files that are being written: secrets, too.
        hidden = {*_SECRETS, *_NOT_OF_A_REHEARSAL, *_PASSING, *(path.name for path in root.glob(".*"))}
        state = _databases(root, "", (*hidden, *_LARGE))
        data = _databases(vault, f"{_VAULT_STATE}/", ("copies",))
        make = self._copy if copied else self._view
        try:
            files = [*(root / path for path in state), *(vault / path for path in data)]
            self._check_space(files, (_taken(root, hidden) + _taken(vault)) if copied else 0)
            return [make("state", root, state, hidden), make("vault", vault, data)]
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NoSpace(
                    "The disk became full while the copies were made.", "Make room, and try again."
                ) from error
            raise

    def _view(
        self, name: str, folder: Path, databases: Collection[str], hidden: Collection[str] = ()
    ) -> tuple[str, str]:
        view = View(self.folder / "views" / name).make()
        shutil.copymode(folder, view.upper)
        for each in hidden:
            _hide(view.upper / each)
        for path in databases:
            _copy(folder / path, view.upper / path)
            for sidecar in _SIDECARS:
                _hide((view.upper / path).with_name(f"{Path(path).name}{sidecar}"))
        return str(folder), str(view.folder)

    def _copy(
        self, name: str, folder: Path, databases: Collection[str], hidden: Collection[str] = ()
    ) -> tuple[str, str]:
        copy = self.folder / name
        apart = {f"{path}{sidecar}" for path in databases for sidecar in ("", *_SIDECARS)}

        def left_out(path: str, names: list[str]) -> list[str]:
            below = Path(path).relative_to(folder)
            return [each for each in names if str(below / each) in {*hidden, *apart} or not _is_kept(Path(path, each))]

        shutil.copytree(folder, copy, symlinks=True, ignore=left_out, copy_function=_copy_file)
        for path in databases:
            _copy(folder / path, copy / path)
        return str(copy), str(folder)

    def _check_space(self, databases: Collection[Path], others: int) -> None:
        taken = others // 2
        for path in databases:
            for each in (path, path.with_name(f"{path.name}-wal")):
                with suppress(FileNotFoundError):
                    taken += each.stat().st_size
        # Twice: the new version copies each database before it migrates it.
        needed, status = 2 * taken + _SPARE, os.statvfs(self.folder)
        free = status.f_bavail * status.f_frsize
        if needed > free:
            raise NoSpace(
                f"The copies need {_size(needed)} next to the state directory, and {_size(free)} are free: "
                f"{_size(needed - free)} are missing.",
                "Make room on that disk: `parachute doctor disk-space` says what takes it.",
            )


def _databases(root: Path, prefix: str, left_out: Collection[str]) -> list[str]:
    """Find the databases below `prefix` in a folder, as paths in that folder."""
    found = walk_tree(root / prefix, leave_out=lambda path: path in left_out) if (root / prefix).is_dir() else ()
    return [f"{prefix}{path}" for path, status in found if path.endswith(".db") and kind_of(status) == "file"]


def _hide(path: Path) -> None:
    """Let nothing be seen in a view below this path: the mark of an overlay for what was removed. Error: OSError."""
    os.mknod(path, stat.S_IFCHR)


def _copy(source: Path, target: Path) -> None:
    """Copy a database as one that is whole; errors: DamagedDatabase, OSError. One that has gone is left out."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        copy_live(source, target)
        target.chmod(stat.S_IMODE(source.lstat().st_mode))
    except FileNotFoundError:
        target.unlink(missing_ok=True)
    except sqlite3.DatabaseError as error:
        if "full" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target)) from error
        if not source.exists():
            return
        raise DamagedDatabase(
            f"The database {source} cannot be read: {error}.",
            "`parachute doctor databases` says more; fix this before the update.",
        ) from error


def _copy_file(source: str, target: str) -> None:
    """Copy a file with its mode; one that has gone meanwhile is left out. Error: OSError."""
    with suppress(FileNotFoundError):
        shutil.copy2(source, target, follow_symlinks=False)


def _is_kept(path: Path) -> bool:
    """Return True for what a copy can have; sockets and pipes are of programs that run."""
    with suppress(OSError):
        return kind_of(path.lstat()) is not None
    return False


def _taken(folder: Path, hidden: Collection[str] = ()) -> int:
    """The bytes of the files in a folder; error: OSError."""
    return sum(status.st_size for _, status in walk_tree(folder, leave_out=lambda path: path in hidden))


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
