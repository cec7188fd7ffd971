"""What the kernel says of a process, looked at from outside of its box."""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from parachute_runner import checks

from parachute.errors import Unavailable
from parachute.programs.starting import outside

NAMESPACES = ("ipc", "mnt", "net", "pid", "user", "uts")
_SECONDS = 30
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
    """Look at a process; error: Unavailable when the kernel does not let us, or it has ended. Waits."""
    here = [sys.executable, "-I", "-m", __name__, str(number)]
    there = outside(here)
    if there == here:
        return _process(number)
    # Who has a user namespace of its own may not look at processes that have none, or another.
    try:
        done = subprocess.run(there, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"The kernel cannot be asked what the box is: {error}.", "Try again.") from error
    if done.returncode != 0:
        raise Unavailable(done.stderr.strip()[-300:] or "The kernel does not say what the box is.", "Try again.")
    said = json.loads(done.stdout)
    return Process(**{**said, "shared": tuple(said["shared"]), "interfaces": tuple(said["interfaces"])})


def _process(number: int) -> Process:
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


def main() -> int:
    """Print what is found of a process as JSON, or why nothing is."""
    try:
        json.dump(asdict(_process(int(sys.argv[1]))), sys.stdout)
    except Unavailable as error:
        sys.stderr.write(error.message)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
