"""Makes systemd 257 take the first process of a namespace (PrivatePIDs) for its own child, which it sometimes does not.

There such a process has a parent of its own for a moment, and where the manager looks in just this moment, it takes the
process for somebody else's for good: it then asks it to end and kills it at once, since it believes that it could not wait
for it (systemd #36446, mended in 258). It checks again when another main process is announced, and then of this one again.
"""

import array
import os
import select
import socket
from collections.abc import MutableMapping

ANNOUNCED = "PARACHUTE_ANNOUNCED_MAIN_PROCESS"
_BARRIER_SECONDS = 5


def announce(environment: MutableMapping[str, str]) -> None:
    """Have systemd look again, where its unit asks for it by ANNOUNCED; to be called while there is only one thread.

    It takes some milliseconds. Only the main process may say who that is, so each of the two names the other.
    """
    if environment.pop(ANNOUNCED, None) is None or "NOTIFY_SOCKET" not in environment:
        return
    address = environment["NOTIFY_SOCKET"]
    own = os.pidfd_open(os.getpid())
    named, naming = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(naming)
            os.read(named, 1)
            _send(address, "MAINPIDFD=1", own)
            _wait(address)
        finally:
            os._exit(0)
    other = os.pidfd_open(child)
    try:
        _send(address, "MAINPIDFD=1", other)
    finally:
        for descriptor in (naming, named, own, other):
            os.close(descriptor)
        os.waitpid(child, 0)


def _send(address: str, message: str, descriptor: int) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        rights = array.array("i", [descriptor])
        sender.sendmsg([message.encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)], 0, address)


def _wait(address: str) -> None:
    """Until systemd has read what was sent: it would not believe a message of a process that is gone."""
    reader, writer = os.pipe()
    _send(address, "BARRIER=1", writer)
    os.close(writer)
    poll = select.poll()
    poll.register(reader, 0)
    poll.poll(_BARRIER_SECONDS * 1000)
