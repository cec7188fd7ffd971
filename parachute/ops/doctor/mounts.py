"""File systems of folders."""

import re
from pathlib import Path

from msgspec import Struct

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import NotApplicable, settings_of

_ESCAPED = re.compile(r"\\([0-7]{3})")


class Mount(Struct, frozen=True):
    """A line of /proc/mounts."""

    device: str
    place: Path
    kind: str
    options: frozenset[str]


def mount_of(computer: Computer, path: Path) -> Mount | None:
    """The file system of a path, or of the nearest folder above it that exists; None where that is unknown."""
    text = computer.read("/proc/self/mounts")
    if text is None:
        return None
    real = existing(path).resolve()
    found: Mount | None = None
    for line in text.splitlines():
        fields = [_ESCAPED.sub(lambda match: chr(int(match[1], 8)), field) for field in line.split(" ")]
        if len(fields) < 4:
            continue
        mount = Mount(fields[0], Path(fields[1]), fields[2], frozenset(fields[3].split(",")))
        # Of two at the same place the later one is what is seen.
        if real.is_relative_to(mount.place) and (found is None or len(mount.place.parts) >= len(found.place.parts)):
            found = mount
    return found


def existing(path: Path) -> Path:
    """The path, or the nearest folder above it that exists."""
    return next(each for each in (path, *path.parents) if each.exists() or each == each.parent)


def places(computer: Computer) -> dict[str, Path]:
    """The folders that the computer writes to, by what they are to a person."""
    if computer.settings is None:
        return {"state directory": computer.home.root}
    return {"vault": computer.settings.vault, "state directory": computer.home.root}


def vault(computer: Computer) -> Path:
    """The vault, if it is there; error: NotApplicable."""
    settings = settings_of(computer, "the vault")
    if not settings.vault.is_dir():
        raise NotApplicable(f"The vault {settings.vault} does not exist.")
    return settings.vault
