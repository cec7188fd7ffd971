"""Limits of a listener, the target of a request, and its refusal."""

from collections.abc import Callable
from typing import ClassVar, Literal

from msgspec import Struct

from parachute.base.answers import Answer
from parachute.base.budget import EGRESS
from parachute.base.errors import ParachuteError


class Limits(Struct, frozen=True):
    """Limits of one connection, one listener and all listeners; seconds and bytes.

    `connect_seconds` is for finding the address and reaching it; `idle_seconds` passes without a byte in either
    direction; after `total_seconds` a connection ends whatever it does.
    """

    connections: int = EGRESS.connections
    connections_of_all: int = EGRESS.connections_of_all
    lookups: int = 4
    header_bytes: int = 32 * 1024
    header_seconds: float = 15.0
    connect_seconds: float = 20.0
    idle_seconds: float = 300.0
    total_seconds: float = 4 * 3600.0


Mode = Literal["off", "ask", "list"]


class Network(Answer, frozen=True, omit_defaults=True):
    """The network of a sandbox: none (`off`), the `hosts` alone (`list`), or others too once the owner allows them (`ask`).

    `repositories` are those that git uses in any case, as a person writes them.
    """

    mode: Mode
    hosts: tuple[str, ...]
    repositories: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """True for a sandbox that has a proxy at all."""
        return self.mode != "off" or bool(self.repositories)


NO_NETWORK = Network("off", ())


class Target(Struct, frozen=True):
    """The target of a request: a normal name or an address (never with brackets), and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Refused(ParachuteError):
    """A request that is not carried out; `status` is the HTTP status of the answer, `reason` the phrase beside it.

    Programs show the phrase where they do not show the body, as for CONNECT.
    """

    status = 403
    key = "egress_refused"
    reason: ClassVar[bytes] = b""


Unlisted = Callable[[Target], Refused]
"""The refusal of a host that is on no list; whoever gives it may ask the owner about the host."""
