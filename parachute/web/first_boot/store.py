"""The file `~/.parachute/setup.json`: how far the setting up has come."""

from pathlib import Path

import msgspec

from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, read_regular
from parachute.web.first_boot.models import Progress

_LIMIT = 4096


class ProgressStore:
    """Storage of the progress; whoever changes it holds `locked(store.path)`."""

    def __init__(self, home: Path) -> None:
        self.path = home / "setup.json"

    def read(self) -> Progress | None:
        """Return the progress in the file, None if there is none; error: ParachuteError (`setup_unreadable`)."""
        try:
            return msgspec.json.decode(read_regular(self.path, _LIMIT), type=Progress)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, ParachuteError) as error:
            raise ParachuteError(
                f"{self.path} cannot be read: {str(error).rstrip('.')}.",
                "`parachute first-boot --again` starts over.",
                status=503,
                key="setup_unreadable",
            ) from error

    def write(self, progress: Progress) -> None:
        """Replace the file; error: OSError."""
        atomic_write(self.path, msgspec.json.encode(progress) + b"\n", 0o600)
