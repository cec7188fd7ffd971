"""The file `~/.parachute/setup.json`: how far the setting up has come."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

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
            return _parsed(json.loads(read_regular(self.path, _LIMIT)))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, RecursionError, ParachuteError) as error:
            raise ParachuteError(
                f"{self.path} cannot be read: {str(error).rstrip('.')}.",
                "`parachute first-boot --again` starts over.",
                status=503,
                key="setup_unreadable",
            ) from error

    def write(self, progress: Progress) -> None:
        """Replace the file; error: OSError."""
        atomic_write(self.path, json.dumps(asdict(progress)) + "\n", 0o600)


def _parsed(document: Any) -> Progress:
    progress = Progress(**document)
    texts = (progress.key, progress.boot, progress.done_at)
    if not all(text is None or isinstance(text, str) for text in texts) or not isinstance(progress.used, bool):
        raise TypeError("one of its fields has the wrong type")
    return progress
