"""What the kernel says of a process, looked at from outside of its box."""

import os
from dataclasses import dataclass
from pathlib import Path

from parachute_runner import checks

from parachute.errors import Unavailable

NAMESPACES = ("ipc", "mnt", "net", "pid", "user", "uts")
RIGHTS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


@dataclass(frozen=True, slots=True)
class Process:
    """A process: `shared` are the namespaces that it shares with us, `interfaces` those of its network.

    `sizes`: bytes of the memory folders; `limits`: by the kernel's names, None without one.
    """

    number: int
    parent: int
    status: dict[str, str]
    namespaces: dict[str, str]
    shared: tuple[str, ...]
    interfaces: tuple[str, ...]
    places: dict[str, bool]
    sizes: dict[str, int]
    limits: dict[str, int | None]


def process(number: int) -> Process:
    """Look at a process; error: Unavailable when the kernel does not let us, or it has ended."""
    folder = Path(f"/proc/{number}")
    try:
        status = dict(line.split(":\t", 1) for line in _lines(folder / "status") if ":\t" in line)
        namespaces = {name: str((folder / "ns" / name).readlink()) for name in NAMESPACES}
        return Process(
            number=number,
            parent=int(status["PPid"]),
            status=status,
            namespaces=namespaces,
            shared=tuple(
                name for name in NAMESPACES if namespaces[name] == str(Path(f"/proc/self/ns/{name}").readlink())
            ),
            interfaces=tuple(
                sorted(line.partition(":")[0].strip() for line in _lines(folder / "net/dev") if ":" in line)
            ),
            places=checks.mount_points(number),
            sizes=_sizes(folder / "mountinfo"),
            limits=_limits(folder / "limits"),
        )
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise Unavailable(f"The kernel does not say what the box is: {error}.", "Try again.") from error


def rights(status: dict[str, str]) -> list[str]:
    """The sets of rights that are not empty, as `name=mask`."""
    return [f"{name}={status.get(name, 'unknown')}" for name in RIGHTS if status.get(name, "1").strip("0")]


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", "surrogateescape").splitlines()


def _sizes(path: Path) -> dict[str, int]:
    found = {}
    for line in _lines(path):
        fields = line.split(" ")
        kind, _, options = fields[fields.index("-") + 1 :][:3]
        for option in options.split(","):
            name, _, value = option.partition("=")
            if kind == "tmpfs" and name == "size" and value.endswith("k"):
                found[os.fsdecode(fields[4])] = int(value[:-1]) << 10
    return found


def _limits(path: Path) -> dict[str, int | None]:
    found = {}
    for line in _lines(path)[1:]:
        name, soft = line[:26].strip(), line[26:47].strip()
        found[name] = int(soft) if soft.isdigit() else None
    return found
