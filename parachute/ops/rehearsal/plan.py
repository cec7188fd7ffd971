"""The plan of a rehearsal: a file in its scratch folder, which the processes inside of the namespace read."""

from pathlib import Path

import msgspec

from parachute.base.files import atomic_write, read_regular

_LIMIT = 4 * 1024 * 1024


class Plan(msgspec.Struct, frozen=True):
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
    binds: list[tuple[str, str]]
    views: list[tuple[str, str]]
    environment: dict[str, str]
    is_restored: bool

    def write(self, path: Path) -> Path:
        """Write it; error: OSError."""
        atomic_write(path, msgspec.json.encode(self))
        return path

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """Read what `write` wrote; errors: OSError, ValueError."""
        return msgspec.json.decode(read_regular(path, _LIMIT), type=cls)
