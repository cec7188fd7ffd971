"""The keys, read without closing or changing their file."""

from parachute.base.files import read_regular
from parachute.ops.doctor.computer import Computer
from parachute.security.keys.document import parse_document
from parachute.security.keys.models import Key
from parachute.security.keys.store import MAXIMUM_BYTES


def read_keys(computer: Computer) -> tuple[Key, ...]:
    """Return all keys; error: KeysUnreadable."""
    path = computer.home.root / "keys.yaml"
    try:
        return parse_document(read_regular(path, MAXIMUM_BYTES), path)
    except FileNotFoundError:
        return ()
