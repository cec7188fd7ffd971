"""Which commands the user has approved, by their hash: a file of its own, which no hook and no agent writes."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from parachute.clock import now
from parachute.errors import InvalidInput
from parachute.files import atomic_write, locked, read_regular
from parachute.hooks.commands import Command

_LIMIT = 1024 * 1024


class Approvals:
    """`hooks-approved.json` in the folder of trust; several programs write it."""

    def __init__(self, root: Path) -> None:
        self._path = root / "hooks-approved.json"

    def digests(self) -> frozenset[str]:
        """All approved hashes; error: InvalidInput if the file cannot be read, and then nothing is approved."""
        return frozenset(self._read())

    def approve(self, commands: Iterable[Command]) -> None:
        """Approve commands as they are now; what was approved of the same command lines before is not any more."""
        with locked(self._path):
            approved = self._read()
            for command in commands:
                approved = {digest: entry for digest, entry in approved.items() if entry["command"] != command.line}
                approved[command.digest] = {"command": command.line, "approved_at": now()}
            atomic_write(self._path, json.dumps({"approved": approved}, indent=2))

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            approved = json.loads(read_regular(self._path, _LIMIT))["approved"]
            if not all(isinstance(entry["command"], str) for entry in approved.values()):
                raise TypeError("an entry without its command")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidInput(
                f"{self._path} cannot be read, so no hook is approved: {error}.",
                "Remove the file and approve your hooks again: `parachute hooks approve`.",
            ) from error
        return dict(approved)
