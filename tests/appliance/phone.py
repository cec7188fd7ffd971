"""A phone on the guest's local network: a network of its own, joined to the guest's by a cable, and what a phone does there."""

import asyncio
import contextlib
import ctypes
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from zeroconf import IPVersion, ServiceBrowser, ServiceStateChange, Zeroconf

COMPUTER, PHONE = "10.77.0.1", "10.77.0.2"
PUBLIC = "93.184.216.34"
"""An address of the internet, which is the phone's here."""

PORT = 3333
_COMPUTER_DEVICE, _PHONE_DEVICE = "lan0", "wlan0"
_CLONE_NEWNET = 0x40000000  # linux/sched.h
_SECONDS = 30
_MDNS = ("224.0.0.251", 5353)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """A computer as the network announces it: `name` is that of its host, without the dot at the end."""

    name: str
    address: str
    port: int
    properties: dict[str, str]

    @property
    def url(self) -> str:
        """The address of its API; phones resolve the name themselves, which this machine's libraries do not."""
        return f"http://{self.address}:{self.port}"

    @property
    def host(self) -> str:
        """The `Host` header of a browser."""
        return f"{self.name}:{self.port}"


@contextmanager
def joined(leader: int) -> Iterator["Phone"]:
    """A phone in the network of the guest whose process 1 is `leader`.

    Nothing is left behind: with the last process of a network its devices go, and the other ends of their cables.
    """
    # It ends with its standard input, so also with us.
    command = ["unshare", "--net", "sh", "-c", "echo; exec cat"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as network:
        assert network.stdout is not None
        network.stdout.readline()
        number = network.pid
        _in_network(number, f"ip link add {_PHONE_DEVICE} type veth peer name {_COMPUTER_DEVICE} netns {leader}")
        for process, device, address in ((number, _PHONE_DEVICE, PHONE), (leader, _COMPUTER_DEVICE, COMPUTER)):
            _in_network(process, f"ip address add {address}/24 dev {device}")
            _in_network(process, f"ip link set {device} up")
        _in_network(number, "ip link set lo up")
        _in_network(number, f"ip address add {PUBLIC}/32 dev lo")
        _in_network(leader, f"ip route add {PUBLIC}/32 via {PHONE} dev {_COMPUTER_DEVICE}")
        with ThreadPoolExecutor(1, initializer=_enter, initargs=(number,)) as thread:
            yield Phone(thread)


@dataclass(frozen=True, slots=True)
class Phone:
    """The phone's actions run in a thread whose network is the phone's, as are all threads it starts."""

    thread: ThreadPoolExecutor

    def run(self, action: Callable[[], T]) -> T:
        """Run an action on the phone."""
        return self.thread.submit(action).result()

    def do(self, action: Callable[[], Awaitable[T]]) -> T:
        """Run an asynchronous action on the phone."""

        async def doing() -> T:
            return await action()

        return self.run(lambda: asyncio.run(doing()))

    def ask(self, method: str, path: str, headers: dict[str, str] | None = None, **options: Any) -> httpx2.Response:
        """One request to the computer, by its address."""

        def asking() -> httpx2.Response:
            with httpx2.Client(base_url=f"http://{COMPUTER}:{PORT}", timeout=60, trust_env=False) as client:
                return client.request(method, path, headers=headers, **options)

        return self.run(asking)

    def find(self, kind: str) -> Found:
        """The first computer that announces a service of this kind, asked for by multicast."""
        return self.run(lambda: _find(kind))

    def reaches(self, port: int) -> bool:
        """True if anything on the computer answers at this port."""

        def reaching() -> bool:
            with socket.socket() as connection:
                connection.settimeout(5)
                return connection.connect_ex((COMPUTER, port)) == 0

        return self.run(reaching)

    @contextmanager
    def serving(
        self,
        handler: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
        tls: ssl.SSLContext | None = None,
        at: tuple[str, int] = (PHONE, 0),
    ) -> Iterator[str]:
        """Serve on the local network, or at the public address; the address, as `host:port`."""
        # A socket stays in the network in which it was made.
        listener = self.run(lambda: socket.create_server(at))
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await handler(reader, writer)
            writer.close()
            await writer.wait_closed()

        async def end(server: asyncio.Server) -> None:
            server.close()
            await server.wait_closed()

        starting = asyncio.start_server(handle, sock=listener, ssl=tls)
        server = asyncio.run_coroutine_threadsafe(starting, loop).result(_SECONDS)
        try:
            yield f"{at[0]}:{listener.getsockname()[1]}"
        finally:
            asyncio.run_coroutine_threadsafe(end(server), loop).result(_SECONDS)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(_SECONDS)
            loop.close()

    @contextmanager
    def called(self, name: str) -> Iterator[None]:
        """Be a device of this name, which nobody else on the network can have then."""
        ended = threading.Event()
        defender = self.run(lambda: _Defender(name, ended))
        try:
            yield
        finally:
            ended.set()
            defender.join(_SECONDS)
            assert not defender.is_alive()


class _Defender(threading.Thread):
    """Says of a host's name that it is the phone's, whenever somebody asks whether it is free (RFC 6762, 8.1).

    zeroconf answers for names of hosts only when it is asked for their addresses.
    """

    def __init__(self, name: str, ended: threading.Event) -> None:
        super().__init__()
        labels = b"".join(bytes([len(label)]) + label.encode() for label in (name, "local")) + b"\0"
        self._asked = labels
        # A response of its own authority with one answer: an address that is this name's only one, for two minutes.
        head = struct.pack(">6H", 0, 0x8400, 0, 1, 0, 0)
        self._answer = head + labels + struct.pack(">HHIH", 1, 0x8001, 120, 4) + socket.inet_aton(PHONE)
        self._ended = ended
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind(("", _MDNS[1]))
        own = socket.inet_aton(PHONE)
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(_MDNS[0]) + own)
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
        self._socket.settimeout(0.1)
        self.start()

    def run(self) -> None:
        with self._socket as network:
            while not self._ended.is_set():
                with contextlib.suppress(TimeoutError):
                    packet, (sender, _) = network.recvfrom(9000)
                    if sender != PHONE and packet[2] < 0x80 and self._asked in packet:
                        network.sendto(self._answer, _MDNS)


