"""The plan of a rehearsal: a file in its scratch folder, which the processes inside of the namespace read."""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from parachute.base.files import atomic_write, read_regular
from parachute.ops.rehearsal.staging import Staged

_LIMIT = 4 * 1024 * 1024

Purpose = Literal["rehearsal", "probe", "restored"]
"""All checks; or only whether a sandbox works in the namespace; or only whether a computer starts from what a backup has brought back."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Mounts of a rehearsal, and the programs that run on them.

    `binds` are folders of copies and where they are mounted, `views` folders and the copy-on-write views that take their place;
    `databases` are whole copies of databases and where they belong, once everything is mounted. `shown` are folders below /tmp and
    /run that stay visible, `masked` are files that look empty. No path of these leads through a link but those of `shown`.
    """

    home: str
    vault: str
    port: int
    python: str
    old_python: str
    shown: list[str]
    masked: list[str]
    binds: list[tuple[str, str]] = field(default_factory=list)
    views: list[tuple[str, str]] = field(default_factory=list)
    databases: list[tuple[str, str]] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    purpose: Purpose = "rehearsal"

    def on(self, staged: Staged, purpose: Purpose = "rehearsal") -> "Plan":
        """Return this plan with the copies mounted."""
        return replace(self, binds=staged.binds, views=staged.views, databases=staged.databases, purpose=purpose)

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
