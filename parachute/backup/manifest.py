"""The manifest of a backup: a line of JSON for each file, folder and link, closed by the hash of all lines before."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

from parachute.backup.models import Damaged, Entry

FILE = "manifest.jsonl"
_VERSION = 1
_LINE = 64 * 1024
_FARTHEST = (1 << 63) * 1_000_000_000
"""Of a time, in ns: the system counts seconds in 64 bits."""
_DEFAULTS = {field.name: field.default for field in fields(Entry)}


@dataclass(frozen=True, slots=True)
class Manifest:
    """`about` says part, root, run, when and where it was made; entries come with their folders before them."""

    about: Mapping[str, Any]
    entries: Mapping[str, Entry]

    @property
    def bytes(self) -> int:
        """The room that the files take."""
        return sum(entry.size for entry in self.entries.values())


def write(manifest: Manifest, path: Path) -> None:
    """Write the new file `path`; error: OSError."""
    digest = hashlib.sha256()
    with path.open("xb") as file:
        for line in _lines(manifest):
            digest.update(line)
            file.write(line)
        file.write(_line({"end": len(manifest.entries), "sha256": digest.hexdigest()}))


def read(file: IO[bytes], part: str) -> Manifest:
    """The manifest of a part; error: Damaged."""
    digest = hashlib.sha256()
    entries: dict[str, Entry] = {}
    try:
        first = file.readline(_LINE)
        about = json.loads(first)
        if about["version"] != _VERSION or about["part"] != part:
            raise ValueError(f"it is a manifest of {about['part']}, version {about['version']}")
        digest.update(first)
        while line := file.readline(_LINE):
            value = json.loads(line)
            if "end" in value:
                if value != {"end": len(entries), "sha256": digest.hexdigest()} or file.read(1):
                    raise ValueError("its closing line does not fit what is above it")
                return Manifest(about, entries)
            digest.update(line)
            entry = _entry(value)
            if entry.path in entries:
                raise ValueError(f"{entry.path!r} is in it twice")
            entries[entry.path] = entry
        raise ValueError("it breaks off")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(f"The manifest of this backup cannot be believed: {error}.", "Take an older backup.") from error


def _lines(manifest: Manifest) -> Iterator[bytes]:
    yield _line({"version": _VERSION, **manifest.about})
    for entry in manifest.entries.values():
        yield _line(
            {name: value for name, value in asdict(entry).items() if value != _DEFAULTS[name] or name == "path"}
        )


def _line(value: Mapping[str, Any]) -> bytes:
    # In ASCII: names that are no UTF-8 are surrogates, which nothing else could hold.
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _entry(value: Mapping[str, Any]) -> Entry:
    entry = Entry(**value)
    parts = entry.path.split("/")
    if entry.path != "." and (not all(parts) or {".", ".."} & set(parts) or "\0" in entry.path):
        raise ValueError(f"{entry.path!r} is no path in it")
    if entry.kind not in ("file", "folder", "link") or (entry.kind == "link") != isinstance(entry.target, str):
        raise ValueError(f"{entry.path!r} is of no kind that there is")
    if entry.content and not entry.content.isdigit():
        raise ValueError(f"{entry.path!r} has its content in no place that there is")
    if not isinstance(entry.mode, int) or not 0 <= entry.mode <= 0o7777 or not isinstance(entry.size, int):
        raise ValueError(f"{entry.path!r} has no mode or size")
    if entry.size < 0 or not isinstance(entry.modified, int | None) or not isinstance(entry.twin, str | None):
        raise ValueError(f"{entry.path!r} is described as no file can be")
    if abs(entry.modified or 0) >= _FARTHEST:
        raise ValueError(f"{entry.path!r} has a time that no file can have")
    return entry
