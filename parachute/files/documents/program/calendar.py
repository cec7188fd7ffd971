"""Calendars: what, where, when and with whom, each in the line in which the file has it."""

import re
from typing import IO

from parachute.files.documents.program.text import PARAGRAPH, Text, Unreadable

_LARGEST = 16 << 20
_SHOWN = ("SUMMARY", "DESCRIPTION", "LOCATION", "COMMENT", "CONTACT", "CATEGORIES", "X-WR-CALNAME")
_PEOPLE = ("ATTENDEE", "ORGANIZER")
_TIMES = ("DTSTART", "DUE")
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\dZ?)?$")
_NAME = re.compile(r';CN=(?:"([^"]*)"|([^;:]*))', re.IGNORECASE)
_ESCAPED = re.compile(r"\\([nN,;\\])")


def read(file: IO[bytes], text: Text) -> None:
    """Read a calendar; what one property says is in the line in which it begins."""
    lines = file.read(_LARGEST).decode("utf-8", errors="replace").lstrip("\ufeff").split("\n")
    if not lines[0].strip().upper().startswith("BEGIN:VCALENDAR"):
        raise Unreadable("damaged")
    parts: list[str] = []
    further = 0
    for line in (*(each.rstrip("\r") for each in lines), ""):
        if line[:1] in (" ", "\t") and parts:
            parts.append(line[1:])
            further += 1
            continue
        text.add(_said("".join(parts)))
        text.add("\n" * further if parts else "")
        text.add("\n" if parts else "")
        parts, further = [line], 0


def _said(line: str) -> str:
    head, value = _divided(line)
    name = head.partition(";")[0].upper()
    if name in _SHOWN:
        return _ESCAPED.sub(lambda match: PARAGRAPH if match[1] in "nN" else match[1], value).replace("\f", " ")
    if name in _TIMES and (found := _TIME.match(value)):
        year, month, day, hour, minute = found.groups()
        return f"{year}-{month}-{day}" + (f" {hour}:{minute}" if hour else "")
    if name in _PEOPLE:
        called = _NAME.search(head)
        own = (called[1] or called[2]) if called else ""
        return f"{own} {value.removeprefix('mailto:').removeprefix('MAILTO:')}".strip()
    return ""


def _divided(line: str) -> tuple[str, str]:
    """Return what stands before the colon of a property, of which there may be others in quotes, and what stands after it."""
    quoted = False
    for place, letter in enumerate(line[:1000]):
        if letter == '"':
            quoted = not quoted
        elif letter == ":" and not quoted:
            return line[:place], line[place + 1 :]
    return line[:1000], ""
