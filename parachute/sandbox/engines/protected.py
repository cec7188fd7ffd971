"""Files of a project that programs of the user run later, outside of every sandbox: an agent may read them, never write them.

A mount inside of a writable folder can be got around by renaming what is above it. So each folder between is a mount point of
its own, and where such a file is missing an empty one holds its place: otherwise the agent could make it.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from parachute.base.errors import InvalidInput
from parachute.base.files import read_regular
from parachute.base.folders import Folder
from parachute.base.steering.judging import present_only
from parachute.base.steering.names import FILES, FOLDERS
from parachute.sandbox.engines.git_configuration import hooks_and_includes
from parachute.sandbox.engines.models import Mount, Specification
from parachute.sandbox.engines.run_later import find_below

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


def protected(specification: Specification) -> Specification:
    """The same with the mounts that protect each writable folder; what holds the place of missing files is made.

    Error: InvalidInput where something that has to be protected is a link or no file, since nothing could hold it.
    """
    mounts: list[Mount] = []
    for mount in specification.mounts:
        mounts.append(mount)
        if mount.is_live:
            try:
                mounts += _protections(mount)
            except OSError as error:
                raise InvalidInput(
                    f"{mount.source} cannot be given to an agent for writing: {error.strerror}.", key="folder_not_given"
                ) from error
    return replace(specification, mounts=tuple(mounts))


def remove_placeholders(folder: Path) -> None:
    """Remove what only held the place of missing files; no agent may have the folder for writing any more."""
    with suppress(OSError, InvalidInput), Folder.open_unlinked(folder) as root:
        for name in FOLDERS:
            with suppress(OSError):  # it is not there, or not empty
                root.remove_folder(name)
        for name, content in FILES.items():
            _remove_file(root, name, content)
        with suppress(InvalidInput):
            for name, is_folder in obeyed_by_git(folder, root):
                _remove_obeyed_by_git(root, name, is_folder)
        with suppress(OSError), root.folder(".git") as git:
            for name in _IN_GIT_FOLDERS:
                with suppress(OSError):
                    git.remove_folder(name)
            for name, content in _IN_GIT_FILES.items():
                _remove_file(git, name, content)
        with suppress(OSError):
            root.remove_folder(".git")


def _protections(mount: Mount) -> Iterator[Mount]:
    with Folder.open_unlinked(Path(mount.source)) as root:
        found: dict[str, Mount] = {}
        for name in FOLDERS:
            _place_folder(root, name)
            found[name] = _below(mount, name)
        for name, content in FILES.items():
            _place_file(root, name, content)
            found[name] = _below(mount, name, is_file=True)
        for name in present_only([entry.name for entry in root.entries()]):
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
        for name, is_folder in obeyed_by_git(Path(mount.source), root):
            _protect(mount, root, name, is_folder, found)
        read_only = frozenset(name for name, each in found.items() if not each.writable)
        for name, is_file in find_below(Path(mount.source), read_only):
            _protect(mount, root, name, not is_file, found)
    yield from found.values()


def check_repositories(project: Path) -> None:
    """See that no other repository lies in a folder that is chosen as a project, as its sandbox will; errors: InvalidInput, OSError."""
    with Folder.open_unlinked(project) as root:
        find_below(project, frozenset(name for name, is_folder in obeyed_by_git(project, root) if is_folder))


def _git(mount: Mount, root: Folder) -> dict[str, Mount]:
    with root.folder(".git") as git:
        if next(git.entries(), None) is None:
            # It held the place in another sandbox that runs, and shall do so here.
            return {".git": _below(mount, ".git")}
        found = {".git": _below(mount, ".git", writable=True)}
        for name, content in _IN_GIT_FILES.items():
            _place_file(git, name, content)
            found[f".git/{name}"] = _below(mount, f".git/{name}", is_file=True)
        if (_content(git, _COMMON, _PATH_LIMIT) or b"").rstrip(b"\n") != b".":
            raise InvalidInput(
                f"{mount.source}/.git/{_COMMON} leads git to hooks and a configuration that lie somewhere else, so that this "
                "project cannot be given to an agent.",
                "Check the file; an independent repository does not have it, and you can remove it.",
                key="git_elsewhere",
            )
        for name in _IN_GIT_FOLDERS:
            _place_folder(git, name)
            found[f".git/{name}"] = _below(mount, f".git/{name}")
        for name in _IN_GIT_PRESENT_ONLY:
            if _kind(git, name) is not None:
                found[f".git/{name}"] = _below(mount, f".git/{name}")
        return found


def obeyed_by_git(project: Path, root: Folder) -> list[tuple[str, bool]]:
    """Return the paths inside of a project that the configuration of git obeys, each with True for a folder (of hooks).

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
            raise InvalidInput(
                f"The configurations of git for {project} include too many others.", key="too_many_includes"
            )
        seen.append(configuration)
        inside = _inside(project, configuration)
        # In the project an agent may have put a link there.
        text = (
            os.fsdecode(_content(root, inside, _CONFIGURATION_LIMIT) or b"")
            if inside is not None
            else _text(configuration)
        )
        hooks, includes = hooks_and_includes(text)
        paths = [(str(repository / _expanded(path)), True) for path in hooks if path]
        paths += [(str(Path(configuration).parent / _expanded(path)), False) for path in includes if path]
        for path, is_folder in paths:
            name = _inside(project, path)
            if name == ".":
                raise InvalidInput(
                    f"The configuration of git names {project} itself as a folder of hooks, so that nothing in it could be "
                    "written by an agent.",
                    "Name a folder in it: git config core.hooksPath NAME",
                    key="project_of_hooks",
                )
            if name is not None:
                found[name] = found.get(name, False) or is_folder
            if not is_folder and path not in seen:
                waiting.append((repository, path))
    return list(found.items())


