"""Rows of a comparison of a sandbox with its specification."""

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct, to_builtins

_SHOWN = 300


class Finding(Struct, frozen=True):
    """The report of one side; `agrees` if it is what was asked for."""

    text: str
    agrees: bool = True

    @property
    def shown(self) -> str:
        """The words, cut where they are too many: some of them come from inside of a sandbox."""
        return self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}…"


SILENT = Finding("-")
"""A side that cannot know."""


def either(agrees: bool, text: str, otherwise: str) -> Finding:
    """The first words where something agrees, else the others."""
    return Finding(text if agrees else otherwise, agrees)


def nothing(found: Iterable[str]) -> Finding:
    """Names of what must not be there."""
    shown = ", ".join(found)
    return Finding(shown or "none", not shown)


def at_most(name: str, found: object, bound: float) -> Finding:
    """A limit in force; no number, or none above zero, is no limit."""
    if not isinstance(found, int | float) or found <= 0:
        return Finding("not bounded", False)
    # Engines round: the runner allows as much.
    return Finding(amount(name, found), found <= bound * 1.01)


def amount(name: str, value: float) -> str:
    """A limit or size for a person, by the name of its row."""
    return f"{value / (1 << 20):g} MB" if "memory" in name else f"{value:.10g}"


class Row(Struct, frozen=True):
    """One thing that was asked for; `advice` says what to do where a side says something else."""

    name: str
    asked: str
    engine: Finding
    inside: Finding
    advice: str

    @property
    def differs(self) -> bool:
        """True where a side does not say what was asked for."""
        return not (self.engine.agrees and self.inside.agrees)

    def sentence(self) -> str:
        """The difference in words."""
        sides = (("the engine reports", self.engine), ("inside is found", self.inside))
        found = " and ".join(f"{side} “{said.shown}”" for side, said in sides if not said.agrees)
        return f"{self.name}: asked was “{self.asked}”, {found}. {self.advice}"

    def as_json(self) -> dict[str, Any]:
        """The row for the API."""
        said = {"engine": self.engine.shown, "inside": self.inside.shown}
        problem = self.sentence() if self.differs else None
        return {"name": self.name, "asked": self.asked, **said, "differs": self.differs, "problem": problem}


class Explanation(Struct, frozen=True):
    """The comparison for a session; a direct one has no rows, and `note` says why.

    `started`: the sandbox was started for the inspection, and ends by itself when idle. `permissions` are what the owner left to the
    session, as the API says it.
    """

    session: str
    mode: Literal["sandboxed", "direct"]
    engine: str | None
    started: bool = False
    rows: tuple[Row, ...] = ()
    note: str | None = None
    permissions: dict[str, Any] | None = None

    @property
    def differences(self) -> tuple[str, ...]:
        """Every difference, in words."""
        return tuple(row.sentence() for row in self.rows if row.differs)

    def as_json(self) -> dict[str, Any]:
        """The explanation for the API."""
        return {
            **to_builtins(self),
            "differs": bool(self.differences),
            "rows": [row.as_json() for row in self.rows],
        }
