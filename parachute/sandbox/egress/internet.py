"""Reaching a host: its name is resolved once, and the connection goes to the very address that was checked."""

import asyncio
import functools
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from parachute.sandbox.egress import addresses
from parachute.sandbox.egress.hosts import is_address
from parachute.sandbox.egress.models import Limits, Refused, Target
from parachute.security.kill_switch.switch import KillSwitch

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""(host, port) to addresses, in the order in which they are to be tried; error: OSError."""

Connect = Callable[..., Awaitable[Streams]]
"""(address, port) to an open connection, with `ssl` and `server_hostname` to one with TLS; error: OSError."""

BUFFER = 32 * 1024
"""Bytes; asyncio pauses a sender when twice as much waits to be read."""

_RESOLVER_THREADS = 16
_ADDRESSES = 6


class Unreachable(Refused):
    """A host that may be reached, and does not answer."""

    status = 502


class Internet:
    """The internet, as far as it is public."""

    def __init__(
        self, limits: Limits, resolve: Resolve | None, connect: Connect | None, kill_switch: KillSwitch | None = None
    ) -> None:
        self._limits = limits
        self._kill_switch = kill_switch
        # Threads of its own: a name server that hangs must not stop the files and databases of the server.
        self._threads = ThreadPoolExecutor(_RESOLVER_THREADS, "egress-resolver") if resolve is None else None
        self._resolve = resolve or self._ask_system
        self._connect = connect or functools.partial(asyncio.open_connection, limit=BUFFER)

    def close(self) -> None:
        """Give the threads back; one that still waits for a name server ends when that answers."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    async def reach(
        self,
        target: Target,
        lookups: asyncio.Semaphore,
        *,
        private: bool = False,
        own: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> Streams:
        """A connection to a host, with TLS where that is given; errors: Refused if it is not public or all agents are stopped, Unreachable.

        `private`: it may lie in the network at home. `own`: it may be this machine, which is closed to whatever runs in sandboxes,
        since programs here would take the server for the owner.
        """
        if self._kill_switch is not None and (panic := self._kill_switch.panic):
            stopped = panic.refusal()
            raise Refused(stopped.message, stopped.hint)
        found: Sequence[str] = ()
        try:
            async with asyncio.timeout(self._limits.connect_seconds):
                if is_address(target.host):
                    found = [target.host]
                else:
                    async with lookups:
                        found = await self._resolve(target.host, target.port)
                return await self._first(target, found, tls, private=private, own=own)
        except TimeoutError as error:
            what = "does not answer" if found else "could not be looked up in time"
            raise Unreachable(f"{target} {what}.", status=504) from error
        except UnicodeError as error:  # of the system's resolver, for a name that it cannot write
            raise Unreachable(f"{target.host} is not a name that can be looked up.") from error
        except ssl.SSLCertVerificationError as error:
            raise Unreachable(f"The certificate of {target} is not trusted: {error.verify_message}.") from error
        except OSError as error:
            if found:
                raise Unreachable(f"{target} cannot be reached: {error.strerror or error}.") from error
            raise Unreachable(f"{target.host} cannot be resolved: {error.strerror or error}.") from error

    async def _first(
        self, target: Target, found: Sequence[str], tls: ssl.SSLContext | None, *, private: bool, own: bool
    ) -> Streams:
        options: dict[str, Any] = {"ssl": tls, "server_hostname": target.host} if tls else {}
        refusals = {address: addresses.refusal(address, private=private, own=own) for address in dict.fromkeys(found)}
        public = [address for address, reason in refusals.items() if reason is None][:_ADDRESSES]
        if not public:
            reasons = sorted({reason for reason in refusals.values() if reason})
            raise Refused(
                f"{target.host} leads to {' and '.join(reasons) or 'no address'}.",
                "Only hosts of the internet can be reached, not this machine nor the network around it.",
            )
        for address in public[:-1]:
            try:
                # An address of a network that is broken here must leave time for the next one.
                async with asyncio.timeout(self._limits.connect_seconds / len(public)):
                    return await self._connect(address, target.port, **options)
            except OSError:  # TimeoutError is one too
                continue
        return await self._connect(public[-1], target.port, **options)

    async def _ask_system(self, host: str, port: int) -> Sequence[str]:
        lookup = functools.partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        answers = await asyncio.get_running_loop().run_in_executor(self._threads, lookup)
        return [str(answer[4][0]) for answer in answers]
