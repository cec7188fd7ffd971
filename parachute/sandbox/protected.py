"""Files of a project that programs of the user run later, outside of every box: an agent may read them, never write them.

A mount inside of a writable folder can be got around by renaming what is above it. So each folder between is a mount point of
its own, and where such a file is missing an empty one holds its place: otherwise the agent could make it.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from parachute.errors import InvalidInput
from parachute.sandbox.models import Mount, Specification

FOLDERS = (".claude", ".cursor", ".devcontainer", ".idea", ".vscode", ".zed")
"""What editors and agents of the user read as soon as they open a project."""

PRESENT_ONLY = (
    *(
        ".bash_login",
        ".bash_logout",
        ".bash_profile",
        ".bashrc",
        ".profile",
        ".zlogin",
        ".zprofile",
        ".zshenv",
        ".zshrc",
    ),
    *(".envrc", ".exrc", ".githooks", ".husky", ".nvim.lua", ".nvimrc", ".pre-commit-config.yaml", ".vimrc"),
)
"""What runs only where it is there already: in a home, or after the user has named or allowed it."""

SERVERS = ".mcp.json"
_NO_SERVERS = b'{"mcpServers": {}}\n'

_IN_GIT_FILES = ("config", "config.worktree")
_IN_GIT_FOLDERS = ("hooks",)
# Submodules and linked work trees have configurations of their own in there.
_IN_GIT_PRESENT_ONLY = ("modules", "worktrees")
_HOOKS_PATH = re.compile(rb"^\s*hookspath\s*=\s*\"?([^\"\r\n#;]+)", re.IGNORECASE | re.MULTILINE)
_CONFIGURATION_LIMIT = 256 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def protected(specification: Specification) -> Specification:
    """The same with the mounts that protect each writable folder; what holds the place of missing files is made.

    Error: InvalidInput where something that has to be protected is a link or no file, since nothing could hold it.
    """
    mounts: list[Mount] = []
    for mount in specification.mounts:
        mounts.append(mount)
        if mount.writable and not mount.is_file:
            mounts += _protections(mount)
    return replace(specification, mounts=tuple(mounts))


def remove_placeholders(folder: Path) -> None:
    """Remove what only held the place of missing files; no agent may have the folder for writing any more."""
    with suppress(OSError), _opened(folder) as root:
        for name in FOLDERS:
            with suppress(OSError):  # it is not there, or not empty
                os.rmdir(name, dir_fd=root)
        if _content(root, SERVERS, len(_NO_SERVERS) + 1) == _NO_SERVERS:
            os.unlink(SERVERS, dir_fd=root)
        with suppress(OSError), _opened(".git", root) as git:
            for name in _IN_GIT_FOLDERS:
                with suppress(OSError):
                    os.rmdir(name, dir_fd=git)
            for name in _IN_GIT_FILES:
                if _content(git, name, 1) == b"":
                    os.unlink(name, dir_fd=git)
        with suppress(OSError):
            os.rmdir(".git", dir_fd=root)


def _protections(mount: Mount) -> Iterator[Mount]:
    with _opened(Path(mount.source)) as root:
        for name in FOLDERS:
            _place_folder(root, name)
            yield _below(mount, name)
        _place_file(root, SERVERS, _NO_SERVERS)
        yield _below(mount, SERVERS, is_file=True)
        for name in PRESENT_ONLY:
            if (kind := _kind(root, name)) is not None:
                yield _below(mount, name, is_file=kind == stat.S_IFREG)
        if _kind(root, ".git") is None:
            # Without it the agent could make a repository whose configuration the user's git obeys.
            _place_folder(root, ".git")
            yield _below(mount, ".git")
        elif _kind(root, ".git") == stat.S_IFREG:
            yield _below(mount, ".git", is_file=True)
        else:
            yield from _git(mount, root)


def _git(mount: Mount, root: int) -> Iterator[Mount]:
    with _opened(".git", root) as git:
        if not os.listdir(git):  # noqa: PTH208 - of a descriptor
            # It held the place in another box that runs, and shall do so here.
            yield _below(mount, ".git")
            return
        yield _below(mount, ".git", writable=True)
        for name in _IN_GIT_FILES:
            _place_file(git, name, b"")
            yield _below(mount, f".git/{name}", is_file=True)
        for name in _IN_GIT_FOLDERS:
            _place_folder(git, name)
            yield _below(mount, f".git/{name}")
        for name in _IN_GIT_PRESENT_ONLY:
            if _kind(git, name) is not None:
                yield _below(mount, f".git/{name}")
        configuration = _content(git, "config", _CONFIGURATION_LIMIT) or b""
    for match in _HOOKS_PATH.finditer(configuration):
        yield from _hooks(mount, root, os.fsdecode(match[1].strip()))


def _hooks(mount: Mount, root: int, path: str) -> Iterator[Mount]:
    """A folder of hooks inside the project that git was told of, and every folder above it."""
    parts = [part for part in path.removeprefix(mount.source).split("/") if part not in ("", ".")]
    if ".." in parts or (path.startswith("/") and not path.startswith(f"{mount.source}/")):
        return  # it lies outside, where the agent does not write
    done = {*FOLDERS, *PRESENT_ONLY, ".git"}
    for index in range(len(parts)):
        inside = "/".join(parts[: index + 1])
        if parts[0] in done:
            return
        last = index == len(parts) - 1
        if _kind(root, inside) is None:
            return
        yield _below(mount, inside, writable=not last)


def _below(mount: Mount, name: str, *, writable: bool = False, is_file: bool = False) -> Mount:
    return Mount(f"{mount.source}/{name}", f"{mount.target}/{name}", writable, is_file, required=True)


def _kind(folder: int, name: str) -> int | None:
    """What lies there, None for nothing; error: InvalidInput for a link and anything else that is neither file nor folder."""
    try:
        kind = stat.S_IFMT(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None
    if kind not in (stat.S_IFREG, stat.S_IFDIR):
        raise InvalidInput(
            f"{_named(folder)}/{name} is a link or no file. Programs run what it leads to, and in an agent's reach it could "
            "be replaced, so that this folder cannot be given to an agent for writing.",
            "Put the file itself in its place.",
        )
    return kind


def _place_folder(folder: int, name: str) -> None:
    if (kind := _kind(folder, name)) is None:
        os.mkdir(name, 0o755, dir_fd=folder)
    elif kind != stat.S_IFDIR:
        raise InvalidInput(f"{_named(folder)}/{name} is no folder, so that this project cannot be given to an agent.")


def _place_file(folder: int, name: str, content: bytes) -> None:
    if (kind := _kind(folder, name)) is None:
        opened = os.open(
            name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=folder
        )
        with os.fdopen(opened, "wb") as file:
            file.write(content)
    elif kind != stat.S_IFREG:
        raise InvalidInput(f"{_named(folder)}/{name} is no file, so that this project cannot be given to an agent.")


def _content(folder: int, name: str, limit: int) -> bytes | None:
    """The beginning of a regular file, None for anything else."""
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(opened, "rb") as file:
        return file.read(limit) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None


def _named(folder: int) -> str:
    try:
        return str(Path(f"/proc/self/fd/{folder}").readlink())
    except OSError:  # no /proc
        return "."


@contextmanager
def _opened(path: Path | str, above: int | None = None) -> Iterator[int]:
    """A folder, reached without following a link; error: OSError."""
    descriptor = os.open("/", _FOLDER) if above is None else os.dup(above)
    try:
        for name in str(path).strip("/").split("/"):
            try:
                below = os.open(name, _FOLDER, dir_fd=descriptor)
            except OSError as error:
                if error.errno == errno.ELOOP:
                    raise InvalidInput(f"{path} is reached through a link.") from error
                raise
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)
