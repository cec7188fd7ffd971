"""The programs that agents work with: the image has them all, bubblewrap those of this machine."""

import re
import shutil
import subprocess
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from parachute.sandbox.layout import ENVIRONMENT

_MANAGERS = {
    "apt-get": ("debian", "sudo apt-get install"),
    "dnf": ("fedora", "sudo dnf install"),
    "pacman": ("arch", "sudo pacman -S"),
    "apk": ("alpine", "sudo apk add"),
}
_SECONDS = 20.0


class Program(Struct, frozen=True):
    """A program and the packages that bring it, which are called as Debian's unless said; `nix` is empty where another brings it.

    It is there if the command of its name is, or its `file`, or the `module` of Python.
    """

    name: str
    debian: str
    nix: str | None = None
    fedora: str | None = None
    arch: str | None = None
    alpine: str | None = None
    file: str | None = None
    module: str | None = None

    def package(self, system: str) -> str:
        """The package that brings it there."""
        named: str | None = getattr(self, system)
        return self.debian if named is None else named

    def is_in(self, root: Path) -> bool:
        """True if agents find it in a system; waits."""
        path = ":".join(f"{str(root).rstrip('/')}{folder}" for folder in ENVIRONMENT["PATH"].split(":"))
        if self.file:
            return (root / self.file.lstrip("/")).exists()
        if self.module:
            python = shutil.which("python3", path=path)
            return python is not None and _imports(python, self.module)
        return shutil.which(self.name, path=path) is not None


PROGRAMS = (
    Program("bash", "bash", nix="bashInteractive"),
    Program("bzip2", "bzip2"),
    Program(
        "libc-dev",
        "libc6-dev",
        nix="",
        fedora="glibc-devel",
        arch="glibc",
        alpine="musl-dev",
        file="/usr/include/stdio.h",
    ),
    Program("certificates", "ca-certificates", nix="cacert", file="/etc/ssl/certs"),
    Program("curl", "curl"),
    Program("diff", "diffutils"),
    Program("file", "file"),
    Program("find", "findutils"),
    Program("gcc", "gcc"),
    Program("git", "git", nix="gitMinimal"),
    Program("jq", "jq"),
    Program("less", "less"),
    Program("make", "make", nix="gnumake"),
    Program("node", "nodejs"),
    Program("npm", "npm", nix="", fedora="nodejs-npm"),
    Program("openssl", "openssl"),
    Program("patch", "patch"),
    Program("pip", "python3-pip", nix="python313Packages.pip", arch="python-pip", alpine="py3-pip", module="pip"),
    Program("ps", "procps", fedora="procps-ng", arch="procps-ng"),
    Program("python3", "python3", nix="python313", arch="python"),
    Program("rg", "ripgrep"),
    Program("sqlite3", "sqlite3", nix="sqlite", fedora="sqlite", arch="sqlite", alpine="sqlite"),
    Program("unzip", "unzip"),
    Program("venv", "python3-venv", nix="", fedora="python3", arch="python", alpine="python3", module="ensurepip"),
    Program("xz", "xz-utils", nix="xz", fedora="xz", arch="xz", alpine="xz"),
    Program("zip", "zip"),
)


def debian_packages(added: Iterable[str] = (), without: Collection[str] = ()) -> tuple[str, ...]:
    """The packages of Debian that bring them, but for some, and others."""
    kept = (program.debian for program in PROGRAMS if program.name not in without)
    return tuple(sorted({*kept, *added}))


def nix_attributes() -> list[str]:
    """The attributes of nixpkgs that bring them."""
    return sorted(filter(None, (program.package("nix") for program in PROGRAMS)))


def missing(root: Path = Path("/")) -> list[Program]:
    """Programs that agents under bubblewrap do not find, since this machine lacks them; waits."""
    return [program for program in PROGRAMS if not program.is_in(root)]


def installing(missing: Iterable[Program], path: str | None = None) -> str | None:
    """The command that installs programs; None where none of the package managers that we know is on the path."""
    for manager, (system, command) in _MANAGERS.items():
        if shutil.which(manager, path=path):
            return f"{command} {' '.join(sorted({program.package(system) for program in missing}))}"
    return None


def versions(packages: Mapping[str, str]) -> dict[str, str]:
    """The version of each program that an image with these packages of Debian has, without Debian's own part of it."""
    return {program.name: upstream(packages[program.debian]) for program in PROGRAMS if program.debian in packages}


def upstream(version: str) -> str:
    """A version without what Debian added to it."""
    return re.sub(r"^[0-9]+:|[+~-].*$", "", version)


def _imports(python: str, module: str) -> bool:
    command = [python, "-Ic", f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"]
    try:
        return subprocess.run(command, check=False, timeout=_SECONDS, capture_output=True).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
