"""The internet of the arena: every name that is looked up, and every byte that leaves for an address, at a sink on the loopback."""

import asyncio
import socketserver
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any, Self
from urllib.parse import urlsplit

_LARGEST = 1 << 20


class Wire:
    """All names are known, and all addresses answer; `page` is what a host says at a path."""

    def __init__(self, page: Callable[[str], str]) -> None:
        self.lookups: list[str] = []
        self.sent: defaultdict[str, bytearray] = defaultdict(bytearray)
        """Bytes by the name, or the address, to which they went."""
        self.at_home: set[int] = set()
        """Ports of this machine that were reached."""
        self._addresses: dict[str, str] = {}
        self._links: dict[int, str] = {}
        self._page = page
        wire = self

        class Sink(socketserver.StreamRequestHandler):
            timeout = 20

            def handle(self) -> None:
                wire._receive(self)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Sink)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def address(self) -> str:
        """Its address as that of a proxy."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """An address of its own for every name."""
        self.lookups.append(host)
        number = len(self._addresses)
        return [self._addresses.setdefault(host, f"93.184.{number // 250 + 100}.{number % 250 + 1}")]

    async def connect(
        self, address: str, port: int, **options: Any
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the sink, which knows what was meant; this machine is what it is."""
        if ip_address(address).is_loopback:
            self.at_home.add(port)
            return await asyncio.open_connection(address, port, limit=32768, **options)
        names = {address: name for name, address in self._addresses.items()}
        options.pop("ssl", None), options.pop("server_hostname", None)
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self._server.server_address[1], limit=32768, **options
        )
        self._links[writer.get_extra_info("sockname")[1]] = names.get(address, address)
        return reader, writer

    def _receive(self, sink: socketserver.StreamRequestHandler) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n") and len(head) < _LARGEST and (line := sink.rfile.readline()):
            head += line
        length = next((line[15:] for line in head.splitlines() if line.lower().startswith(b"content-length:")), b"0")
        body = sink.rfile.read(min(int(length), _LARGEST))
        target = (*head.split(b" ", 2), b"", b"")[1].decode(errors="replace")
        # Whoever takes it for a proxy says where to.
        proxied = urlsplit(target if "//" in target else f"//{target}").hostname or "unknown"
        name = self._links.pop(sink.client_address[1], proxied)
        self.sent[name] += head + body
        page = self._page(urlsplit(target).path or "/").encode()
        sink.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(page) + page)
