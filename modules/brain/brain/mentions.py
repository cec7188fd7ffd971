"""Mentions of entities, recorded by other modules: Brain/mentions/2024-01.jsonl, one line each, a file for each month."""

import datetime
import json
import re
from collections.abc import Iterator

from parachute.core import Conflict, InvalidInput
from parachute.core.files import Files

FOLDER = "Brain/mentions"

_SOURCE = re.compile(r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]{0,298}[^\s\x00-\x1f\x7f])?")
_TRIES = 5


def check_source(source_id: str) -> str:
    """The id of something that another module keeps; error: InvalidInput."""
    if not _SOURCE.fullmatch(source_id):
        raise InvalidInput(
            "source_id: the id of something, up to 300 characters, is expected.", key="invalid_source_id"
        )
    return source_id


async def add(files: Files, source_id: str, para_id: str, now: datetime.datetime) -> tuple[str, str]:
    """Note one mention; its file and its time. Error: Conflict when the file changes all the time."""
    path, at = f"{FOLDER}/{now:%Y-%m}.jsonl", now.isoformat(timespec="seconds").replace("+00:00", "Z")
    line = json.dumps({"source_id": source_id, "para_id": para_id, "at": at}, ensure_ascii=False)
    for _ in range(_TRIES):
        known = await files.read_bytes(path) if await files.stat(path) is not None else None
        before = known or b""
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        if await files.replace(path, before + gap + line.encode() + b"\n", known):
            return path, at
    raise Conflict(f"{path} is being changed by another program.", "Try again.", key="file_busy")


async def remove(files: Files, path: str, source_id: str, para_id: str) -> None:
    """Remove one mention from its file; lines that nobody understands stay. Error: Conflict."""
    for _ in range(_TRIES):
        known = await files.read_bytes(path)
        kept = [line for line in known.splitlines(keepends=True) if parse_line(line)[:2] != (source_id, para_id)]
        if await files.replace(path, b"".join(kept), known):
            return
    raise Conflict(f"{path} is being changed by another program.", "Try again.", key="file_busy")


def parse(data: bytes) -> Iterator[tuple[str, str, str]]:
    """Source, para-id and time of each line that has them."""
    for line in data.splitlines():
        found = parse_line(line)
        if found[0]:
            yield found


def parse_line(line: bytes) -> tuple[str, str, str]:
    """Source, para-id and time of a line, all empty if it is none."""
    try:
        value = json.loads(line)
        source, para_id, at = value["source_id"], value["para_id"], value["at"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", "", ""
    if not all(isinstance(text, str) for text in (source, para_id, at)) or not _SOURCE.fullmatch(source):
        return "", "", ""
    return source, para_id, at