def listening(leader: int) -> list[tuple[str, str, int]]:
    """(protocol, address, port) of everything in the guest's network that takes what is sent to it."""
    lines = _in_network(leader, "ss --no-header --listening --numeric --tcp --udp").splitlines()
    found = []
    for kind, _, _, _, local, *_ in (line.split() for line in lines):
        address, _, port = local.rpartition(":")
        found.append((kind, address.partition("%")[0].strip("[]"), int(port)))
    return sorted(found)


def _in_network(process: int, command: str) -> str:
    entering = ["nsenter", f"--net=/proc/{process}/ns/net", *command.split()]
    return subprocess.run(entering, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout


def _enter(process: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    with Path(f"/proc/{process}/ns/net").open("rb") as network:
        if library.setns(network.fileno(), _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def _find(kind: str) -> Found:
    network = Zeroconf(interfaces=[PHONE], ip_version=IPVersion.V4Only)
    names: list[str] = []
    arrived = threading.Event()

    def seen(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        if state_change is ServiceStateChange.Added:
            names.append(name)
            arrived.set()

    try:
        browser = ServiceBrowser(network, f"{kind}.local.", handlers=[seen])
        assert arrived.wait(_SECONDS), f"Nothing announces {kind}."
        browser.cancel()
        info = network.get_service_info(f"{kind}.local.", names[0], _SECONDS * 1000)
        assert info is not None
        assert info.server is not None
        assert info.port is not None
        properties = {name.decode(): (value or b"").decode() for name, value in info.properties.items()}
        return Found(info.server.rstrip("."), info.parsed_addresses()[0], info.port, properties)
    finally:
        network.close()
