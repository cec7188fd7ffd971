"""Connections to servers at home: a name such as box.local leads to an address there, or nowhere."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

import httpx2

from parachute.llm.gateway.providers import is_address_at_home

Lookup = Callable[[str], Awaitable[Sequence[str]]]


class HomeTransport(httpx2.AsyncHTTPTransport):
    """Connects to addresses at home only, whatever the name service says; `lookup` gives those of a name."""

    def __init__(self, lookup: Lookup | None = None) -> None:
        super().__init__()
        self._lookup = lookup or _ask_system

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the first address that takes a connection; error: ConnectError."""
        host = request.url.host
        try:
            found = await self._lookup(host)
        except OSError as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        addresses = [each for each in found if is_address_at_home(each) and "%" not in each]
        if not addresses:
            raise httpx2.ConnectError(f"{host} leads to no address at home", request=request)
        # The certificate is still that of the name, and so is the header `Host`.
        named = {**request.extensions, "sni_hostname": host}
        for left, address in enumerate(addresses, 1 - len(addresses)):
            url = request.url.copy_with(host=address)
            sent = httpx2.Request(request.method, url, headers=request.headers, stream=request.stream, extensions=named)
            try:
                return await super().handle_async_request(sent)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if not left:
                    raise
        raise AssertionError("the last address answers, or its error is raised")


async def _ask_system(host: str) -> Sequence[str]:
    answers = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))
