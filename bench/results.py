"""The result of a benchmark."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """One number; lower is better for all of them that have a budget.

    `budget` is what the value must stay below (SPECIFICATION.md). `baseline` is what the earlier Python server of the same
    design needed on a machine with two cores, in the same unit (of names, what large letters alone gave); both are None where there is none.
    """

    name: str
    value: float
    unit: str
    budget: float | None = None
    baseline: float | None = None

    @property
    def ok(self) -> bool | None:
        """True when the budget is kept; None without one."""
        return None if self.budget is None else self.value < self.budget

    @classmethod
    def of_json(cls, entry: dict[str, Any]) -> "Result":
        """The result of an entry that another run has written."""
        return cls(entry["name"], entry["value"], entry["unit"], entry["budget"])

    def as_json(self) -> dict[str, object]:
        """The entry in `build/bench.json`."""
        return {
            "name": self.name,
            "value": round(self.value, 4),
            "unit": self.unit,
            "budget": self.budget,
            "ok": self.ok,
        }


class NotMeasurable(Exception):
    """Benchmark that this machine or this user cannot run; the text gives the reason, and it is no failure."""
