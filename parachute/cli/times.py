"""Times as the command line shows them: on the clock of this machine, and short."""

from datetime import UTC, datetime

from parachute.cli.output import duration


def local(moment: datetime | str | None, otherwise: str = "never") -> str:
    """`2026-11-22 16:33`; `otherwise` for None, and a text that is no time as it stands."""
    if not moment:
        return otherwise
    try:
        found = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        return f"{found.astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return str(moment)


def ago(moment: str) -> str:
    """`2 min ago`, where it matters how long that is."""
    try:
        passed = int((datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())
    except (ValueError, TypeError):
        return "at an unknown time"
    # The largest unit alone: nobody asks for the seconds of an hour.
    return f"{duration(max(0, passed), units=1)} ago"
