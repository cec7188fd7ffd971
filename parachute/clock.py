"""The time, as the API and the databases write it."""

from datetime import UTC, datetime


def now() -> str:
    """UTC with milliseconds and a `Z`: a time without a zone would be read as local by the app."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
