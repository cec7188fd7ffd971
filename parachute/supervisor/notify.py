"""Both ends of sd_notify: the socket on which a unit says that it is ready, and the few lines that say it."""

import asyncio
import contextlib
import functools
import os
import socket
from collections.abc import Callable
from pathlib import Path


class NotifySocket:
    """A datagram socket that calls `received` with each message; needs a running event loop."""

    def __init__(self, path: Path, received: Callable[[str], None]) -> None:
        self.path = path
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        path.chmod(0o600)
        self._socket.setblocking(False)
        self._received = received
        asyncio.get_running_loop().add_reader(self._socket, self._read)

    def close(self) -> None:
        """Stop listening and remove the socket."""
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()
        with contextlib.suppress(OSError):  # a disk that became read-only
            self.path.unlink(missing_ok=True)

    def _read(self) -> None:
        self._received(self._socket.recv(4096).decode(errors="replace"))


def notify(message: str) -> None:
    """Tell whoever started this process (`READY=1`, `WATCHDOG=1`, `STOPPING=1`); nothing happens without NOTIFY_SOCKET."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        _sender().sendto(message.encode(), address)
    except OSError:
        pass  # whoever started us has gone, or is busy: the next watchdog message counts as well


@functools.cache
def _sender() -> socket.socket:
    """Kept open: when there are no descriptors left, the watchdog must hear from us all the same."""
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.setblocking(False)
    return sender


def watchdog_interval() -> float | None:
    """Seconds between two WATCHDOG=1 messages (half of what is allowed), or None."""
    microseconds = os.environ.get("WATCHDOG_USEC")
    return int(microseconds) / 2_000_000 if microseconds and microseconds.isdigit() else None


async def feed_watchdog(is_well: Callable[[], bool] = lambda: True) -> None:
    """Send WATCHDOG=1 for ever while all is well; returns where nobody waits for it."""
    if (interval := watchdog_interval()) is not None:
        while True:
            if is_well():
                notify("WATCHDOG=1")
            await asyncio.sleep(interval)
