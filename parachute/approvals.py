"""What the user has approved, by its hash: files in the folder of trust, which no module and no agent writes."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from parachute.clock import now
from parachute.errors import InvalidInput
from parachute.files import atomic_write, locked, read_regular

_LIMIT = 1024 * 1024


class ApprovedHashes:
    """One such file; several programs write it. `field` names what was approved in it, `what` and `hint` are for people."""

    def __init__(self, path: Path, field: str, what: str, hint: str) -> None:
        self._path = path
        self._field = field
        self._what = what
        self._hint = hint

    def digests(self) -> frozenset[str]:
        """All approved hashes; error: InvalidInput if the file cannot be read, and then nothing is approved."""
        return frozenset(self._read())

    def entries(self) -> Mapping[str, Mapping[str, Any]]:
        """What is known of each approved hash; error: InvalidInput as for `digests`."""
        return self._read()

    def approve(self, found: Iterable[tuple[str, str]], **details: Any) -> None:
        """Approve (name, hash) pairs; what was approved of the same names before is not any more.

        `details` are kept beside each: what the user allowed together with it.
        """
        with locked(self._path):
            approved = self._read()
            for name, digest in found:
                approved = {known: entry for known, entry in approved.items() if entry[self._field] != name}
                approved[digest] = {self._field: name, "approved_at": now(), **details}
            atomic_write(self._path, json.dumps({"approved": approved}, indent=2))

    def withdraw(self, name: str) -> None:
        """Approve nothing of this name any more."""
        with locked(self._path):
            approved = {known: entry for known, entry in self._read().items() if entry[self._field] != name}
            atomic_write(self._path, json.dumps({"approved": approved}, indent=2))

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            approved = json.loads(read_regular(self._path, _LIMIT))["approved"]
            if not all(isinstance(entry[self._field], str) for entry in approved.values()):
                raise TypeError(f"an entry without its {self._field}")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidInput(
                f"{self._path} cannot be read, so no {self._what} is approved: {error}.", self._hint
            ) from error
        return dict(approved)
