"""Units: what the supervisor may start, and what it knows of each."""

import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

ATTEMPTS = 5

GIVEN_HOST = "PARACHUTE_INSTEAD_OF_HOST"
"""Variable with the setting `host`, where the command line had another one."""


class State(StrEnum):
    """The state of a unit."""

    STOPPED = "stopped"
    LISTENING = "listening"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    FAILED = "failed"


class Confinement(Struct, frozen=True):
    """The confinement of a unit, where systemd enforces it: these folders and files, its own sockets, no network.

    What is only read may be missing when the unit starts; what is written has to exist. `hide` holds folders of which nothing
    else is to be seen, wherever they lie; homes always are such. `loopback`: it may speak TCP to itself. `writes_code` is for
    programs that compile while they run.
    """

    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    hide: tuple[Path, ...] = ()
    loopback: bool = False
    memory_bytes: int | None = None
    processes: int | None = None
    writes_code: bool = False


class Unit(Struct, frozen=True):
    """One program with its listening sockets.

    `listen` holds paths of Unix sockets and (host, port) pairs, passed on from file descriptor 3 up in this order. A unit
    that is `on_demand` starts with its first connection and may end when it is idle; others start at once and are restarted.
    `notifies`: it says READY=1 when it serves, at the latest after `start_seconds`, and sends WATCHDOG=1 within every
    `watchdog_seconds` after that. `delegates`: it divides its control group itself. `hardened`: systemd holds it back as far
    as core can be, and it starts its programs through the unit `programs`. One that has failed `attempts` times in five
    minutes is given up until somebody opens or starts it again.
    """

    name: str
    command: tuple[str, ...]
    listen: tuple[Path | tuple[str, int], ...] = ()
    on_demand: bool = False
    notifies: bool = False
    start_seconds: float = 180
    watchdog_seconds: float | None = None
    stop_seconds: float = 10
    with_credentials: bool = False
    delegates: bool = False
    hardened: bool = False
    attempts: int = ATTEMPTS
    environment: dict[str, str] = field(default_factory=dict)
    confinement: Confinement | None = None


class Status(Struct):
    """The status of a unit; `reason` says in a sentence why it is down.

    `failure` is the last such sentence, which stays when it runs again.
    """

    name: str
    state: State = State.STOPPED
    process: int | None = None
    since: float = field(default_factory=time.time)
    restarts: int = 0
    reason: str | None = None
    failure: str | None = None
    failed_at: float = 0.0

    def fail(self, reason: str) -> None:
        """Remember why it has ended though nobody asked it to."""
        self.reason = self.failure = reason
        self.failed_at = time.time()

    def describe(self) -> dict[str, object]:
        """The status as JSON."""
        return {
            "name": self.name,
            "state": self.state.value,
            "process": self.process,
            "seconds": round(time.time() - self.since, 1),
            "restarts": self.restarts,
            "reason": self.reason,
            "failure": self.failure,
            "failure_seconds": round(time.time() - self.failed_at, 1) if self.failure else None,
        }


class Launcher(Protocol):
    """Opens a unit's sockets, starts it, watches it and ends it; `confines`: it enforces `Unit.confinement`."""

    confines: bool

    async def open(self, unit: Unit) -> None:
        """Open the sockets and, unless the unit is on demand, start it.

        One that is open and has failed gets another chance; what is different about one that runs counts from its next start.
        """

    async def start(self, name: str) -> None:
        """Start a unit that is open but down."""

    async def ready(self, name: str, seconds: float = 60) -> None:
        """Wait until a unit serves; error: Unavailable with the reason."""

    async def restart(self, name: str) -> None:
        """End the unit's process and start another; connections wait in its sockets meanwhile."""

    async def stop(self, name: str) -> None:
        """End the unit's process until somebody starts it; connections wait, or are refused where systemd has the sockets."""

    async def close(self, name: str) -> None:
        """End the unit's process and close its sockets."""

    async def begin_anew(self, problem: str | None = None, *, is_moved: bool = False) -> bool:
        """Have everything ended and started again from outside; False where the supervisor itself does that.

        With a `problem`, it is what was there before a restore that is started then; `is_moved`: the settings say another address.
        """

    async def run_beside(self, name: str, command: Sequence[str]) -> None:
        """Start a program that outlives the supervisor and its units; error: Unavailable if it runs already."""

    async def end_beside(self, name: str) -> None:
        """Ask such a program to end."""

    async def lost(self) -> None:
        """Return when it can do nothing any more, and another supervisor has to take over what runs."""

    def status(self) -> list[Status]:
        """All open units."""
