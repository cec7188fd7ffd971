"""Versions of the program, and how far an update has come."""

from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field

from parachute.base.errors import Conflict, ParachuteError
from parachute.ops.rehearsal.models import Check


class UpdateFailed(ParachuteError):
    """An update that has changed nothing, or was taken back; the hint says what to do."""

    status = 409
    key = "update_failed"


class Phase(StrEnum):
    """Phase of an update; each begins when it is written down.

    Until `PUTTING` nothing has changed. From then to `BLESSING` the version before comes back whenever it is started.
    """

    STAGING = "staging"
    REHEARSING = "rehearsing"
    PUTTING = "putting"
    PROBATION = "probation"
    BLESSING = "blessing"
    RETURNING = "returning"
    DONE = "done"
    REFUSED = "refused"
    """Not put in place: nothing has changed."""
    NEWEST = "newest"
    """There was nothing to do: the newest version runs."""
    CANCELLED = "cancelled"
    """Its owner ended it before it was put in place: nothing has changed."""
    BACK = "back"
    """The version before is in place again."""


ENDS = (Phase.DONE, Phase.REFUSED, Phase.NEWEST, Phase.CANCELLED, Phase.BACK)
IN_PLACE = (Phase.PUTTING, Phase.PROBATION, Phase.BLESSING, Phase.RETURNING)
"""Phases in which the state may be that of the new version."""


class Version(Struct, frozen=True):
    """A version that can run: `prefix` is its environment, `source` is where it came from."""

    name: str
    prefix: Path
    source: str = ""

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.prefix / "bin" / "python"


class Update(Struct, frozen=True, kw_only=True):
    """The update under way, or the last one. `until` is when the probation ends; `since` names what is kept of what was written in it."""

    phase: Phase
    old: Version
    new: Version | None = None
    previous: Version | None = None
    """The version that can be gone back to; an update that is refused leaves it as it is."""
    began: str
    at: str
    """Time at which the phase began."""
    until: str | None = None
    step: str | None = None
    problem: str | None = None
    hint: str | None = None
    checks: tuple[Check, ...] = ()
    changes: tuple[str, ...] = ()
    """Changes by the new version, in sentences of its rehearsal."""
    since: tuple[str, ...] = field(default=())
    manager: str = "process"
    """Manager that starts the computer: `process`, `systemd`, or `nixos` for units of the system's configuration."""
    host: str = ""
    port: int = 0
    """Port on which it serves."""

    @property
    def can_be_taken_up(self) -> bool:
        """Return whether it is in place, and the version before is there to come back."""
        return self.phase in IN_PLACE and self.old.python.exists()


def rooted() -> Conflict:
    """The error for what only root does on NixOS."""
    return Conflict(
        "This computer is part of the system's configuration, and root has updated it.",
        "As root: `parachute-update` takes an update up, `parachute-update back` goes back, `systemctl stop parachute-update` cancels.",
        key="rooted",
    )
