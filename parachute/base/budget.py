"""Limits for untrusted peers, the same for strangers, sandboxes' sockets and modules' sockets.

Every limit stands here with its reason. Used by `web.http_connection` (HTTP), `egress` (the proxy), `supervisor.web`.
"""

import resource
import time
from collections import Counter
from collections.abc import Hashable

from msgspec import Struct

_MEGABYTE = 1024 * 1024

_DESCRIPTORS = 65_536
"""More than all limits below together; some programs walk through every number up to the limit that they inherit."""

HEADER_BYTES = 64 * 1024
"""Of one request, its address included: browsers send less than 16 KiB. Trailers and the sizes of chunks count as well."""

HEADERS = 100
HEADER_SECONDS = 10.0
"""From the connection, or the end of the last answer, to the end of the header; a phone on a bad network needs two."""

BODY_SECONDS = 30.0
BODY_RATE = 1024
"""A body has BODY_SECONDS, and a second more for each BODY_RATE bytes; time in which we do not read does not count."""

PIPELINED = 16
"""Requests that one connection may send before their answers; no browser and no library of ours sends two."""

VALUES = 10_000
"""Values of a JSON body of the API: the largest that the app sends, a message with attachments, has some hundred."""

VALUES_OF_AGENT = 200_000
"""Values of a request to the model: 1,000,000 tokens of conversation are some ten thousand blocks."""


class Limits(Struct, frozen=True):
    """At one listener: of one peer, and of all together; `reserved` connections are for trusted peers alone.

    `part` is what all connections may take of this process's descriptors: files and databases need some, too.
    """

    connections: int
    connections_of_all: int
    part: float = 0.125
    reserved: int = 0
    bytes: int = 64 * _MEGABYTE
    bytes_of_all: int = 128 * _MEGABYTE
    header_seconds: float = HEADER_SECONDS


PUBLIC = Limits(
    connections=64, connections_of_all=512, part=0.25, reserved=128, bytes=128 * _MEGABYTE, bytes_of_all=256 * _MEGABYTE
)
"""A browser opens six, an app some more; from this machine the reserve is there however many come from elsewhere.

Bytes are of bodies that are kept to be read as a whole: of a message with attachments 40 MB, six at a time."""

SANDBOX = Limits(connections=8, connections_of_all=256)
"""An agent's program has one or two requests open. Its body may have 32 MB, which is kept until the answer is complete."""

MODULE = Limits(connections=128, connections_of_all=512)
"""A module may ask for many things at a time, each on a connection of its own."""

CONNECTOR = Limits(connections=16, connections_of_all=64)
"""A connector hands over one batch at a time, and says besides how its connection is."""

SUPERVISOR = Limits(connections=48, connections_of_all=64, reserved=16)
"""Its own port on this machine: one request a connection; the reserve is for programs of the owner."""

SUPERVISOR_SECONDS = 10.0
"""For a whole request there, and for the server's answer to it."""

SUPERVISOR_BODY_BYTES = 64 * 1024

EGRESS = Limits(connections=64, connections_of_all=256)
"""Package managers open up to 32; each has a second connection, to the host."""


EVENTS = (2_000, 50.0)
"""Events of a module: at once, and each second more. An import publishes one for each thing; a loop would fill the disk."""

EVENT_BYTES = (16 * _MEGABYTE, 256 * 1024.0)


def raise_descriptors() -> None:
    """Let this process have as many descriptors as it may: systemd starts it with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        pass  # some systems have a lower limit that they do not report


class Budget:
    """Counts connections and bytes of the peers of one listener."""

    def __init__(self, limits: Limits) -> None:
        descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        fitting = limits.connections_of_all
        if descriptors != resource.RLIM_INFINITY:
            fitting = min(fitting, max(8, int(descriptors * limits.part)))
        self._limits = limits
        self._most = fitting
        self._reserved = limits.reserved * fitting // limits.connections_of_all
        self._connections: Counter[Hashable] = Counter()
        self._count = 0
        self._bytes: Counter[Hashable] = Counter()
        self._bytes_of_all = 0

    def connect(self, peer: Hashable, *, trusted: bool = False) -> bool:
        """Count a connection, if there may be one more."""
        if not self.has_room(trusted=trusted) or (not trusted and self.is_full(peer)):
            return False
        self._connections[peer] += 1
        self._count += 1
        return True

    def disconnect(self, peer: Hashable) -> None:
        """A connection that was counted has ended."""
        self._count -= 1
        _less(self._connections, peer, 1)

    def is_full(self, peer: Hashable) -> bool:
        """True if a peer has all the connections that one may have."""
        return self._connections[peer] >= self._limits.connections

    def has_room(self, *, trusted: bool = False) -> bool:
        """True if all peers together leave room for one more connection."""
        return self._count < (self._most if trusted else self._most - self._reserved)

    def hold(self, peer: Hashable, size: int) -> bool:
        """Count bytes that are kept for a peer, if there may be so many more."""
        if self._bytes[peer] + size > self._limits.bytes or self._bytes_of_all + size > self._limits.bytes_of_all:
            return False
        self._bytes[peer] += size
        self._bytes_of_all += size
        return True

    def release(self, peer: Hashable, size: int) -> None:
        """Bytes that were counted are not kept any more."""
        self._bytes_of_all -= size
        _less(self._bytes, peer, size)


class Rate:
    """So many at once, and so many more each second."""

    def __init__(self, at_once: float, each_second: float) -> None:
        self._most = self._left = at_once
        self._each_second = each_second
        self._looked = time.monotonic()

    def take(self, amount: float = 1) -> bool:
        """Take so many, if they may be had now; True if they were taken."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._looked) * self._each_second)
        self._looked = now
        if amount > self._left:
            return False
        self._left -= amount
        return True


def has_few_values(data: bytes | bytearray, most: int) -> bool:
    """Count the values of JSON before it is parsed, True for at most so many: each takes 60 bytes and more of memory.

    Whoever parses it in a thread holds up the event loop all the same, since Python's parser lets no other thread run.
    """
    if _signs(data) <= most:
        return True
    # Perhaps they stand in texts. What is left between two quotation marks is one, without those that are escaped.
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 4 * most:
        return False
    return sum(map(_signs, plain.split(b'"')[::2])) <= most


def _signs(data: bytes | bytearray) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def _less(counter: Counter[Hashable], peer: Hashable, amount: int) -> None:
    counter[peer] -= amount
    if counter[peer] <= 0:
        del counter[peer]
