"""Devices that are told, in `~/.parachute/push.json`: a file, so that the command line shows them without the server."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from parachute.base.errors import Conflict, Unavailable
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import read_private
from parachute.connectors.push.models import Subscription

FILE = "push.json"
MOST = 32
_LIMIT = 256 * 1024


class Subscriptions:
    """One for each device that is signed in; every method waits for the disk."""

    def __init__(self, root: Path) -> None:
        self._path = root / FILE

    def all(self) -> Sequence[Subscription]:
        """Return every one; error: Unavailable if the file is not understood."""
        try:
            return msgspec.json.decode(read_private(self._path, _LIMIT).data, type=list[Subscription])
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise Unavailable(
                f"{FILE} cannot be read, so that no device is told anything.",
                "Delete the file, and switch notices on again on each device.",
                key="push_unreadable",
            ) from error

    def put(self, subscription: Subscription, holds: Callable[[str], bool]) -> None:
        """Add one in place of that of the same device or browser; those of devices that are gone go. Error: Conflict if there are too many."""

        def with_it(known: Sequence[Subscription]) -> list[Subscription]:
            same = (subscription.device, subscription.endpoint)
            kept = [
                each for each in known if each.device != same[0] and each.endpoint != same[1] and holds(each.device)
            ]
            if len(kept) >= MOST:
                raise Conflict(
                    f"{MOST} devices are told already.", "Remove one of them first.", key="too_many_told_devices"
                )
            return [*kept, subscription]

        self._change(with_it)

    def note(self, device: str, endpoint: str, *, said_at: str | None = None, problem: str | None = None) -> None:
        """Note how telling a device went."""

        def noted(each: Subscription) -> Subscription:
            is_it = each.device == device and each.endpoint == endpoint
            return replace(each, said_at=said_at or each.said_at, problem=problem) if is_it else each

        self._change(lambda known: [noted(each) for each in known])

    def remove(self, is_gone: Callable[[Subscription], bool]) -> None:
        """Forget those of which this is true."""
        self._change(lambda known: [each for each in known if not is_gone(each)])

    def _change(self, edit: Callable[[Sequence[Subscription]], list[Subscription]]) -> None:
        with locked(self._path):
            before = self.all()
            after = edit(before)
            if after != before:
                atomic_write(self._path, msgspec.json.encode(after), 0o600)
