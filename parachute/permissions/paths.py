"""Paths as the kernel sees them, and the places that no agent reads or writes."""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from parachute.errors import NotAllowed
from parachute.permissions.names import is_secret

# Linux' PATH_MAX.
PATH_LIMIT = 4096


class UnsafePath(NotAllowed):
    """The path cannot be judged, so it is not used."""

    key = "unsafe_path"


def has_control_characters(text: str) -> bool:
    """Return whether the text holds NUL, another control character or half a surrogate pair."""
    return any(ord(letter) < 32 or 127 <= ord(letter) < 160 or 0xD800 <= ord(letter) < 0xE000 for letter in text)


def check_text(path: str) -> None:
    """Raise `UnsafePath` for a path that is empty, too long or holds control characters."""
    if not path:
        raise UnsafePath("The path is empty.", "Name a file or a folder.")
    if len(path) > PATH_LIMIT:
        raise UnsafePath(f"The path is longer than {PATH_LIMIT} characters.", "Use a shorter path.")
    if has_control_characters(path):
        raise UnsafePath("The path contains control characters.", "Use a path of visible characters.")


def resolve(path: str | Path) -> Path:
    """Return the absolute real path, also for one that does not exist yet; `UnsafePath` when links form a loop.

    What does not exist is kept as it is written below the deepest existing folder; links that point nowhere are followed.
    """
    text = os.fspath(path)
    check_text(text)
    real = os.path.realpath(text)
    # realpath() answers a loop with the path up to the loop, unresolved; only a look-up tells.
    for candidate in (text, real):
        try:
            os.stat(candidate)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        except (OSError, ValueError):
            raise UnsafePath(f"The path {text!r} cannot be resolved.", "Its links may form a loop.") from None
    return Path(real)


def inside(path: str | Path, root: str | Path) -> bool:
    """Return whether the real path is the root or below it; a relative path starts at the root."""
    try:
        return resolve(os.path.join(root, path)).is_relative_to(resolve(root))
    except UnsafePath:
        return False


def is_block_device(path: str | Path) -> bool:
    """Return whether the path leads to an existing block device."""
    try:
        return stat.S_ISBLK(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class Places:
    """Where the vault, the trust folder and the person's home are, and what a sandbox mounts.

    `mapped_roots` is None for a session on this machine itself. In a sandbox it maps folders inside to folders here;
    a path outside of them exists only in the sandbox and is judged by its letters alone.
    """

    vault: Path
    home: Path
    user_home: Path
    mapped_roots: Mapping[str, Path] | None = None
    protected: frozenset[Path] = field(init=False, repr=False)
    trusted: tuple[Path, ...] = field(init=False, repr=False)
    mapped: tuple[tuple[str, Path], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own = {self.vault, self.home, self.user_home}
        object.__setattr__(self, "protected", frozenset(own | {resolve(place) for place in own}))
        object.__setattr__(self, "trusted", (resolve(self.home), resolve(self.vault / ".parachute")))
        mapped = [(os.path.normpath(box), resolve(host)) for box, host in (self.mapped_roots or {}).items()]
        object.__setattr__(self, "mapped", tuple(sorted(mapped, key=lambda pair: -len(pair[0]))))

    def host(self, path: str) -> tuple[Path, Path | None] | None:
        """Return the path on this machine and the mounted folder it lies in; None when it exists only in the sandbox."""
        if self.mapped_roots is None:
            return Path(path), None
        for box, host in self.mapped:
            if path == box or path.startswith(box.rstrip("/") + "/"):
                return host / path[len(box) :].lstrip("/"), host
        return None

    def refusal(self, path: str, folder: str | Path) -> str | None:
        """Return why no one may use this path, or None; a relative path starts at the folder."""
        try:
            check_text(path)
            joined = os.path.join(folder, path)
            for candidate in dict.fromkeys((joined, os.path.normpath(joined))):
                reason = self._refusal_of(candidate)
                if reason:
                    return reason
        except UnsafePath as error:
            return str(error)
        return None

    def _refusal_of(self, path: str) -> str | None:
        for part in path.split("/"):
            if is_secret(part):
                return f"{part!r} may hold secrets and is never opened for an agent."
        place = self.host(path)
        if place is None:
            return None
        host, mount = place
        real = resolve(host)
        # What a mount's own folder is called here says nothing about the files in it.
        shown = real.relative_to(mount) if mount is not None and real.is_relative_to(mount) else real
        for part in shown.parts:
            if is_secret(part):
                return f"{path!r} leads to {part!r}, which may hold secrets and is never opened for an agent."
        for trusted in self.trusted:
            if real.is_relative_to(trusted) and not (mount is not None and mount.is_relative_to(trusted)):
                return f"{path!r} leads into Parachute's own folder, which is never opened for an agent."
        if real.parts[:2] == ("/", "proc") and real.name in {"environ", "mem"}:
            return f"{path!r} shows the memory or environment of a program, which may hold secrets."
        return None

    def real_paths(self, path: str) -> Iterator[str]:
        """Yield the absolute path as written, without `..`, and as it really is on this machine where it exists there."""
        yield os.path.normpath(path)
        for candidate in dict.fromkeys((path, os.path.normpath(path))):
            place = self.host(candidate)
            if place is not None:
                yield str(resolve(place[0]))

    def is_protected(self, path: str) -> bool:
        """Return whether the path is the vault, the home, the trust folder, or a folder that contains one of them."""
        return any(any(own.is_relative_to(real) for own in self.protected) for real in self.real_paths(path))
