"""Limits of a client, and their records."""

import asyncio
import json

import pytest

from tests.support.connections import read_to_end

from .conftest import SECONDS, World, connect_request, echo
from .internet import PUBLIC

pytestmark = pytest.mark.process


async def connections(world: World, number: int) -> None:
    """Wait until so many are left."""
    async with asyncio.timeout(SECONDS):
        while world.egress.status()[0]["connections"] > number:
            await asyncio.sleep(0.01)


async def test_a_header_that_never_ends_is_refused(world: World) -> None:
    await world.open("api.example.org")
    reader, writer = await world.client()
    writer.write(b"CONNECT api.example.org:443 HTTP/1.1\r\n" + b"X: y\r\n" * 100_000)
    assert (await read_to_end(reader)).startswith(b"HTTP/1.1 431 ")
    writer.close()


async def test_a_line_that_never_ends_is_refused(world: World) -> None:
    await world.open("api.example.org")
    reader, writer = await world.client()
    writer.write(b"CONNECT " + b"a" * 1_000_000)
    assert (await read_to_end(reader)).startswith(b"HTTP/1.1 4")
    writer.close()


async def test_a_header_that_trickles_in_gets_no_more_time(world: World) -> None:
    await world.open("api.example.org", header_seconds=0.3)
    reader, writer = await world.client()

    async def trickle() -> None:
        for byte in connect_request("api.example.org:443") * 1000:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.02)

    trickling = asyncio.create_task(trickle())
    head = await asyncio.wait_for(reader.readline(), SECONDS)
    trickling.cancel()
    assert head.startswith(b"HTTP/1.1 408 ")
    writer.close()


async def test_something_that_is_no_http_is_refused(world: World) -> None:
    await world.open("api.example.org")
    for request in (b"\x05\x01\x00\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET\r\n\r\n"):
        assert (await world.ask(request)).startswith(b"HTTP/1.1 400 ")


async def test_a_client_that_says_nothing_and_leaves_is_no_event(world: World) -> None:
    await world.open("api.example.org")
    reader, writer = await world.client()
    writer.write_eof()
    assert await asyncio.wait_for(reader.read(), SECONDS) == b""
    writer.close()
    assert await world.audited() == []


async def test_a_tunnel_in_which_nothing_moves_is_ended(world: World) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org", idle_seconds=0.2)
    reader, writer = await world.tunnel("api.example.org:443")
    assert await asyncio.wait_for(reader.read(), SECONDS) == b""
    writer.close()


async def test_a_server_that_gives_no_answer_is_reported_to_the_client(world: World) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    await world.internet.serve(PUBLIC, 80, silent)
    await world.open("web.example.org", idle_seconds=0.2)
    answer = await world.ask(b"GET http://web.example.org/ HTTP/1.1\r\nHost: web.example.org\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 504 ")


@pytest.mark.long
async def test_a_tunnel_that_is_always_busy_ends_too(world: World) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(b"still here")
                await writer.drain()
                await asyncio.sleep(0.01)
        except ConnectionError:
            pass

    await world.internet.serve(PUBLIC, 443, talk)
    await world.open("api.example.org", total_seconds=2)
    reader, writer = await world.tunnel("api.example.org:443")
    assert set(await read_to_end(reader)) <= set(b"still here")
    writer.close()


async def test_a_name_server_that_hangs_is_given_up(world: World) -> None:
    async def hang(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    world.internet.resolve = hang  # type: ignore[method-assign]
    await world.open("api.example.org", connect_seconds=0.2)
    answer = await world.ask(connect_request("api.example.org:443"))
    assert answer.startswith(b"HTTP/1.1 504 ")
    assert b"could not be looked up in time" in answer


async def test_too_many_connections_are_turned_away_until_one_ends(world: World) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org", connections=2)
    first = await world.tunnel("api.example.org:443")
    second = await world.tunnel("api.example.org:443")
    assert (await world.ask(connect_request("api.example.org:443"))).startswith(b"HTTP/1.1 503 ")
    first[1].close()
    await connections(world, 1)
    third = await world.tunnel("api.example.org:443")
    for _, writer in (second, third):
        writer.close()


async def test_all_lines_together_have_a_limit(world: World) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org", connections_of_all=1)
    other = world.folder / "other" / "egress.sock"
    await world.egress.open("other", ["api.example.org"], other)
    _, writer = await world.tunnel("api.example.org:443")
    world.path = other
    assert (await world.ask(connect_request("api.example.org:443"))).startswith(b"HTTP/1.1 503 ")
    writer.close()


async def test_every_decision_is_recorded_without_paths_and_bodies(world: World) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    world.internet.names["web.example.org"] = [["10.0.0.1"]]
    await world.open("*.example.org")
    _, writer = await world.tunnel("api.example.org:443")
    writer.close()
    secret = b"GET http://evil.example.com/secret-path?token=1 HTTP/1.1\r\nHost: evil.example.com\r\n\r\n"
    await world.ask(secret)
    await world.ask(connect_request("web.example.org:443"))
    await world.ask(b"GET /secret-path HTTP/1.1\r\nHost: x.org\r\n\r\n")
    entries = await world.audited()
    logged = [(entry["target_endpoint"], entry["success"]) for entry in entries]
    assert logged == [
        ("CONNECT api.example.org:443", True),
        ("GET evil.example.com:80", False),
        ("CONNECT web.example.org:443", False),
        ("a request that cannot be read", False),
    ]
    assert {(entry["event_type"], entry["source_type"], entry["source_id"]) for entry in entries} == {
        ("egress", "module", "daily")
    }
    assert entries[2]["error"] == "web.example.org leads to a private address."
    assert "secret" not in json.dumps(entries)


async def test_one_busy_line_does_not_fill_the_record(world: World) -> None:
    await world.open("api.example.org")
    for _ in range(5):
        await world.ask(connect_request("evil.example.com:443"))
    for number in range(210):
        await world.ask(connect_request(f"host-{number}.example.com:443"))
    entries = await world.audited()
    assert len(entries) == 202
    assert entries[0]["target_endpoint"] == "CONNECT evil.example.com:443"
    assert entries[-2]["target_endpoint"] == "CONNECT evil.example.com:443 (4 more)"
    assert entries[-1]["target_endpoint"] == "others (11 requests)"


async def test_what_went_through_is_counted(world: World) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org")
    reader, writer = await world.tunnel("api.example.org:443")
    writer.write(b"hello")
    await asyncio.wait_for(reader.readexactly(5), SECONDS)
    await world.ask(connect_request("evil.example.com:443"))
    await connections(world, 1)
    assert world.egress.status() == [
        {
            "owner": "daily",
            "hosts": ["api.example.org"],
            "connections": 1,
            "allowed": 1,
            "refused": 1,
            "bytes_sent": 5,
            "bytes_received": 5,
        }
    ]
    writer.close()
