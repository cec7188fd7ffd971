"""Requests that modules are answering: what a module does in the name of one is allowed as far as the request is."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import parse_qsl

from fastapi import Request
from msgspec import Struct
from starlette.types import Scope

from parachute.base.errors import NotAllowed
from parachute.security.keys.models import Caller
from parachute.web.access.owner import is_owner
from parachute.web.access.routing import needed

HEADER = b"x-parachute-request"


class Asking(Struct, frozen=True):
    """A request to a module: who sent it, and whether with the owner's rights; `query` has the last value of each parameter."""

    module: str
    caller: Caller
    by_owner: bool
    query: Mapping[str, str]

    @classmethod
    async def of(cls, module: str, scope: Scope) -> "Asking":
        """Read a request that has passed the table of capabilities."""
        by_owner = needed(scope["method"], scope["path"]).capability == "admin" or await is_owner(Request(scope))
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        return cls(module, scope["state"]["caller"], by_owner, dict(query))


class Requests:
    """Requests under way, each by a word that only the module which answers it is told."""

    def __init__(self) -> None:
        self._under_way: dict[str, Asking] = {}

    @contextmanager
    def answering(self, asking: Asking) -> Iterator[str]:
        """Know a request for the time of its answer."""
        word = secrets.token_hex(16)
        self._under_way[word] = asking
        try:
            yield word
        finally:
            del self._under_way[word]

    def get(self, module: str, word: str) -> Asking:
        """A request that this module is answering; error: NotAllowed."""
        found = self._under_way.get(word)
        if found is None or found.module != module:
            raise NotAllowed(
                f"The module {module} does not answer this request.",
                "Begin it in a route, and pass on the request that the route was called with.",
                key="request_not_under_way",
            )
        return found
