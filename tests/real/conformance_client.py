"""Our client, as the conformance suite calls it: an installation with the suite's server, which offers its tools and calls them.

The suite's authorization servers are other ports of this machine, where we sign in nowhere, so the suite is a machine at home here.
"""

import asyncio
import json
import os
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.capabilities.mcp_servers.logins.service import Callback
from tests.capabilities.mcp_servers.remote_servers import RemoteServers, browse, remote_servers

THERE, HERE = b"localhost", b"suite.lan"
"""Names of the same length, so that one takes the place of the other wherever it stands."""

ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}
_LOGINS = 3
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def main(url: str) -> None:
    """Connect, sign in as often as the server wants it, look at the tools and call each of them."""
    with tempfile.TemporaryDirectory() as folder:
        async with remote_servers(Path(folder), resolve=_resolve, connect=_connect) as servers:
            servers.put("suite", url.replace(THERE.decode(), HERE.decode()))
            for _ in range(_LOGINS):
                await _use(servers)
                if servers.service.statuses.of(servers.catalog.get("suite"))[0] != "needs_login":
                    break
                await _sign_in(servers)


async def _use(servers: RemoteServers) -> None:
    tools, warnings = await servers.service.offered("all", None)
    _say(*(text for _, text in warnings))
    for tool in tools:
        try:
            _say(await servers.service.call("suite", tool.name, ARGUMENTS.get(tool.name, {})))
        except ParachuteError as error:
            _say(error)


async def _sign_in(servers: RemoteServers) -> None:
    """Sign in as the owner does, who allows the host that the error names."""
    context: dict[str, str] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    client = (context["client_id"], context.get("client_secret")) if "client_id" in context else None
    here = "http://127.0.0.1:3333/api/mcps/oauth/callback"
    hosts: list[str] = []
    while True:
        try:
            pending = await servers.service.begin_login("suite", here, hosts, client)
        except ParachuteError as error:
            named = error.fields.get("hosts", [])
            if error.key != "host_not_allowed" or named == hosts:
                raise
            hosts = named
        else:
            break
    arrived = await asyncio.to_thread(browse, pending.link.replace(HERE.decode(), THERE.decode()))
    await servers.service.remote.logins.finish(Callback.parse(arrived.replace(THERE.decode(), HERE.decode())))


async def _resolve(host: str, port: int) -> list[str]:
    return ["192.168.7.7"]


async def _connect(address: str, port: int, **options: Any) -> Streams:
    """Connect to the suite in place of the machine at home, and give each the name that it knows."""
    ours, its = socket.socketpair()
    near = await asyncio.open_connection(sock=its)
    far = await asyncio.open_connection("127.0.0.1", port)
    passing = asyncio.gather(_pass(near[0], far[1], HERE, THERE), _pass(far[0], near[1], THERE, HERE))
    _passing.add(passing)
    passing.add_done_callback(_passing.discard)
    return await asyncio.open_connection(sock=ours, **options)


_passing: set[asyncio.Future[Any]] = set()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: bytes, other: bytes) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            # A name may be cut in two by the end of what came.
            while any(data.endswith(name[:length]) for length in range(1, len(name))):
                with suppress(TimeoutError):
                    data += await asyncio.wait_for(reader.read(65536), 0.1)
                    continue
                break
            writer.write(data.replace(name, other))
            await writer.drain()
    writer.close()


def _say(*texts: object) -> None:
    sys.stdout.write("\n".join(map(str, texts)) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
