"""Writes nixos/python/wheels.json: the wheels of the locked versions that the Nix package is built from.

`nix_wheels.py [UV]` asks uv for the files of each version in run.txt. The Nix package is then made of the same files as
`make run`, for the systems and the Python below. `nix_wheels.py --extras` prints the extras that both have, as options of uv.
"""

import base64
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

FOLDER = Path(__file__).resolve().parent
TARGET = FOLDER.parent / "nixos" / "python" / "wheels.json"
PYTHON = (3, 13)
LEFT_OUT = frozenset({"voice"})
"""Extras that are tested, but not installed where nobody asks for them."""

SYSTEMS = {"x86_64-linux": "x86_64", "aarch64-linux": "aarch64"}
_NEWEST_GLIBC = 39


def extras() -> list[str]:
    """The extras that run.txt and the Nix package have, as options of uv."""
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text())["project"]
    names = [name for name in project["optional-dependencies"] if name not in LEFT_OUT]
    return [part for name in names for part in ("--extra", name)]


def tags_of(machine: str) -> list[Tag]:
    """Tags that the Python of a NixOS machine can run, best first."""
    platforms = [
        *(f"manylinux_2_{minor}_{machine}" for minor in range(_NEWEST_GLIBC, 16, -1)),
        f"manylinux2014_{machine}",
        f"linux_{machine}",
    ]
    return [
        *cpython_tags(PYTHON, platforms=platforms),
        *compatible_tags(PYTHON, f"cp{PYTHON[0]}{PYTHON[1]}", platforms),
    ]


def chosen(files: Mapping[str, str], machine: str) -> str | None:
    """The best wheel for a machine among the files of one version, or None."""
    tags = tags_of(machine)
    rank = {tag: place for place, tag in enumerate(tags)}
    found = [
        (min(rank[tag] for tag in parse_wheel_filename(name)[3] if tag in rank), name)
        for name in files
        if any(tag in rank for tag in parse_wheel_filename(name)[3])
    ]
    return min(found)[1] if found else None


def described(name: str, digest: str) -> dict[str, str]:
    """A wheel as nixpkgs' fetchPypi names it, with its SHA-256 in Subresource Integrity form."""
    distribution, version, python, abi, platform = name.removesuffix(".whl").split("-")
    integrity = base64.b64encode(bytes.fromhex(digest)).decode()
    return {
        "pname": distribution,
        "version": version,
        "python": python,
        "abi": abi,
        "platform": platform,
        "hash": f"sha256-{integrity}",
    }


def wheels(packages: Iterable[Mapping[str, Any]], machine: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each package's name with its wheel for a machine; error: SystemExit if there is none."""
    for package in packages:
        files = {
            unquote(PurePosixPath(urlsplit(wheel["url"]).path).name): wheel["hashes"]["sha256"]
            for wheel in package.get("wheels", ())
        }
        name = chosen(files, machine)
        if name is None:
            raise SystemExit(f"{package['name']} {package['version']} has no wheel for {machine}.")
        yield canonicalize_name(package["name"]), described(name, files[name])


def resolved(uv: str, machine: str) -> Any:
    """The packages that a machine needs, in their locked versions, with all their files."""
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "pylock.toml"
        command = [uv, "pip", "compile", str(FOLDER.parent / "pyproject.toml"), "-q"]
        command += extras()
        command += ["--constraint", str(FOLDER / "run.txt"), "--format", "pylock.toml", "--output-file", str(lock)]
        command += ["--python-version", f"{PYTHON[0]}.{PYTHON[1]}", "--python-platform", f"{machine}-manylinux_2_28"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return tomllib.loads(lock.read_text())["packages"]


def main() -> None:
    """Replace the list, or print the extras."""
    if sys.argv[1:] == ["--extras"]:
        print(*extras())
        return
    uv = sys.argv[1] if len(sys.argv) > 1 else "uv"
    found: dict[str, dict[str, dict[str, str]]] = {}
    for system, machine in SYSTEMS.items():
        for name, wheel in wheels(resolved(uv, machine), machine):
            found.setdefault(name, {})[system] = wheel
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(json.dumps(dict(sorted(found.items())), indent=2) + "\n")


if __name__ == "__main__":
    main()
