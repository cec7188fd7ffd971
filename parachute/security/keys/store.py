"""A file of keys in `~/.parachute`: read strictly, replaced whole, shared by several programs."""

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec import Struct

from parachute.base.errors import Conflict, ParachuteError
from parachute.base.files import atomic_write, locked, read_regular
from parachute.base.known_files import KnownFiles
from parachute.base.private_files import NotPrivate, check_private_folder, read_private
from parachute.base.signatures import Signature, current_signature
from parachute.security.keys.document import KEYS, Form, KeysUnreadable, Refused, parse_document
from parachute.security.keys.models import CAPABILITIES, Key

log = logging.getLogger(__name__)

MAXIMUM_BYTES = 1_048_576
MAXIMUM_KEYS = 500


class StoredKeys(Struct, frozen=True):
    """The keys of the file, the signature of the state that was read, and what had to be put right."""

    keys: tuple[Key, ...] = ()
    refused: tuple[Refused, ...] = ()
    signature: Signature | None = None
    warnings: tuple[str, ...] = ()


class KeyStore:
    """Storage of the keys, in a file in the state directory."""

    def __init__(self, home: Path, form: Form = KEYS) -> None:
        self.path = home / form.file
        self._addresses = home / form.addresses
        self._form = form
        self._known = KnownFiles(home)

    @property
    def noun(self) -> str:
        """Return the noun for the entries."""
        return self._form.noun

    def signature(self) -> Signature | None:
        """Return the signature of the file without reading it; None if it does not exist."""
        try:
            return current_signature(self.path)
        except OSError as error:
            raise KeysUnreadable(f"{self.path} cannot be read: {error.strerror or error}.") from error

    @property
    def is_gone(self) -> bool:
        """Return whether the file of keys existed and is gone: it was lost, since revoking the last key leaves an empty one."""
        return not self.path.exists() and self.path in self._known

    def addresses(self) -> dict[str, str]:
        """Return the address from which each was used last, by its id; none where they cannot be read."""
        try:
            return msgspec.json.decode(read_regular(self._addresses, MAXIMUM_BYTES), type=dict[str, str])
        except (OSError, ValueError, ParachuteError):
            return {}  # what they tell is for people alone

    def write_addresses(self, addresses: Mapping[str, str]) -> None:
        """Replace these; in a file of its own, since no version before reads other fields of an entry. Error: OSError."""
        atomic_write(self._addresses, msgspec.json.encode(addresses), 0o600)

    def load(self) -> StoredKeys:
        """Read all keys; no file means no keys, anything that is not understood is KeysUnreadable."""
        try:
            file = read_private(self.path, MAXIMUM_BYTES)
        except FileNotFoundError:
            return StoredKeys()
        except NotPrivate as error:
            raise KeysUnreadable(error.message, error.hint) from error
        except OSError as error:
            raise KeysUnreadable(f"{self.path} cannot be read: {error.strerror or error}.") from error
        document = parse_document(file.data, self.path, self._form)
        for refused in document.refused:
            log.warning(refused.sentence)
        return StoredKeys(document.keys, document.refused, file.signature, file.warnings)

    def change(self, edit: Callable[[tuple[Key, ...]], tuple[Key, ...]]) -> None:
        """Replace the keys with what `edit` makes of those in the file now; a file that cannot be read stays as it is.

        Waits for other programs that change the file, so call it outside of an event loop.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_private_folder(self.path.parent)
        with locked(self.path):
            stored = self.load()
            before = stored.keys
            after = edit(before)
            if after == before:
                return
            text = _render(after, self._form, [refused.entry for refused in stored.refused])
            if len(after) > MAXIMUM_KEYS or len(text.encode()) > MAXIMUM_BYTES:
                raise Conflict(
                    f"There are already {len(before)} {self._form.noun}.",
                    f"Revoke one first: {self._form.revoke}",
                    key="too_many_keys",
                )
            atomic_write(self.path, text, 0o600)
            if self._form is KEYS:  # that browsers have to sign in again is nothing to be told of
                self._known.add([self.path])


def _render(keys: tuple[Key, ...], form: Form, kept: list[Any]) -> str:
    """The text of the file; entries with a mistake stay in it, until somebody puts them right."""
    entries = [
        {
            "id": key.id,
            "name": key.label,
            "key_hash": f"sha256:{key.hash}",
            "scopes": [
                {"module": scope.module, "capabilities": [word for word in CAPABILITIES if word in scope.capabilities]}
                for scope in key.scopes
            ],
        }
        | ({"created": _timestamp(key.created_at)} if key.created_at else {})
        | ({"last_used": _timestamp(key.last_used_at)} if key.last_used_at else {})
        | ({"signed_in_with": key.parent} if key.parent else {})
        for key in keys
    ]
    return yaml.safe_dump({form.listed: [*entries, *kept]}, sort_keys=False, allow_unicode=True)


def _timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
