"""Announcements through Avahi, and calls to it."""

import asyncio
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from dbus_fast import BusType, Message
from dbus_fast.aio import MessageBus

from parachute import __version__
from parachute.web.discovery.announcement import service_file
from parachute.web.discovery.avahi import announced_name
from tests.support.terminal import Terminal

pytestmark = pytest.mark.process

LONG = 100.0
"""Seconds in which a busy machine starts to answer."""


def test_the_file_says_service_port_version_and_path() -> None:
    root = ElementTree.fromstring(service_file(4711))
    assert root.tag == "service-group"
    name = root.find("name")
    assert name is not None
    assert name.attrib == {"replace-wildcards": "yes"}
    service = root.find("service")
    assert service is not None
    texts = [(part.tag, part.text) for part in service]
    assert texts == [
        ("type", "_parachute._tcp"),
        ("port", "4711"),
        ("txt-record", f"version={__version__}"),
        ("txt-record", "path=/api"),
    ]


def test_the_command_prints_it_with_the_port_that_is_set(parachute: Terminal) -> None:
    assert parachute.ok("service", "avahi", PARACHUTE_PORT="8080") == service_file(8080)


async def test_a_bus_that_says_nothing_is_waited_for_shortly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    left = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(100):
            pass
        writer.close()
        left.set()

    server = await asyncio.start_unix_server(silent, tmp_path / "bus")
    async with server:
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={tmp_path}/bus")
        assert await announced_name(0.05) is None
        await left.wait()


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """A message bus of its own in the place of the system's."""
    if not shutil.which("dbus-daemon"):
        pytest.skip("There is no dbus-daemon here; tests/appliance/test_lan.py asks a real Avahi.")
    address = f"unix:path={tmp_path}/bus"
    command = ["dbus-daemon", "--session", "--nofork", "--print-address=1", f"--address={address}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as daemon:
        assert daemon.stdout is not None
        daemon.stdout.readline()
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
        yield address
        daemon.terminate()


@asynccontextmanager
async def avahi(address: str, signature: str, body: list[object]) -> AsyncIterator[None]:
    """A service on the bus that answers as Avahi might."""
    daemon = await MessageBus(bus_address=address, bus_type=BusType.SYSTEM).connect()

    def answer(message: Message) -> Message | None:
        if message.member == "GetHostNameFqdn":
            return Message.new_method_return(message, signature, body)
        return None

    daemon.add_message_handler(answer)
    await daemon.request_name("org.freedesktop.Avahi")
    try:
        yield
    finally:
        daemon.disconnect()
        await daemon.wait_for_disconnect()


ANSWERS: list[tuple[str, list[object], str | None]] = [
    ("s", ["parachute-2.local"], "parachute-2.local"),
    ("s", ["Parachute.LOCAL."], "parachute.local"),
    ("s", ["evil.example"], None),
    ("s", ["a.b.local"], None),
    ("s", ["local"], None),
    ("s", [""], None),
    ("u", [5], None),
    ("", [], None),
]


async def test_its_answer_is_believed_if_it_is_a_name(bus: str) -> None:
    assert await announced_name(LONG) is None, "nobody has its name yet"
    for signature, body, name in ANSWERS:
        async with avahi(bus, signature, body):
            assert await announced_name(LONG) == name, body
