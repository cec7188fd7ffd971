"""Proof that the kit opens the backups: `~/.parachute/backup/kit.json`, which holds for one place and password."""

import hashlib
import hmac
import json
import secrets
from typing import TYPE_CHECKING

from msgspec import Struct

from parachute.base.clock import now
from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.base.secret_files import read_secret
from parachute.config.settings.home import Home
from parachute.ops.backup.access import SECRETS, Access, access_of
from parachute.ops.backup.places import FOLDER
from parachute.ops.backup.state import State

if TYPE_CHECKING:  # pydantic, for which nobody should wait
    from parachute.config.settings.models import Settings

FILE = "kit.json"
_LIMIT, _VERSION = 16 * 1024, 1

NOT_PROTECTED = "The backups are not protected yet: the emergency kit has not been tested."

TO_PROTECT = (
    "Print the kit and type its password back: under Computer → Backups in a browser, or with `parachute backup kit` and "
    "`parachute backup kit --check`."
)


class Opened(Struct, frozen=True):
    """Time at which the kit has opened the present backups, and the id of their repository."""

    at: str
    identity: str


def opened(home: Home, settings: "Settings") -> Opened | None:
    """Return when the kit has opened the backups; None if it never did, or their place, password or credentials are others since."""
    try:
        document = json.loads(read_regular(home.root / FOLDER / FILE, _LIMIT))
        found = Opened(str(document["opened_at"]), str(document["identity"]))
        salt, digest = bytes.fromhex(document["salt"]), str(document["digest"])
        return found if hmac.compare_digest(digest, _digest(access_of(home, settings), salt)) else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError, ParachuteError):
        return None


def record(home: Home, access: Access, identity: str) -> Opened:
    """Note that the kit of these backups has opened them; errors: OSError, InvalidInput."""
    salt = secrets.token_bytes(16)
    found = Opened(now(), identity)
    # Beside the password itself: the digest, of which nobody learns it, only tells whether it is another one since.
    entry = {"version": _VERSION, "opened_at": found.at, "identity": identity, "salt": salt.hex()}
    path = private_folder(home.root / FOLDER) / FILE
    atomic_write(path, json.dumps({**entry, "digest": _digest(access, salt)}, indent=2), 0o600)
    return found


def concerns(home: Home, settings: "Settings") -> list[str]:
    """Return the problems of the present backups, a sentence each."""
    if not settings.backup.repository:
        return ["No place for backups is set."]
    state = State.read(home.root)
    found = state.concerns()
    if state.last_made is not None and opened(home, settings) is None:
        found.append(NOT_PROTECTED)
    return found


def named_credentials(home: Home, settings: "Settings") -> list[str]:
    """The names of the credentials with which the place is opened; none if they cannot be read."""
    try:
        return sorted(access_of(home, settings).variables)
    except (ParachuteError, OSError):
        return []


def _digest(access: Access, salt: bytes) -> str:
    password = read_secret(access.password_file, "backup.password").strip()
    variables = sorted((name, value) for name, value in access.variables.items() if name in SECRETS)
    text = json.dumps([access.repository, password.decode(errors="surrogateescape"), variables])
    return hmac.digest(salt, text.encode(errors="surrogateescape"), hashlib.sha256).hex()
