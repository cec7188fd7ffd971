"""Sources of modules: a repository, a folder of this computer, or the official modules."""

import re
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from parachute.base.errors import InvalidInput, NotFound
from parachute.modules.manifest.models import NAME
from parachute.modules.trees.git import Repository
from parachute.modules.trees.hashing import copy_tree
from parachute.modules.trees.models import Limits, Progress

Kind = Literal["repository", "folder", "official"]

_ALLOWED = (
    "Allowed are https://…, ssh://…, git@host:owner/name, github://owner/name, file:///…, parachute://name, "
    "and the path of a folder."
)
NOT_INSTALLED = frozenset({"conftest.py", "tests"})
"""Entries of an official module that only its developers need; a wheel has none of them either."""

_OF_SSH = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:[^-\s][^\s]*")
_OF_GITHUB = re.compile(r"[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Source(Struct, frozen=True):
    """The source of a module; `text` is stored and shown, `where` is for git or the file system."""

    kind: Kind
    text: str
    where: str

    @property
    def label(self) -> str:
        """The last part of it, for a person."""
        return re.split(r"[/:]", self.text.rstrip("/"))[-1].removesuffix(".git")

    @property
    def protocol(self) -> str:
        """The protocol by which git reaches the repository."""
        return self.where.partition("://")[0] if "://" in self.where else "ssh"


def official_folder() -> Path:
    """The folder of the modules that came with this program; it may not exist."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "official"
    return installed if installed.is_dir() else package.parent / "modules"


def official_names() -> list[str]:
    """The names of the modules that came with this program."""
    return sorted(path.parent.name for path in official_folder().glob("*/manifest.yaml"))


def official_module(name: str) -> Path:
    """The folder of a module that came with this program; error: NotFound."""
    names = official_names()
    if name not in names:
        there = f"There are: {', '.join(names)}." if names else "This installation came without any."
        raise NotFound(f"There is no official module {name!r}.", there, key="no_official_module")
    return official_folder() / name


def parse(text: str, folder: Path | None = None) -> Source:
    """Read what a person named; a path that is not absolute begins in `folder`. Error: InvalidInput."""
    if not text or not text.isprintable() or len(text) > 2000 or text.startswith("-"):
        raise InvalidInput("source: this is not the address of a module.", _ALLOWED, key="invalid_source")
    if text.startswith("parachute://"):
        name = text.removeprefix("parachute://")
        if not NAME.fullmatch(name):
            raise InvalidInput(
                f"source: {text[:80]!r} names no module.",
                "Write parachute://name, such as parachute://daily",
                key="invalid_source",
            )
        return Source("official", text, name)
    if text.startswith("github://"):
        name = text.removeprefix("github://")
        if not _OF_GITHUB.fullmatch(name):
            raise InvalidInput(
                f"source: {text[:80]!r} names no repository.", "Write github://owner/name", key="invalid_source"
            )
        return Source("repository", text, f"https://github.com/{name}")
    if "://" in text:
        return _of_url(text)
    if _OF_SSH.fullmatch(text) and not Path(text).exists():
        return Source("repository", text, text)
    path = _existing(text, folder)
    if _is_bare(path):
        return Source("repository", str(path), path.as_uri())
    return Source("folder", str(path), str(path))


def obtain(source: Source, subfolder: str | None, target: Path, work: Path, limits: Limits, progress: Progress) -> None:
    """Write the files of the module into the new folder `target`; nothing of them runs.

    `work` is an empty folder for what is needed meanwhile. Errors: CloneFailed, Unavailable, InvalidInput, NotFound.
    """
    inner = inner_path(subfolder)
    without: frozenset[str] = frozenset()
    progress.step(f"{'Cloning' if source.kind == 'repository' else 'Copying'} {source.label}...")
    if source.kind == "official":
        folder = official_module(source.where)
        without = NOT_INSTALLED if inner is None else without
    elif source.kind == "folder":
        folder = Path(source.where)
    else:
        repository = Repository(work / "repository", work / "git", limits, progress, source.protocol)
        repository.fetch(source.where)
        repository.take(inner)
        folder = repository.folder
    folder = inner_folder(folder, subfolder)
    copy_tree(folder, target, without=without, limits=limits)


def inner_folder(folder: Path, subfolder: str | None) -> Path:
    """The folder of the module inside of its source; errors: InvalidInput, NotFound."""
    found = folder
    for part in PurePosixPath(inner_path(subfolder) or "").parts:
        found = found / part
        # A link could lead anywhere, and what lies there was not looked at.
        if found.is_symlink() or not found.is_dir():
            raise NotFound(
                f"--path: the source has no folder {subfolder!r}.", "Links are not followed.", key="no_such_folder"
            )
    return found


def _of_url(text: str) -> Source:
    try:
        parts = urlsplit(text)
        host = parts.hostname
        _ = parts.port
    except ValueError as error:
        raise InvalidInput(f"source: {text[:80]!r} is not an address.", _ALLOWED, key="invalid_source") from error
    if parts.scheme == "file" and not parts.netloc and parts.path:
        return Source("repository", text, text)
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise InvalidInput(
            "source: over http:// anyone on the way could put another module in place.",
            "Use https:// or ssh://.",
            key="invalid_source",
        )
    if parts.scheme not in ("https", "ssh", "http") or not host or not parts.path.strip("/"):
        raise InvalidInput(f"source: {text[:80]!r} cannot be fetched.", _ALLOWED, key="invalid_source")
    if parts.password:
        raise InvalidInput(
            "source: other programs of this computer would see the password in the address.",
            "A private repository needs ssh with a key in your agent: git@host:owner/name",
            key="invalid_source",
        )
    return Source("repository", text, text)


def _existing(text: str, folder: Path | None) -> Path:
    try:
        path = Path(text).expanduser()
        path = ((folder or Path.cwd()) / path).resolve()
        found = path.is_dir()
    except (OSError, RuntimeError) as error:
        raise InvalidInput(
            f"source: {text[:200]!r} cannot be read: {error}.", _ALLOWED, key="source_unreadable"
        ) from error
    if not found:
        raise NotFound(f"There is no folder {path}.", _ALLOWED, key="no_folder")
    return path


def _is_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def inner_path(text: str | None) -> str | None:
    """Read the path of a folder inside of a source; error: InvalidInput."""
    if text is None:
        return None
    path = PurePosixPath(text)
    if not text.isprintable() or path.is_absolute() or ".." in path.parts or ".git" in path.parts:
        raise InvalidInput(
            f"--path: {text[:80]!r} must name a folder inside of the source, such as python/", key="invalid_folder"
        )
    return str(path) if path.parts else None
