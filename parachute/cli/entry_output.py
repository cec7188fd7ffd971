"""Entries of the journal as people read them on a terminal."""

import datetime
import re
import sys
from typing import Any

from parachute.cli.identifiers import short
from parachute.cli.output import clean, styled

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CHARACTERS = 70


def shown(entry: dict[str, Any]) -> str:
    """An entry with its id: its text, or of one that was found the part that fits."""
    heading = styled(clean(" · ".join(filter(None, (_when(entry), _title(entry))))), "1", sys.stdout)
    identifier = styled(f"  {short(str(entry['id']))}", "2", sys.stdout) if entry.get("id") else ""
    snippet = str(entry.get("snippet") or "")
    # What was found in the title stands there already.
    text = snippet if snippet and snippet != entry.get("title") else str(entry.get("content") or "")
    return f"{heading}{identifier}\n{clean(text)}".rstrip()


def row(entry: dict[str, Any]) -> tuple[str, str, str]:
    """An entry in one line of a table."""
    text = " ".join(filter(None, (_title(entry), " ".join(str(entry.get("content") or "").split()))))
    beginning = text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 1]}…"
    return short(str(entry.get("id") or "")), _when(entry), beginning


def shown_links(links: dict[str, Any]) -> list[str]:
    """What an entry was linked with, and what was proposed for it, a line each."""
    lines = []
    if names := ", ".join(each["name"] for each in links.get("linked") or ()):
        lines.append(f"Linked: {names}")
    if names := ", ".join(f"{each['type']} {each['name']}" for each in links.get("proposed") or ()):
        lines.append(f"Proposed: {names}. `parachute suggestions list` shows what waits for you.")
    return [clean(line) for line in lines]


def day_of(text: str) -> str | None:
    """The day that a person names; None for what is no day."""
    today = datetime.date.today()
    days = {"today": today, "yesterday": today - datetime.timedelta(days=1)}
    if text in days:
        return days[text].isoformat()
    return text if _DAY.fullmatch(text) else None


def _when(entry: dict[str, Any]) -> str:
    return " ".join(str(entry.get(field) or "") for field in ("date", "time")).strip()


def _title(entry: dict[str, Any]) -> str:
    # An entry that was given no title has its time in the place of one.
    return "" if entry.get("title") == entry.get("time") else str(entry.get("title") or "")
