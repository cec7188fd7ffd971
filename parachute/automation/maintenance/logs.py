"""Copies of the logs for the maintenance agent: the end of each, without secrets, in a folder of its own."""

import os
from collections.abc import Iterable
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.base.redaction import redacted, shortened

LOG_BYTES = 512 * 1024
"""Of the end of each file."""

MOST_LOGS = 40
_AUDIT_DAYS = 2
_LINE = 4000
_PROBLEMS = (" WARNING ", " ERROR ", " CRITICAL ")


def copy_logs(logs: Path, audit: Path, target: Path, secrets: Iterable[str]) -> None:
    """Copy the ends of the newest logs, and of the newest files of the audit, into the private folder `target`.

    Waits for the disk. Error: OSError when they cannot be written.
    """
    known = tuple(secrets)
    found = [path for path in _files(logs) if path.name.endswith((".log", ".log.1"))]
    newest = sorted(found, key=lambda path: -path.lstat().st_mtime)[:MOST_LOGS]
    days = sorted(path for path in _files(audit) if path.suffix == ".jsonl")[-_AUDIT_DAYS:]
    for path, name in (*((path, path.name) for path in newest), *((path, f"audit-{path.name}") for path in days)):
        if (text := _end(path, known)) is not None:
            (target / name).write_text(redacted(text, known))


def problems(folder: Path, characters: int) -> str:
    """The last warnings and errors of core's copied log, for a model that cannot read files."""
    try:
        lines = (folder / "core.log").read_text().splitlines()
    except OSError:
        return ""
    return "\n".join(line for line in lines if any(word in line for word in _PROBLEMS))[-characters:]


def _files(folder: Path) -> list[Path]:
    try:
        with Folder.open(folder) as opened:
            return [folder / entry.name for entry in opened.entries() if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []


def _end(path: Path, known: tuple[str, ...]) -> str | None:
    """The last whole lines of a file, long ones cut; None for what is no file (any more)."""
    try:
        with Folder.open(path.parent) as folder, folder.file(path.name) as file:
            start = max(0, os.fstat(file.fileno()).st_size - LOG_BYTES)
            data = os.pread(file.fileno(), LOG_BYTES, start)
    except (OSError, InvalidInput):
        return None
    # A line that was cut in the middle may be the second half of a secret.
    _, _, whole = data.partition(b"\n") if start else (b"", b"", data)
    lines = whole.decode(errors="replace").split("\n")
    return "\n".join(line if len(line) <= _LINE else shortened(line, known, _LINE) for line in lines)
