"""The keys, read without closing or changing their file."""

from parachute.doctor.computer import Computer
from parachute.files import read_regular
from parachute.keys.document import parse_document
from parachute.keys.models import Key
from parachute.keys.store import MAXIMUM_BYTES


def read_keys(computer: Computer) -> tuple[Key, ...]:
    """All keys; error: KeysUnreadable."""
    path = computer.home.root / "keys.yaml"
    try:
        return parse_document(read_regular(path, MAXIMUM_BYTES), path)
    except FileNotFoundError:
        return ()
