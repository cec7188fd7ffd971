"""The way of a request through the proxy, and services of this computer that choose it for a name of their own."""

import ssl
from collections.abc import Callable
from typing import Protocol

import h11
from msgspec import Struct

from parachute.sandbox.egress.hosts import AllowedHosts
from parachute.sandbox.egress.models import Refused, Target
from parachute.sandbox.egress.request import ProxyRequest


class Route(Struct, frozen=True):
    """The target of a request, what is sent there, and how its answer is passed on.

    `request` is None for a tunnel. `answer` gives the answer its headers, or raises Refused. `private`: the target may lie in the
    network at home. `holds` tells after a change of what is allowed whether the request may go on.
    """

    target: Target
    request: h11.Request | None
    answer: Callable[[h11.Response], h11.Response]
    holds: Callable[[], bool]
    private: bool = False
    own: bool = False
    tls: ssl.SSLContext | None = None


class Said(Struct, frozen=True):
    """A refusal as an answer of HTTP."""

    status: int
    kind: str
    body: bytes


def as_text(refused: Refused) -> Said:
    """A refusal as a person reads it."""
    text = f"{refused.message}\n{refused.hint}\n" if refused.hint else f"{refused.message}\n"
    return Said(refused.status, "text/plain; charset=utf-8", text.encode())


class Service(Protocol):
    """Interface that judges requests to a name, records them, and routes them."""

    def describe(self, asked: ProxyRequest) -> str:
        """Return a request as it may be recorded."""

    async def route(self, asked: ProxyRequest, request: h11.Request, allowed: Callable[[], AllowedHosts]) -> Route:
        """Return the route of a request of somebody who may reach these hosts now; error: Refused."""

    def said(self, asked: ProxyRequest, refused: Refused) -> Said:
        """Return the refusal of a request in the form that its program shows."""

    def decided(self, described: str, refused: Refused | None) -> None:
        """Record whether a request goes out."""

    def ended(self, described: str, sent: int, received: int, error: str | None) -> None:
        """Record the end of a request that went out: bytes in each direction, and what went wrong."""
