"""The forwarder: a program in a sandbox finds the proxy at a TCP address."""

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import parachute_runner
import psutil
import pytest
from parachute_runner.egress_forward import Forwarder

from tests.supervisor.launching import with_argument
from tests.support.waiting import wait_until

from .conftest import SECONDS, World, connect_request, echo
from .internet import PUBLIC

pytestmark = pytest.mark.process

SCRIPT = str(Path(parachute_runner.__path__[0]) / "egress_forward.py")
FETCH = (
    "import urllib.request; print(urllib.request.urlopen('http://web.example.org/hello', timeout=60).read().decode())"
)


@pytest.fixture
def forwarder(world: World) -> Iterator[Forwarder]:
    """One that serves in a thread of the test."""
    made = Forwarder(str(world.path), 0)
    thread = threading.Thread(target=made.serve)
    thread.start()
    yield made
    made.close()
    thread.join(SECONDS)
    assert not thread.is_alive()


async def test_a_program_reaches_the_proxy_through_its_usual_variables(world: World) -> None:
    async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nhello from outside")

    await world.internet.serve(PUBLIC, 80, hello)
    await world.open("web.example.org")
    program = (sys.executable, "-c", FETCH)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-IS", SCRIPT, "--port", "0", str(world.path), "--", *program), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    assert (process.returncode, output) == (0, b"hello from outside\n")


async def test_git_is_led_to_the_service_only_where_that_is_asked_for(world: World) -> None:
    await world.open("web.example.org")
    program = (sys.executable, "-c", "import os; print([name for name in os.environ if name.startswith('GIT_')])")
    for options, found in (((), "[]"), (("--git",), "GIT_CONFIG_VALUE_2")):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-IS", SCRIPT, "--port", "0", *options, str(world.path), "--", *program),
            stdout=asyncio.subprocess.PIPE,
            env={},
        )
        output, _ = await asyncio.wait_for(process.communicate(), SECONDS)
        assert found in output.decode()


async def test_the_forwarder_holds_nothing_of_the_program_and_ends_with_it(world: World) -> None:
    # The program closes its standard output and lives on: whoever reads it sees the end.
    program = "import os, sys, time; os.write(1, b'%d' % os.getpid()); os.close(1); sys.stdin.read()"
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-IS", SCRIPT, "--port", "0", str(world.path), "--", sys.executable, "-c", program),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        pass_fds=(writing,),
    )
    os.close(writing)
    assert process.stdout is not None
    assert process.stdin is not None
    assert await asyncio.wait_for(process.stdout.read(), SECONDS) == str(process.pid).encode()
    assert len(psutil.Process(process.pid).children()) == 1
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), SECONDS) == 0
    # It may be left to a first process that collects nobody: then it is a zombie.
    await asyncio.to_thread(wait_until, lambda: not with_argument(str(world.path)), "the forwarder has ended")
    assert await asyncio.wait_for(asyncio.to_thread(os.read, reading, 1), SECONDS) == b""
    os.close(reading)


async def test_both_halves_end_by_themselves(world: World, forwarder: Forwarder) -> None:
    async def answer_at_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = await reader.read()
        writer.write(data[::-1])

    await world.internet.serve(PUBLIC, 443, answer_at_the_end)
    await world.open("api.example.org")
    reader, writer = await asyncio.open_connection("127.0.0.1", forwarder.port)
    sent = os.urandom(3_000_000)
    writer.write(connect_request("api.example.org:443") + sent)
    writer.write_eof()
    answer = await asyncio.wait_for(reader.read(), SECONDS)
    assert answer.partition(b"\r\n\r\n")[2] == sent[::-1]
    writer.close()


async def test_more_programs_than_it_takes_at_a_time_all_get_their_turn(world: World, forwarder: Forwarder) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org", connections=100)

    async def one(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", forwarder.port)
        writer.write(connect_request("api.example.org:443") + b"%d" % number)
        writer.write_eof()
        answer = await asyncio.wait_for(reader.read(), SECONDS)
        assert answer.partition(b"\r\n\r\n")[2] == b"%d" % number
        writer.close()

    await asyncio.gather(*(one(number) for number in range(150)))


async def test_a_client_that_breaks_off_takes_only_its_own_connection_along(world: World, forwarder: Forwarder) -> None:
    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(bytes(10_000))
                await writer.drain()
        except ConnectionError:
            pass

    await world.internet.serve(PUBLIC, 443, stream)
    await world.internet.serve(PUBLIC, 80, echo)
    await world.open("api.example.org")
    reader, writer = await asyncio.open_connection("127.0.0.1", forwarder.port)
    writer.write(connect_request("api.example.org:443"))
    await asyncio.wait_for(reader.readexactly(100_000), SECONDS)
    writer.transport.abort()
    async with asyncio.timeout(SECONDS):
        while world.egress.status()[0]["connections"]:
            await asyncio.sleep(0.01)
    reader, writer = await asyncio.open_connection("127.0.0.1", forwarder.port)
    writer.write(connect_request("api.example.org:80") + b"hello")
    writer.write_eof()
    assert (await asyncio.wait_for(reader.read(), SECONDS)).endswith(b"hello")
    writer.close()


async def test_without_a_proxy_the_connection_is_closed(world: World, forwarder: Forwarder) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", forwarder.port)
    assert await asyncio.wait_for(reader.read(), SECONDS) == b""
    writer.close()


def test_a_port_that_is_taken_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError):
        Forwarder("/nowhere", taken.getsockname()[1])
