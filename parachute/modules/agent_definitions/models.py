"""The parsed agent file."""

from datetime import date

from msgspec import Struct

from parachute.events.scheduler.grammar import Timetable

DATE, PREVIOUS_DATE = "{date}", "{previous_date}"
"""Placeholders in prompts and outputs for the day of a run, and for the day before it."""


class Definition(Struct, frozen=True):
    """A parsed agent file. `is_day_before`: a scheduled run is about the day before the one that it runs on.

    `can_suggest` are modules for whose data it may make suggestions; `needs` are files without which there is nothing to do;
    `most_a_month` are US dollars after which scheduled runs are skipped.
    """

    display_name: str
    description: str
    is_enabled: bool
    at: Timetable
    is_day_before: bool
    output: str
    capabilities: tuple[str, ...]
    mcp_tools: tuple[str, ...]
    model: str | None
    prompt: str
    can_suggest: tuple[str, ...] = ()
    needs: str = ""
    most_a_month: float | None = None

    def output_on(self, day: date) -> str:
        """The path within the vault that a run about a day writes."""
        return self.output.replace(DATE, day.isoformat())

    def needs_on(self, day: date) -> str:
        """The pattern of the files of the vault that a run about a day is about; empty for none."""
        return self.needs.replace(DATE, day.isoformat())
