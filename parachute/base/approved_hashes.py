"""Approvals by hash: files in the state directory, which no module and no agent writes."""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from parachute.base.clock import now
from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, locked, private_folder, read_regular

_LIMIT = 1024 * 1024
_TEXT_LIMIT = 256 * 1024
"""Bytes of an approved file that are kept, so that a later change can be shown as such."""


class ApprovedHashes:
    """One such file; several programs write it. `field` names what was approved in it, `what` and `hint` are for people.

    The approved files themselves are kept by hash in a folder next to it, of the same name.
    """

    def __init__(self, path: Path, field: str, what: str, hint: str) -> None:
        self._path = path
        self._field = field
        self._what = what
        self._hint = hint

    def digests(self) -> frozenset[str]:
        """All approved hashes; error: InvalidInput if the file cannot be read, and then nothing is approved."""
        return frozenset(self._read())

    def entries(self) -> Mapping[str, Mapping[str, Any]]:
        """The entry of each approved hash; error: InvalidInput as for `digests`."""
        return self._read()

    def entry(self, name: str) -> Mapping[str, Any] | None:
        """The entry that was approved under this name; error: InvalidInput as for `digests`."""
        return next((entry for entry in self._read().values() if entry[self._field] == name), None)

    def texts(self, name: str) -> Mapping[str, bytes]:
        """The files that were approved with this name, by their paths, as far as they are kept; error: InvalidInput."""
        found: dict[str, bytes] = {}
        for path, digest in ((self.entry(name) or {}).get("texts") or {}).items():
            with contextlib.suppress(OSError, InvalidInput):
                found[path] = read_regular(self._folder / digest, _TEXT_LIMIT)
        return found

    def approve(
        self, found: Iterable[tuple[str, str]], texts: Mapping[str, bytes] | None = None, **details: Any
    ) -> None:
        """Approve (name, hash) pairs; what was approved of the same names before is not any more.

        `texts` are the files that were seen, by their paths; `details` are stored with each: what the user allowed together with it.
        """
        with locked(self._path):
            if texts:
                details["texts"] = {path: self._keep(content) for path, content in texts.items()}
            approved = self._read()
            for name, digest in found:
                approved = {known: entry for known, entry in approved.items() if entry[self._field] != name}
                approved[digest] = {self._field: name, "approved_at": now(), **details}
            atomic_write(self._path, json.dumps({"approved": approved}, indent=2))
            self._forget(approved)

    def withdraw(self, name: str) -> None:
        """Approve nothing of this name any more."""
        with locked(self._path):
            approved = {known: entry for known, entry in self._read().items() if entry[self._field] != name}
            atomic_write(self._path, json.dumps({"approved": approved}, indent=2))
            self._forget(approved)

    @property
    def _folder(self) -> Path:
        return self._path.with_suffix("")

    def _keep(self, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        if len(content) <= _TEXT_LIMIT:
            atomic_write(private_folder(self._folder) / digest, content)
        return digest

    def _forget(self, approved: Mapping[str, Mapping[str, Any]]) -> None:
        kept = {digest for entry in approved.values() for digest in (entry.get("texts") or {}).values()}
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path.name not in kept:
                path.unlink(missing_ok=True)

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            approved = json.loads(read_regular(self._path, _LIMIT))["approved"]
            if not all(isinstance(entry[self._field], str) for entry in approved.values()):
                raise TypeError(f"an entry without its {self._field}")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidInput(
                f"{self._path} cannot be read, so no {self._what} is approved: {error}.",
                self._hint,
                key="approvals_unreadable",
            ) from error
        return dict(approved)
