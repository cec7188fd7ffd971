"""What is said of a box by three sides, and what follows from it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Said:
    """What one side says, in words, and whether that is what was asked for."""

    text: str
    agrees: bool = True

    @property
    def shown(self) -> str:
        """The words, cut where they are too many: some of them come from inside of a box."""
        return self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}…"


SILENT = Said("-")
"""A side that cannot know."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was asked for; `advice` says what to do where a side says something else."""

    name: str
    asked: str
    engine: Said
    inside: Said
    advice: str

    @property
    def differs(self) -> bool:
        """Whether one side does not say what was asked for."""
        return not (self.engine.agrees and self.inside.agrees)

    def sentence(self) -> str:
        """The difference in words."""
        sides = (("the engine reports", self.engine), ("inside is found", self.inside))
        found = " and ".join(f"{side} “{said.shown}”" for side, said in sides if not said.agrees)
        return f"{self.name}: asked was “{self.asked}”, {found}. {self.advice}"

    def as_json(self) -> dict[str, Any]:
        """The row for the API."""
        return {
            "name": self.name,
            "asked": self.asked,
            "engine": self.engine.shown,
            "inside": self.inside.shown,
            "differs": self.differs,
            "problem": self.sentence() if self.differs else None,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known of a session's box; a direct session has no rows, and `note` says why.

    `started`: the box was started for this look, and falls asleep by itself.
    """

    session: str
    mode: Literal["sandboxed", "direct"]
    engine: str | None
    started: bool = False
    rows: tuple[Row, ...] = ()
    note: str | None = None

    @property
    def differences(self) -> tuple[str, ...]:
        """Every difference, in words."""
        return tuple(row.sentence() for row in self.rows if row.differs)

    def as_json(self) -> dict[str, Any]:
        """The explanation for the API."""
        return {
            "session": self.session,
            "mode": self.mode,
            "engine": self.engine,
            "started": self.started,
            "differs": bool(self.differences),
            "note": self.note,
            "rows": [row.as_json() for row in self.rows],
        }


@dataclass(frozen=True, slots=True)
class Tries:
    """What a look attempts: paths to write to, services of this machine to reach, names to look up."""

    paths: tuple[str, ...]
    connect: tuple[tuple[str, str, int], ...]
    read: tuple[str, ...] = ("/proc/1/environ",)
    resolve: tuple[str, ...] = ("parachute-computer.invalid",)

    def as_json(self) -> dict[str, Any]:
        """The request to the runner."""
        return asdict(self)
