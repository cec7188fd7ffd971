"""Staging: a version from a clone or a wheel is installed in an environment of its own, beside the one that runs.

What both versions need is linked from the running one: only what has changed is fetched, and without a change nothing is.
"""

import asyncio
import errno
import hashlib
import os
import re
import shutil
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from parachute.base.disk_errors import DiskFull, disk_error
from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import atomic_write, private_folder, remove_tree
from parachute.ops.updates.following import OFFLINE_HINT, Following, git, is_checked_out
from parachute.ops.updates.models import Version
from parachute.ops.updates.versions import Versions, checkout, running
from parachute.sandbox.image import programs

_SECONDS = 3600.0
_NAME_LENGTH = 12
_OWN = re.compile(r"_?parachute")
"""Packages of this program itself; the rest of the environment is linked."""
_REQUIREMENTS = "parachute/requirements.txt"


class Staging:
    """Stages versions for one installation; `step` hears in a sentence what is being done."""

    def __init__(self, versions: Versions, following: Following, step: Callable[[str], None]) -> None:
        self._versions = versions
        self._following = following
        self._step = step

    async def stage(self, source: Path, *, is_named: bool = False) -> Version:
        """Install a version beside the running one, unless it is there or runs from this very clone; `is_named`: the owner has just named the source.

        Errors: UpdateFailed, InvalidInput, Unavailable, OSError.
        """
        self._following.check(source)
        if (source / "pyproject.toml").is_file():
            return await self._from_clone(source, is_named=is_named)
        if source.suffix == ".whl" and source.is_file():
            return await self._from_wheel(source)
        raise InvalidInput(
            f"{source} is neither a clone of the repository nor a wheel.",
            "Name a folder with pyproject.toml in it, or a file whose name ends with .whl.",
            key="source_unknown",
        )

    async def _from_clone(self, clone: Path, *, is_named: bool) -> Version:
        self._step("Looking for a new version")
        commit = await self._following.newest(clone, is_named=is_named)
        name = commit[:_NAME_LENGTH]
        if found := self._versions.find(name, str(clone)):
            return found
        own = checkout()
        if own is not None and own.samefile(clone) and await is_checked_out(clone, commit):
            return running()
        async with _Unfinished(self._versions, name) as prefix:
            private_folder(prefix)
            tree, archive = prefix / "source", prefix / "source.tar"
            await git(clone, "archive", "--format=tar", f"--output={archive}", commit)
            await asyncio.to_thread(_unpack, archive, tree)
            await self._environment(prefix, tree / "requirements" / "run.txt")
            self._step("Building the console")
            await _run([str(tree / "console" / "build.sh"), str(prefix / "bin" / "python")], OFFLINE_HINT)
            await self._install(prefix, tree)
            await asyncio.to_thread(remove_tree, tree)
            return _complete(name, prefix, str(clone))

    async def _from_wheel(self, wheel: Path) -> Version:
        name = (await asyncio.to_thread(_digest, wheel))[:_NAME_LENGTH]
        if found := self._versions.find(name, str(wheel)):
            return found
        try:
            with zipfile.ZipFile(wheel) as archive:
                requirements = archive.read(_REQUIREMENTS)
        except (zipfile.BadZipFile, KeyError, OSError) as error:
            raise InvalidInput(f"{wheel} is no wheel of this program: {error}.", key="wheel_unknown") from error
        async with _Unfinished(self._versions, name) as prefix:
            private_folder(prefix)
            listed = prefix / "requirements.txt"
            atomic_write(listed, requirements)
            await self._environment(prefix, listed)
            await self._install(prefix, wheel)
            return _complete(name, prefix, str(wheel))

    async def _environment(self, prefix: Path, requirements: Path) -> None:
        self._step("Installing what the new version needs")
        # Ours is linked, where there is one: making another takes longer than all the rest.
        without = ["--without-pip"] if find_spec("pip") else []
        await _run([sys.executable, "-m", "venv", *without, str(prefix)])
        (packages,) = prefix.glob("lib/python*/site-packages")
        await asyncio.to_thread(_link_packages, Path(sysconfig.get_path("purelib")), packages)
        pip = [str(prefix / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
        await _run([*pip, "--require-hashes", "--no-deps", "-r", str(requirements)], OFFLINE_HINT)

    async def _install(self, prefix: Path, program: Path) -> None:
        self._step("Installing the new version")
        python = str(prefix / "bin" / "python")
        # What builds it is among what both need.
        offline = ("--no-deps", "--no-index", "--no-build-isolation")
        await _run([python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", *offline, str(program)])
        await _run([python, "-c", "import parachute.server.app, parachute.supervisor.main"])


class _Unfinished:
    """A folder that is there only if the block has come to its end."""

    def __init__(self, versions: Versions, name: str) -> None:
        self._prefix = versions.make_folder() / name

    async def __aenter__(self) -> Path:
        remove_tree(self._prefix)  # of one that was cut off
        return self._prefix

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            remove_tree(self._prefix)


def _complete(name: str, prefix: Path, source: str) -> Version:
    atomic_write(prefix / "complete", f"{source}\n")
    return Version(name, prefix, source)


async def _run(command: list[str], hint: str | None = None) -> None:
    try:
        await programs.run(command, os.environ, seconds=_SECONDS, hint=hint)
    except Unavailable as error:
        if os.strerror(errno.ENOSPC) not in error.message:
            raise
        raise DiskFull(
            "The disk is full: the new version cannot be installed.", "Free some space on it, and try again."
        ) from error


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    archive.unlink()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _link_packages(source: Path, target: Path) -> None:
    """Link what is installed here, but for this program; files are never written in place, so that both keep theirs."""
    for entry in source.iterdir():
        if _OWN.match(entry.name) or (target / entry.name).exists():
            continue
        if entry.is_dir():
            shutil.copytree(entry, target / entry.name, symlinks=True, copy_function=_linked)
        else:
            _linked(str(entry), str(target / entry.name))


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        try:
            shutil.copy2(source, target)
        except OSError as error:
            # Of an OSError, copytree takes a note and goes on with the thousands of files that are left.
            raise disk_error(error) or Unavailable(
                f"{target} cannot be written: {error}.", key="version_not_placed"
            ) from error
