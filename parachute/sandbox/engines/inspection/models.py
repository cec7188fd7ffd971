"""Rows of a comparison of a sandbox with its specification."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from parachute.base.answers import Answer

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


class Row(Answer, frozen=True):
    """One thing that was asked for, and what both sides say; `problem` is a sentence where one says something else."""

    name: str
    asked: str
    engine: str
    inside: str
    differs: bool
    problem: str | None


def row_of(name: str, asked: str, engine: Finding, inside: Finding, advice: str) -> Row:
    """The row of one thing; `advice` says what to do where a side says something else."""
    sides = (("the engine reports", engine), ("inside is found", inside))
    found = " and ".join(f"{side} “{said.shown}”" for side, said in sides if not said.agrees)
    problem = f"{name}: asked was “{asked}”, {found}. {advice}" if found else None
    return Row(name, asked, engine.shown, inside.shown, problem is not None, problem)


class Explanation(Answer, frozen=True):
    """The comparison for a session; a direct one has no rows, and `note` says why.

    `started`: the sandbox was started for the inspection, and ends by itself when idle.
    """

    session: str
    mode: Literal["sandboxed", "direct"]
    engine: str | None
    started: bool = False
    rows: tuple[Row, ...] = ()
    note: str | None = None
    differs: bool = False