def _configurations(repository: Path) -> list[str]:
    """A repository's own configurations: somewhere else for a linked work tree, and for a submodule."""
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


def _expanded(path: str) -> str:
    return str(Path.home() / path[2:]) if path.startswith("~/") else path


def _inside(project: Path, path: str) -> str | None:
    """A path as one relative to the project, also where a link outside of it leads there; None for another place."""
    for candidate in (os.path.normpath(path), os.path.realpath(path)):
        if Path(candidate).is_relative_to(project):
            return str(Path(candidate).relative_to(project))
    return None


def _protect(mount: Mount, root: Folder, name: str, is_folder: bool, found: dict[str, Mount]) -> None:
    """Protect what git obeys somewhere in the project, and every folder above it."""
    parts = name.split("/")
    for index in range(len(parts)):
        inside = "/".join(parts[: index + 1])
        is_last = index == len(parts) - 1
        known = found.get(inside)
        if known is not None and not known.writable:
            return
        if is_last and not is_folder:
            _place_file(root, inside, _NOT_INCLUDED)
        else:
            _place_folder(root, inside)
        found[inside] = _below(mount, inside, writable=not is_last, is_file=is_last and not is_folder)


def _remove_obeyed_by_git(root: Folder, name: str, is_folder: bool) -> None:
    with suppress(OSError, InvalidInput):
        if not is_folder:
            if not _remove_file(root, name, _NOT_INCLUDED):
                return
            name = name.rpartition("/")[0]
        while name:
            root.remove_folder(name)
            name = name.rpartition("/")[0]


def _remove_file(folder: Folder, name: str, content: bytes) -> bool:
    """Remove a file if it holds exactly this."""
    if _content(folder, name, len(content) + 1) != content:
        return False
    folder.remove(name)
    return True


def _below(mount: Mount, name: str, *, writable: bool = False, is_file: bool = False) -> Mount:
    return Mount(f"{mount.source}/{name}", f"{mount.target}/{name}", writable, is_file, required=True)


def _kind(folder: Folder, name: str) -> int | None:
    """The type of an entry, None if there is none; error: InvalidInput for a link and anything else that is neither file nor folder."""
    status = folder.status(name)
    if status is None:
        return None
    kind = stat.S_IFMT(status.st_mode)
    if kind not in (stat.S_IFREG, stat.S_IFDIR):
        raise InvalidInput(
            f"{_named(folder)}/{name} is a link or no file. Programs run what it leads to, and in an agent's reach it could "
            "be replaced, so that this folder cannot be given to an agent for writing.",
            "Put the file itself in its place.",
            key="led_elsewhere",
        )
    return kind


def _place_folder(folder: Folder, name: str) -> None:
    if (kind := _kind(folder, name)) is None:
        folder.folder(name, make=True, mode=0o755).close()
    elif kind != stat.S_IFDIR:
        raise InvalidInput(
            f"{_named(folder)}/{name} is no folder, so that this project cannot be given to an agent.",
            key="place_not_a_folder",
        )


def _place_file(folder: Folder, name: str, content: bytes) -> None:
    if (kind := _kind(folder, name)) is None:
        # Never there without its content, which the user's git may be reading: an empty one breaks it.
        with folder.replacement(name, 0o644) as new:
            new.write(content)
            new.commit(None, synced=False)
    elif kind != stat.S_IFREG:
        raise InvalidInput(
            f"{_named(folder)}/{name} is no file, so that this project cannot be given to an agent.",
            key="place_not_a_file",
        )


def _content(folder: Folder, name: str, limit: int) -> bytes | None:
    """The beginning of a regular file, None for anything else."""
    try:
        with folder.file(name) as file:
            return file.read(limit)
    except (OSError, InvalidInput):
        return None


def _named(folder: Folder) -> str:
    try:
        return str(Path(f"/proc/self/fd/{folder.fileno()}").readlink())
    except OSError:  # no /proc
        return "."
