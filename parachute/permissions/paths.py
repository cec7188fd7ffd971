"""Paths as the kernel sees them, and the places that no agent reads or writes."""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from parachute.errors import NotAllowed
from parachute.permissions.names import is_secret

# Linux' PATH_MAX.
PATH_LIMIT = 4096
# Linux' NAME_MAX in bytes; Unicode needs at most four for a letter.
NAME_LIMIT = 255

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class UnsafePath(NotAllowed):
    """The path cannot be judged, so it is not used."""

    key = "unsafe_path"


def has_control_characters(text: str) -> bool:
    """Return whether the text holds NUL, another control character or half a surrogate pair."""
    return _CONTROL.search(text) is not None


def check_text(path: str) -> None:
    """Raise `UnsafePath` for a path that is empty, too long or holds control characters."""
    if not path:
        raise UnsafePath("The path is empty.", "Name a file or a folder.")
    if len(path) > PATH_LIMIT:
        raise UnsafePath(f"The path is longer than {PATH_LIMIT} characters.", "Use a shorter path.")
    if has_control_characters(path):
        raise UnsafePath("The path contains control characters.", "Use a path of visible characters.")


def joined(folder: str | Path, path: str | Path) -> str:
    """Return the path below the folder, or the path itself when it is absolute, with every letter kept as it was."""
    text = os.fspath(path)
    if text.startswith("//"):
        return "/" + text.lstrip("/")
    return text if text.startswith("/") else f"{os.fspath(folder).rstrip('/')}/{text}"


def resolve(path: str | Path) -> Path:
    """Return the absolute real path, also for one that does not exist yet; `UnsafePath` when links form a loop.

    What does not exist is kept as it is written below the deepest existing folder; links that point nowhere are followed.
    """
    return Path(real_path(os.fspath(path)))


def real_path(text: str) -> str:
    """Return what `resolve` returns as a text, which is several times quicker."""
    check_text(text)
    real = os.path.realpath(text)
    # realpath() answers a loop with the path up to the loop, unresolved; only a look-up tells.
    for candidate in (text, real):
        try:
            os.stat(candidate)  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        except (OSError, ValueError):
            raise UnsafePath(f"The path {text!r} cannot be resolved.", "Its links may form a loop.") from None
        break
    return "/" + real.lstrip("/")


def below(path: str, root: str) -> bool:
    """Return whether a real path is the root or below it, by whole parts."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def inside(path: str | Path, root: str | Path) -> bool:
    """Return whether the real path is the root or below it; a relative path starts at the root."""
    try:
        return resolve(joined(root, path)).is_relative_to(resolve(root))
    except UnsafePath:
        return False


def is_block_device(path: str | Path) -> bool:
    """Return whether the path leads to an existing block device."""
    try:
        return stat.S_ISBLK(Path(path).stat().st_mode)
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
    protected: frozenset[str] = field(init=False, repr=False)
    trusted: tuple[str, ...] = field(init=False, repr=False)
    mapped: tuple[tuple[str, str], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own = {str(self.vault), str(self.home), str(self.user_home)}
        object.__setattr__(self, "protected", frozenset(own | {real_path(place) for place in own}))
        object.__setattr__(self, "trusted", (real_path(str(self.home)), real_path(f"{self.vault}/.parachute")))
        mapped = [(os.path.normpath(box), real_path(str(host))) for box, host in (self.mapped_roots or {}).items()]
        object.__setattr__(self, "mapped", tuple(sorted(mapped, key=lambda pair: -len(pair[0]))))

    def host(self, path: str) -> tuple[str, str | None] | None:
        """Return the path on this machine and the mounted folder it lies in; None when it exists only in the sandbox."""
        if self.mapped_roots is None:
            return path, None
        for box, host in self.mapped:
            if below(path, box):
                return f"{host}/{path[len(box) :].lstrip('/')}", host
        return None

    def refusal(self, path: str, folder: str | Path) -> str | None:
        """Return why no one may use this path, or None; a relative path starts at the folder."""
        try:
            check_text(path)
            for candidate in _readings(joined(folder, path)):
                reason = self._refusal_of(candidate)
                if reason:
                    return reason
        except UnsafePath as error:
            return str(error)
        return None

    def _refusal_of(self, path: str) -> str | None:
        for part in path.split("/"):
            if part and is_secret(part):
                return f"{part!r} may hold secrets and is never opened for an agent."
        place = self.host(path)
        if place is None:
            return None
        host, mount = place
        real = real_path(host)
        # What a mount's own folder is called here says nothing about the files in it.
        shown = real[len(mount) :] if mount is not None and below(real, mount) else real
        for part in shown.split("/") if real != path else ():
            if part and is_secret(part):
                return f"{path!r} leads to {part!r}, which may hold secrets and is never opened for an agent."
        for trusted in self.trusted:
            if below(real, trusted) and not (mount is not None and below(mount, trusted)):
                return f"{path!r} leads into Parachute's own folder, which is never opened for an agent."
        if real.startswith("/proc/") and real.endswith(("/environ", "/mem")):
            return f"{path!r} shows the memory or environment of a program, which may hold secrets."
        return None

    def real_paths(self, path: str) -> Iterator[str]:
        """Yield the absolute path as written, without `..`, and as it really is on this machine where it exists there."""
        yield os.path.normpath(path)
        for candidate in _readings(path):
            place = self.host(candidate)
            if place is not None:
                yield real_path(place[0])

    def is_protected(self, path: str) -> bool:
        """Return whether the path is the vault, the home, the trust folder, or a folder that contains one of them."""
        return any(any(below(own, real) for own in self.protected) for real in self.real_paths(path))


def _readings(path: str) -> tuple[str, ...]:
    """Return the path, and where it goes up, also without its `..`: the kernel follows links before it goes up."""
    return (path, os.path.normpath(path)) if ".." in path else (path,)
