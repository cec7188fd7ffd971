"""Files of a project that programs of the user run later, outside of every box: an agent may read them, never write them.

A mount inside of a writable folder can be got around by renaming what is above it. So each folder between is a mount point of
its own, and where such a file is missing an empty one holds its place: otherwise the agent could make it.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from parachute.errors import InvalidInput
from parachute.files import read_regular
from parachute.sandbox.git_configuration import hooks_and_includes
from parachute.sandbox.models import Mount, Specification
from parachute.sandbox.run_later import FILES, FOLDERS, look_below, present_only

# git reads configuration and hooks from wherever `commondir` says, and dies of an empty one: this says where it is anyway.
_COMMON = "commondir"
_IN_GIT_FILES = {_COMMON: b".\n", "config": b"", "config.worktree": b""}
# Submodules have configurations of their own in `modules`, and linked work trees in `worktrees`.
_IN_GIT_FOLDERS = ("hooks", "modules")
_IN_GIT_PRESENT_ONLY = ("worktrees",)
_NOT_INCLUDED = b"# This file holds a place: what is included by a configuration of git must not be made by an agent.\n"
_OF_THE_USER = (".gitconfig", ".config/git/config")
_CONFIGURATION_LIMIT = 256 * 1024
_MOST_CONFIGURATIONS = 50
_PATH_LIMIT = 4096
_POINTER = "gitdir: "
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def protected(specification: Specification) -> Specification:
    """The same with the mounts that protect each writable folder; what holds the place of missing files is made.

    Error: InvalidInput where something that has to be protected is a link or no file, since nothing could hold it.
    """
    mounts: list[Mount] = []
    for mount in specification.mounts:
        mounts.append(mount)
        if mount.writable and not mount.is_file:
            try:
                mounts += _protections(mount)
            except OSError as error:
                raise InvalidInput(
                    f"{mount.source} cannot be given to an agent for writing: {error.strerror}."
                ) from error
    return replace(specification, mounts=tuple(mounts))


def remove_placeholders(folder: Path) -> None:
    """Remove what only held the place of missing files; no agent may have the folder for writing any more."""
    with suppress(OSError, InvalidInput), _opened(folder) as root:
        for name in FOLDERS:
            with suppress(OSError):  # it is not there, or not empty
                os.rmdir(name, dir_fd=root)
        for name, content in FILES.items():
            if _content(root, name, len(content) + 1) == content:
                os.unlink(name, dir_fd=root)
        with suppress(InvalidInput):
            for name, is_folder in _obeyed(folder, root):
                _remove_obeyed(root, name, is_folder)
        with suppress(OSError), _opened(".git", root) as git:
            for name in _IN_GIT_FOLDERS:
                with suppress(OSError):
                    os.rmdir(name, dir_fd=git)
            for name, content in _IN_GIT_FILES.items():
                if _content(git, name, len(content) + 1) == content:
                    os.unlink(name, dir_fd=git)
        with suppress(OSError):
            os.rmdir(".git", dir_fd=root)


def _protections(mount: Mount) -> Iterator[Mount]:
    with _opened(Path(mount.source)) as root:
        found: dict[str, Mount] = {}
        for name in FOLDERS:
            _place_folder(root, name)
            found[name] = _below(mount, name)
        for name, content in FILES.items():
            _place_file(root, name, content)
            found[name] = _below(mount, name, is_file=True)
        for name in present_only(os.listdir(root)):  # noqa: PTH208 - of a descriptor
            if (kind := _kind(root, name)) is not None:
                found[name] = _below(mount, name, is_file=kind == stat.S_IFREG)
        if _kind(root, ".git") is None:
            # Without it the agent could make a repository whose configuration the user's git obeys.
            _place_folder(root, ".git")
            found[".git"] = _below(mount, ".git")
        elif _kind(root, ".git") == stat.S_IFREG:
            found[".git"] = _below(mount, ".git", is_file=True)
        else:
            found |= _git(mount, root)
        for name, is_folder in _obeyed(Path(mount.source), root):
            _protect(mount, root, name, is_folder, found)
        for name, is_file in look_below(Path(mount.source), _read_only(found)):
            _protect(mount, root, name, not is_file, found)
    yield from found.values()


def _read_only(found: dict[str, Mount]) -> frozenset[str]:
    return frozenset(name for name, each in found.items() if not each.writable)


def check_repositories(project: Path) -> None:
    """See that no other repository lies in a folder that is chosen as a project, as its box will; errors: InvalidInput, OSError."""
    with _opened(project) as root:
        look_below(project, frozenset(name for name, is_folder in _obeyed(project, root) if is_folder))


def _git(mount: Mount, root: int) -> dict[str, Mount]:
    with _opened(".git", root) as git:
        if not os.listdir(git):  # noqa: PTH208 - of a descriptor
            # It held the place in another box that runs, and shall do so here.
            return {".git": _below(mount, ".git")}
        found = {".git": _below(mount, ".git", writable=True)}
        for name, content in _IN_GIT_FILES.items():
            _place_file(git, name, content)
            found[f".git/{name}"] = _below(mount, f".git/{name}", is_file=True)
        if (_content(git, _COMMON, _PATH_LIMIT) or b"").rstrip(b"\n") != b".":
            raise InvalidInput(
                f"{mount.source}/.git/{_COMMON} leads git to hooks and a configuration that lie somewhere else, so that this "
                "project cannot be given to an agent.",
                "Look at it; in a repository of its own there is no such file, and it can be removed.",
            )
        for name in _IN_GIT_FOLDERS:
            _place_folder(git, name)
            found[f".git/{name}"] = _below(mount, f".git/{name}")
        for name in _IN_GIT_PRESENT_ONLY:
            if _kind(git, name) is not None:
                found[f".git/{name}"] = _below(mount, f".git/{name}")
        return found


def _obeyed(project: Path, root: int) -> list[tuple[str, bool]]:
    """What the configuration of git has it obey inside of the project, each with whether it is a folder (of hooks).

    Error: InvalidInput where it leads to the project itself, since then nothing in it could be written.
    """
    found: dict[str, bool] = {}
    # It may be a part of a repository, whose hooks may lie in it.
    repositories = [folder for folder in (project, *project.parents) if (folder / ".git").exists()]
    waiting = [(folder, path) for folder in repositories[:_MOST_CONFIGURATIONS] for path in _configurations(folder)]
    for _, path in waiting:
        # A repository may lie under another name, to which `.git` only points.
        if (name := _inside(project, str(Path(path).parent))) not in (None, ".git"):
            found[str(name)] = True
    waiting += [(folder, f"{Path.home()}/{name}") for folder in repositories or [project] for name in _OF_THE_USER]
    seen: list[str] = []
    for repository, configuration in waiting:  # grows while we walk
        if len(seen) == _MOST_CONFIGURATIONS:
            raise InvalidInput(f"The configurations of git for {project} include too many others.")
        seen.append(configuration)
        inside = _inside(project, configuration)
        hooks, includes = hooks_and_includes(_text(configuration) if inside is None else _text_inside(root, inside))
        paths = [(str(repository / _expanded(path)), True) for path in hooks if path]
        paths += [(str(Path(configuration).parent / _expanded(path)), False) for path in includes if path]
        for path, is_folder in paths:
            name = _inside(project, path)
            if name == ".":
                raise InvalidInput(
                    f"The configuration of git names {project} itself as a folder of hooks, so that nothing in it could be "
                    "written by an agent.",
                    "Name a folder in it: git config core.hooksPath NAME",
                )
            if name is not None:
                found[name] = found.get(name, False) or is_folder
            if not is_folder and path not in seen:
                waiting.append((repository, path))
    return list(found.items())


def _configurations(repository: Path) -> list[str]:
    """Where a repository's own lie: somewhere else for a linked work tree, and for a submodule."""
    folder = common = f"{repository}/.git"
    if (pointer := _text(folder)).startswith(_POINTER):
        folder = os.path.normpath(repository / pointer.removeprefix(_POINTER).strip())
        common = os.path.normpath(f"{folder}/{_text(f'{folder}/{_COMMON}').strip() or '.'}")
    return [f"{common}/config", f"{folder}/config.worktree"]


