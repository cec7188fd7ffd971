"""The file `~/.parachute/phone.json`: an order that the next start of the server settles."""

from pathlib import Path

import msgspec

from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, read_regular
from parachute.ops.phone.models import Order

_LIMIT = 4096


class OrderStore:
    """Storage of the order; every method waits for the disk."""

    def __init__(self, home: Path) -> None:
        self._path = home / "phone.json"

    def read(self) -> Order | None:
        """Return the order, None if there is none, or one that is not understood: then nothing is changed."""
        try:
            return msgspec.json.decode(read_regular(self._path, _LIMIT), type=Order)
        except (OSError, ValueError, ParachuteError):
            return None

    def write(self, order: Order) -> None:
        """Replace the file; error: OSError."""
        atomic_write(self._path, msgspec.json.encode(order) + b"\n", 0o600)

    def remove(self) -> None:
        """Remove the file; error: OSError."""
        self._path.unlink(missing_ok=True)
