"""The time, as the API and the databases write it."""

from datetime import UTC, datetime


def now() -> str:
    """The present moment."""
    return as_text(datetime.now(UTC))


def as_text(moment: datetime) -> str:
    """UTC with milliseconds and a `Z`: a time without a zone would be read as local by the app."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
