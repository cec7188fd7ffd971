"""The lock: each package of Debian in the image with its version, which a command renews and every build compares."""

import re
from pathlib import Path

from packages.debian.building import NAME
from packages.machine_image.recipe import FOLDER

_LINE = re.compile(r"[a-z0-9][a-z0-9+.-]*=[0-9A-Za-z.+:~-]+")


def path(board: str) -> Path:
    """The file of a board."""
    return FOLDER / "locked" / f"{board}.txt"


def read(board: str) -> dict[str, str]:
    """Versions by package; error: SystemExit for a line that is none."""
    lines = path(board).read_text().splitlines()
    if wrong := [line for line in lines if not _LINE.fullmatch(line)]:
        raise SystemExit(f"{path(board).name} has a line that is no package with a version: {wrong[0]}")
    return dict(line.split("=", 1) for line in lines)


def preferences(locked: dict[str, str]) -> str:
    """The locked versions as apt takes them: no other version of these is installed."""
    return "\n".join(
        f"Package: {name}\nPin: version {version}\nPin-Priority: 1001\n" for name, version in locked.items()
    )


def write(board: str, installed: dict[str, str]) -> None:
    """Lock what was installed."""
    path(board).parent.mkdir(exist_ok=True)
    path(board).write_text("".join(f"{name}={version}\n" for name, version in sorted(installed.items())))


def compare(locked: dict[str, str], installed: dict[str, str]) -> None:
    """Refuse a root that has anything else than what is locked; error: SystemExit."""
    if wrong := sorted(set(locked.items()) ^ set(installed.items())):
        names = ", ".join(sorted({name for name, _ in wrong})[:10])
        raise SystemExit(
            f"Debian has other versions now than the lock: {names}.\n"
            "`make image-lock` locks those that there are; read what git diff shows before it is committed."
        )


def installed(root: Path) -> dict[str, str]:
    """The packages of Debian in a root with their versions, without our own."""
    found = {each["Package"]: each["Version"] for each in stanzas(root)}
    found.pop(NAME, None)
    return found


def stanzas(root: Path) -> list[dict[str, str]]:
    """The fields of each package that dpkg's database knows; lines that go on are left out."""
    blocks = (root / "var/lib/dpkg/status").read_text().strip().split("\n\n")
    lines = ([line for line in block.splitlines() if line[0] != " "] for block in blocks)
    return [dict(line.split(": ", 1) for line in block if ": " in line) for block in lines]
