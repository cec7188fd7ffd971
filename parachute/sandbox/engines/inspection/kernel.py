"""A process as the kernel sees it from outside of its sandbox: `python -m … NUMBER` prints it as JSON."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
from msgspec import Struct
from parachute_runner import checks

from parachute.base.errors import Unavailable
from parachute.supervisor.command_runner.starting import outside

NAMESPACES = ("ipc", "mnt", "net", "pid", "user", "uts")
_SECONDS = 30
_SIZE = re.compile(r"(?m)^\S+ \S+ \S+ \S+ (\S+) .* - tmpfs \S+ (?:\S+,)?size=(\d+)k")
_LIMIT = re.compile(r"(?m)^(Max .*?)  +(\d+|unlimited) ")


class Process(Struct, frozen=True):
    """A process: `shared` are the namespaces that it shares with us, `interfaces` those of its network.

    `sizes`: bytes of the memory folders; `limits`: by the kernel's names, without those that are unlimited.
    """

    parent: int
    status: dict[str, str]
    namespaces: dict[str, str]
    shared: list[str]
    interfaces: list[str]
    places: dict[str, bool]
    sizes: dict[str, int]
    limits: dict[str, int]


def process(number: int) -> Process:
    """Inspect a process; error: Unavailable when the kernel does not let us, or it has ended. Waits."""
    # Who has a user namespace of its own may not inspect processes that have none, or another.
    command = outside([sys.executable, "-I", "-m", __name__, str(number)])
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(
            f"The kernel cannot be asked what the sandbox is: {error}.", "Try again.", key="kernel_silent"
        ) from error
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["it has ended"])[-1]
        raise Unavailable(
            f"The kernel gave no details of the sandbox: {reason[-300:]}.", "Try again.", key="kernel_not_read"
        )
    return msgspec.json.decode(done.stdout, type=Process)


def _process(folder: Path) -> Process:
    status = dict(line.split(":\t", 1) for line in _text(folder / "status").splitlines() if ":\t" in line)
    own, theirs = ({name: str((at / "ns" / name).readlink()) for name in NAMESPACES} for at in (_SELF, folder))
    limits = _LIMIT.findall(_text(folder / "limits"))
    return Process(
        parent=int(status["PPid"]),
        status=status,
        namespaces=theirs,
        shared=[name for name in NAMESPACES if own[name] == theirs[name]],
        interfaces=sorted(re.findall(r"(?m)^ *([^:\s]+):", _text(folder / "net/dev"))),
        places=checks.mount_points(folder.name),
        sizes={place: int(size) << 10 for place, size in _SIZE.findall(_text(folder / "mountinfo"))},
        limits={name: int(soft) for name, soft in limits if soft != "unlimited"},
    )


_SELF = Path("/proc/self")


def _text(path: Path) -> str:
    return path.read_text("utf-8", "surrogateescape")


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(_process(Path("/proc", sys.argv[1]))))
