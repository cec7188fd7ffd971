"""Reading the audit log: records by what they name, newest first, page by page."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from msgspec import Struct

from parachute.base.clock import as_text
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.security.audit.days import Days, blocks, lines_with

PAGE = 100
MOST = 1000


class Filter(Struct, frozen=True):
    """The records that are wanted: at or after `since`, before `until`, and those that name each of the others.

    `source` is a kind of caller or its name, `module` the one that was asked, `session` the conversation, `file` a path or the
    end of one, `host` a host that was reached.
    """

    since: datetime | None = None
    until: datetime | None = None
    source: str | None = None
    module: str | None = None
    session: str | None = None
    file: str | None = None
    host: str | None = None
    event: str | None = None

    def needles(self) -> tuple[bytes, ...]:
        """Return texts that each line of such a record contains: a search for them is fifty times faster than to read every record."""
        wanted = (self.source, self.module, self.session, self.file, self.host, self.event)
        texts = (json.dumps(text, ensure_ascii=False)[1:-1] for text in wanted if text)
        return tuple(sorted((text.encode(errors="replace") for text in texts), key=len, reverse=True))

    def takes(self, record: Mapping[str, Any]) -> bool:
        """Return whether it is one of them, apart from its time."""
        name = str(record.get("source_id"))
        # Of what a person did the name has the kind before it: `key Phone`.
        sources = (record.get("source_type"), name, name.partition(" ")[2])
        return (
            (self.source is None or self.source in sources)
            and (self.module is None or self.module in (record.get("target_module"), record.get("source_id")))
            and (self.session is None or self.session in (record.get("session"), record.get("source_id")))
            and (self.event is None or self.event == record.get("event_type"))
            and (self.file is None or any(_ends(path, self.file) for path in _files(record)))
            and (self.host is None or self.host in record.get("hosts", ()))
        )


@dataclass(frozen=True, slots=True)
class Page:
    """Records, newest first; `next` goes on from there, None at the end."""

    records: tuple[dict[str, Any], ...]
    next: str | None


def page(days: Days, wanted: Filter, limit: int = PAGE, before: str | None = None) -> Page:
    """One page, from where the page before ended; waits for the disk. Error: InvalidInput for a place that is none."""
    found = list(islice(_records(days, wanted, _place(before)), limit + 1))
    records = tuple(record for _, record in found[:limit])
    return Page(records, found[limit - 1][0] if len(found) > limit else None)


def every(days: Days, wanted: Filter) -> Iterator[dict[str, Any]]:
    """All such records, newest first."""
    for _, record in _records(days, wanted, None):
        yield record


def _records(days: Days, wanted: Filter, before: tuple[str, int] | None) -> Iterator[tuple[str, dict[str, Any]]]:
    since = as_text(wanted.since) if wanted.since else ""
    until = as_text(wanted.until) if wanted.until else "~"
    needles = wanted.needles()
    for day in reversed(days.names()):
        if day < since[:10] or day > until[:10] or (before is not None and day > before[0]):
            continue
        size = days.size(day)
        end = min(size, before[1]) if before is not None and day == before[0] else size
        try:
            with days.file(day) as file:
                for start, block in blocks(file, end):
                    for place, line in lines_with(start, block, needles):
                        record = _record(line)
                        if record and since <= str(record.get("timestamp")) < until and wanted.takes(record):
                            yield f"{day}:{place}", record
        except (OSError, ParachuteError):
            continue  # `verify` names it


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _files(record: Mapping[str, Any]) -> Iterator[str]:
    for each in record.get("files", ()):
        if isinstance(each, Mapping):
            yield str(each.get("path", ""))


def _ends(path: str, wanted: str) -> bool:
    return path == wanted or path.endswith(f"/{wanted.lstrip('/')}")


def _place(before: str | None) -> tuple[str, int] | None:
    if before is None:
        return None
    day, _, offset = before.partition(":")
    if len(day) != 10 or not (offset.isascii() and offset.isdigit()) or len(offset) > 15:
        raise InvalidInput(
            "before: this is no place in the audit log.", "Use the `next` of the page before.", key="unknown_place"
        )
    return day, int(offset)
