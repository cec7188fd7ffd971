"""The plan of a rehearsal: a file in its scratch folder, which the processes inside of the namespace read."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from parachute.base.files import atomic_write, read_regular

_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """What is mounted where, and what runs on it.

    `binds` are folders of copies and where they are mounted, `views` folders and the copy-on-write views that take their place;
    `databases` are whole copies of databases and where they belong, once everything is mounted. `shown` are folders below /tmp and
    /run that stay visible, `masked` are files that look empty.
    """

    home: str
    vault: str
    port: int
    python: str
    old_python: str
    binds: list[tuple[str, str]]
    views: list[tuple[str, str]]
    databases: list[tuple[str, str]]
    shown: list[str]
    masked: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    is_probe: bool = False
    """Only whether a sandbox works in the namespace is found out."""

    def write(self, path: Path) -> Path:
        """Write it; error: OSError."""
        atomic_write(path, json.dumps(asdict(self)))
        return path

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """Read what `write` wrote; errors: OSError, ValueError, TypeError."""
        document = json.loads(read_regular(path, _LIMIT))
        for name in ("binds", "views", "databases"):
            document[name] = [(str(source), str(target)) for source, target in document[name]]
        return cls(**document)