def _text(path: str) -> str:
    """The text of a file that no agent writes; empty without one."""
    with suppress(OSError, InvalidInput):
        return os.fsdecode(read_regular(Path(os.path.realpath(path)), _CONFIGURATION_LIMIT))
    return ""


def _text_inside(root: int, name: str) -> str:
    """The same of a file in the project, reached without a link."""
    folder, _, last = name.rpartition("/")
    with suppress(OSError, InvalidInput), _opened(folder or ".", root) as above:
        return os.fsdecode(_content(above, last, _CONFIGURATION_LIMIT) or b"")
    return ""


def _expanded(path: str) -> str:
    return str(Path.home() / path[2:]) if path.startswith("~/") else path


def _inside(project: Path, path: str) -> str | None:
    """A path as one relative to the project, also where a link outside of it leads there; None for another place."""
    for candidate in (os.path.normpath(path), os.path.realpath(path)):
        if Path(candidate).is_relative_to(project):
            return str(Path(candidate).relative_to(project))
    return None


def _protect(mount: Mount, root: int, name: str, is_folder: bool, found: dict[str, Mount]) -> None:
    """Protect what git obeys somewhere in the project, and every folder above it."""
    parts = name.split("/")
    for index in range(len(parts)):
        inside = "/".join(parts[: index + 1])
        is_last = index == len(parts) - 1
        known = found.get(inside)
        if known is not None and not known.writable:
            return
        with _opened("/".join(parts[:index]) or ".", root) as above:
            if is_last and not is_folder:
                _place_file(above, parts[index], _NOT_INCLUDED)
            else:
                _place_folder(above, parts[index])
        found[inside] = _below(mount, inside, writable=not is_last, is_file=is_last and not is_folder)


def _remove_obeyed(root: int, name: str, is_folder: bool) -> None:
    with suppress(OSError, InvalidInput):
        if not is_folder:
            folder, _, last = name.rpartition("/")
            with _opened(folder or ".", root) as above:
                if _content(above, last, len(_NOT_INCLUDED) + 1) != _NOT_INCLUDED:
                    return
                os.unlink(last, dir_fd=above)
            name = folder
        while name:
            folder, _, last = name.rpartition("/")
            with _opened(folder or ".", root) as above:
                os.rmdir(last, dir_fd=above)
            name = folder


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
        # Never there without its content, which the user's git may be reading: an empty one breaks it.
        part = f".parachute-{os.urandom(8).hex()}"
        opened = os.open(
            part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=folder
        )
        try:
            with os.fdopen(opened, "wb") as file:
                file.write(content)
            os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(part, dir_fd=folder)
            raise
    elif kind != stat.S_IFREG:
        raise InvalidInput(f"{_named(folder)}/{name} is no file, so that this project cannot be given to an agent.")


def _content(folder: int, name: str, limit: int) -> bytes | None:
    """The beginning of a regular file, None for anything else."""
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    try:
        return os.pread(opened, limit, 0) if stat.S_ISREG(os.fstat(opened).st_mode) else None
    finally:
        os.close(opened)


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
