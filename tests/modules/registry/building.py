"""Modules, git repositories and wheels for tests."""

import base64
import hashlib
import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parachute.core.interfaces import KNOWN, methods_of
from parachute.modules.registry.models import InstalledModule, Trust

MANIFEST = """\
name: {name}
version: {version}
description: Says hello
module: module.py
"""

MODULE = """\
from parachute.core import Module, route


class {class_name}(Module):
    name = "{name}"
    version = "{version}"
{methods}
    @route("GET", "/hello")
    async def hello(self) -> dict:
        return {{"hello": "world"}}


def search(text: str) -> str:
    return text
"""


def write_module(
    folder: Path, name: str = "hello", version: str = "1.0.0", more: str = "", files: dict[str, str] | None = None
) -> Path:
    """A small module; `more` is added to its manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.yaml").write_text(MANIFEST.format(name=name, version=version) + more)
    class_name = name.title().replace("-", "") + "Module"
    # Nothing calls them; without them the module could not be installed.
    provided = [KNOWN[each] for each in KNOWN if each in more.partition("provides")[2]]
    methods = "".join(f"    {method} = None\n" for protocol in provided for method in methods_of(protocol))
    code = MODULE.format(name=name, version=version, class_name=class_name, methods=methods)
    (folder / "module.py").write_text(code)
    for path, text in (files or {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def needing(*requirements: str) -> str:
    """A part of a manifest."""
    return "dependencies:\n" + "".join(f"  - {text}\n" for text in requirements)


class Repository:
    """A git repository with a work tree, in the beginning a copy of another one."""

    def __init__(self, folder: Path, copy_of: "Repository | None" = None) -> None:
        self.folder = folder
        if copy_of is not None:
            shutil.copytree(copy_of.folder, folder, symlinks=True)
            return
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    @property
    def url(self) -> str:
        """Its address for a clone."""
        return self.folder.as_uri()

    def git(self, *arguments: str) -> str:
        """Run git in it."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Author",
            "GIT_AUTHOR_EMAIL": "author@example.org",
            "GIT_COMMITTER_NAME": "Author",
            "GIT_COMMITTER_EMAIL": "author@example.org",
        }
        command = ["git", "-c", "protocol.file.allow=always", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=environment, check=True, capture_output=True, text=True
        ).stdout

    def commit(self) -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "A change")


def write_wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    files: dict[str, str] | None = None,
    requires: tuple[str, ...] = (),
    tag: str = "py3-none-any",
) -> Path:
    """A wheel with the files, `name/__init__.py` if none are given."""
    folder.mkdir(parents=True, exist_ok=True)
    information = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    contents = {
        **(files or {f"{name}/__init__.py": f'VERSION = "{version}"\n'}),
        f"{information}/METADATA": metadata + "".join(f"Requires-Dist: {text}\n" for text in requires),
        f"{information}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = ""
    for path, text in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(text.encode())}\n"
    contents[f"{information}/RECORD"] = record + f"{information}/RECORD,,\n"
    wheel = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in contents.items():
            archive.writestr(path, text)
    return wheel


def write_source_package(folder: Path, name: str, touched: Path) -> None:
    """A package of which there is no wheel, and whose setup.py leaves a trace when it runs."""
    import tarfile

    folder.mkdir(parents=True, exist_ok=True)
    work = folder / "work" / f"{name}-1.0"
    work.mkdir(parents=True)
    (work / "setup.py").write_text(
        f"import pathlib\npathlib.Path({str(touched)!r}).write_text('ran')\n"
        f"from setuptools import setup\nsetup(name={name!r}, version='1.0', packages=[])\n"
    )
    (work / "PKG-INFO").write_text(f"Metadata-Version: 1.0\nName: {name}\nVersion: 1.0\n")
    with tarfile.open(folder / f"{name}-1.0.tar.gz", "w:gz") as archive:
        archive.add(work, f"{name}-1.0")


def entry(name: str = "hello", **fields: object) -> InstalledModule:
    """An entry of the registry."""
    values = {"enabled": True, "source": "/source", "trust": Trust.TRUSTED, "hash": "sha256:" + "0" * 64, **fields}
    return InstalledModule(name=name, **values)  # type: ignore[arg-type]


def everything(folder: Path) -> set[str]:
    """Paths of all that is in a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def names(folder: Path) -> list[str]:
    """Names of what is directly in a folder."""
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def deep_folder(folder: Path, levels: int) -> Iterator[Path]:
    """A folder in a folder in a folder, deeper than a path may be long; what is left of it goes with the block."""
    folder.mkdir(parents=True)
    descriptor = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=descriptor)
        below = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=descriptor))
    os.close(descriptor)
    try:
        yield folder
    finally:
        # Python's own way is recursive, and so is pytest's: it could not tidy up.
        subprocess.run(["rm", "-rf", folder], check=True)
