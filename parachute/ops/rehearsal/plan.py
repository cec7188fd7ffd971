"""The plan of a rehearsal: a file in its scratch folder, which the processes inside of the namespace read."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from parachute.base.files import atomic_write, read_regular

_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """Mounts of a rehearsal, and the programs that run on them.

    `binds` are folders and where they are mounted, `views` folders and the copy-on-write views that take their place. `shown` are
    folders below /tmp and /run that stay visible, `masked` are files that look empty. No path of these leads through a link but
    those of `shown`. `is_restored`: only whether the computer starts from what a backup has brought back.
    """

    home: str
    vault: str
    port: int
    python: str
    old_python: str
    shown: list[str]
    masked: list[str]
    binds: list[list[str]]
    views: list[list[str]]
    environment: dict[str, str]
    is_restored: bool

    def write(self, path: Path) -> Path:
        """Write it; error: OSError."""
        atomic_write(path, json.dumps(asdict(self)))
        return path

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """Read what `write` wrote; errors: OSError, ValueError, TypeError."""
        return cls(**json.loads(read_regular(path, _LIMIT)))
