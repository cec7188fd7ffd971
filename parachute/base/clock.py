"""Timestamps of the API and the databases."""

from datetime import UTC, datetime


def now() -> str:
    """The current time."""
    return as_text(datetime.now(UTC))


def as_text(moment: datetime) -> str:
    """Format a time as UTC with milliseconds and a `Z`: the app would read a time without a zone as local."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
