"""Requests without TLS: read, judged, and written anew."""

import asyncio

import pytest

from .conftest import SECONDS, World
from .internet import PUBLIC, Handler

pytestmark = pytest.mark.process

GET = b"GET http://web.example.org/path?q=1 HTTP/1.1\r\nHost: web.example.org\r\n"


def recorded(answer: bytes, heard: list[bytes], until: bytes = b"\r\n\r\n") -> Handler:
    """A server that keeps what it hears up to some bytes, gives one answer and closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(until))
        writer.write(answer)
        await writer.drain()

    return serve


ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Made: here\r\nConnection: keep-alive\r\n\r\nhello"


async def test_a_request_is_answered_and_says_only_what_belongs_to_it(world: World) -> None:
    heard: list[bytes] = []
    await world.internet.serve(PUBLIC, 80, recorded(ANSWER, heard))
    await world.open("web.example.org")
    answer = await world.ask(
        GET + b"Proxy-Authorization: Basic c2VjcmV0\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nX-Kept: 2\r\n\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"\r\n\r\nhello")
    assert b"X-Made: here" in answer
    assert b"Connection: close" in answer
    head = heard[0]
    assert head.startswith(b"GET /path?q=1 HTTP/1.1\r\nHost: web.example.org\r\n")
    assert b"X-Kept: 2" in head
    for gone in (b"Proxy-", b"X-Hop", b"keep-alive"):
        assert gone not in head


@pytest.mark.parametrize(
    "host", [b"evil.example.com", b"web.example.org:8080", b"api.example.org", b"user@web.example.org", b""]
)
async def test_a_host_header_that_says_something_else_is_refused(world: World, host: bytes) -> None:
    await world.internet.serve(PUBLIC, 80, recorded(ANSWER, []))
    await world.open("web.example.org", "api.example.org")
    answer = await world.ask(b"GET http://web.example.org/ HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert world.internet.reached == []


async def test_a_host_header_that_says_the_same_in_other_words_is_replaced(world: World) -> None:
    heard: list[bytes] = []
    await world.internet.serve(PUBLIC, 80, recorded(ANSWER, heard))
    await world.open("web.example.org")
    await world.ask(b"GET HTTP://WEB.example.org?x HTTP/1.1\r\nHost: Web.Example.org.:80\r\n\r\n")
    assert heard[0].startswith(b"GET /?x HTTP/1.1\r\nHost: web.example.org\r\n")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("/path", b"This is a proxy"),
        ("*", b"cannot be read"),
        ("https://web.example.org/", b"through CONNECT only"),
        ("ftp://web.example.org/", b"through CONNECT only"),
        ("http://user:pass@web.example.org/", b"cannot be read"),
        ("http://web.example.org@evil.example.com/", b"cannot be read"),
        ("http://web.example.org\\@evil.example.com/", b"cannot be read"),
        ("http://web.example.org#@evil.example.com/", b"cannot be read"),
        ("http://evil.example.com%2eweb.example.org/", b"cannot be read"),
        ("http:///path", b"cannot be read"),
        ("web.example.org:80", b"cannot be read"),
    ],
)
async def test_an_address_that_programs_read_differently_is_refused(world: World, target: str, said: bytes) -> None:
    await world.open("web.example.org")
    answer = await world.ask(f"GET {target} HTTP/1.1\r\nHost: web.example.org\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert said in answer
    assert world.internet.lookups == []


async def test_a_host_that_is_not_listed_is_refused(world: World) -> None:
    await world.open("web.example.org")
    answer = await world.ask(b"GET http://evil.example.com/secret HTTP/1.1\r\nHost: evil.example.com\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"declare `evil.example.com`" in answer


async def test_a_second_request_behind_the_first_is_never_read(world: World) -> None:
    heard: list[bytes] = []
    await world.internet.serve(PUBLIC, 80, recorded(ANSWER, heard))
    await world.open("web.example.org", "api.example.org")
    second = b"GET http://api.example.org/second HTTP/1.1\r\nHost: api.example.org\r\n\r\n"
    answer = await world.ask(GET + b"\r\n" + second)
    assert answer.count(b"HTTP/1.1 ") == 1
    assert world.internet.reached == [(PUBLIC, 80)]
    assert b"second" not in heard[0]


async def test_a_length_and_chunks_at_once_are_refused(world: World) -> None:
    await world.internet.serve(PUBLIC, 80, recorded(ANSWER, []))
    await world.open("web.example.org")
    request = GET.replace(b"GET", b"POST") + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert (await world.ask(request)).startswith(b"HTTP/1.1 400 ")
    assert world.internet.reached == []


async def test_two_lengths_are_refused(world: World) -> None:
    await world.open("web.example.org")
    request = GET.replace(b"GET", b"POST") + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nhello"
    assert (await world.ask(request)).startswith(b"HTTP/1.1 400 ")


async def test_a_body_in_chunks_arrives_with_all_that_looks_like_a_request_in_it(world: World) -> None:
    heard: list[bytes] = []
    await world.internet.serve(PUBLIC, 80, recorded(ANSWER, heard, until=b"0\r\n\r\n"))
    await world.open("web.example.org")
    inner = b"GET /admin HTTP/1.1\r\nHost: evil.example.com\r\n\r\n"
    body = b"%x\r\n%s\r\n0\r\nTrailer: dropped\r\n\r\n" % (len(inner), inner)
    answer = await world.ask(GET.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked\r\n\r\n" + body)
    assert answer.endswith(b"hello")
    assert inner in heard[0]
    assert b"Trailer" not in heard[0]


async def test_a_body_that_breaks_off_is_not_completed(world: World) -> None:
    ended = asyncio.Event()

    async def wait_for_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        ended.set()

    await world.internet.serve(PUBLIC, 80, wait_for_all)
    await world.open("web.example.org")
    reader, writer = await world.client()
    writer.write(GET.replace(b"GET", b"POST") + b"Content-Length: 100\r\n\r\nonly this")
    writer.write_eof()
    assert (await asyncio.wait_for(reader.read(), SECONDS)).startswith(b"HTTP/1.1 400 ")
    await asyncio.wait_for(ended.wait(), SECONDS)
    writer.close()


async def test_an_answer_streams_as_it_comes(world: World) -> None:
    go_on = asyncio.Event()

    async def two_events(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: one\n\n")
        await go_on.wait()
        writer.write(b"data: two\n\n")

    await world.internet.serve(PUBLIC, 80, two_events)
    await world.open("web.example.org")
    reader, writer = await world.client()
    writer.write(GET + b"\r\n")
    assert b"HTTP/1.1 200 OK" in await asyncio.wait_for(reader.readuntil(b"data: one\n\n"), SECONDS)
    go_on.set()
    await asyncio.wait_for(reader.readuntil(b"data: two\n\n"), SECONDS)
    assert (await asyncio.wait_for(reader.read(), SECONDS)).endswith(b"0\r\n\r\n")
    writer.close()


async def test_a_client_that_asks_before_its_body_is_told_to_go_on(world: World) -> None:
    heard: list[bytes] = []

    async def go_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        heard.append(await reader.readexactly(5))
        writer.write(ANSWER)

    await world.internet.serve(PUBLIC, 80, go_on)
    await world.open("web.example.org")
    reader, writer = await world.client()
    writer.write(GET.replace(b"GET", b"PUT") + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    assert b"100 Continue" in await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), SECONDS)
    writer.write(b"hello")
    assert (await asyncio.wait_for(reader.read(), SECONDS)).endswith(b"hello")
    assert heard[1] == b"hello"
    writer.close()


async def test_a_big_body_comes_whole_in_both_directions(world: World) -> None:
    size = 5_000_000

    async def give_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        left = size
        while left:
            data = await reader.read(65536)
            left -= len(data)
            writer.write(data)
            await writer.drain()

    await world.internet.serve(PUBLIC, 80, give_back)
    await world.open("web.example.org")
    body = bytes(range(256)) * (size // 256) + bytes(size % 256)
    answer = await world.ask(GET.replace(b"GET", b"POST") + b"Content-Length: %d\r\n\r\n" % size + body)
    assert answer.partition(b"\r\n\r\n")[2] == body


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH_9.2\r\n", b"", b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"]
)
async def test_a_server_that_speaks_something_else_is_reported(world: World, answer: bytes) -> None:
    await world.internet.serve(PUBLIC, 80, recorded(answer, []))
    await world.open("web.example.org", header_bytes=4096)
    assert (await world.ask(GET + b"\r\n")).startswith(b"HTTP/1.1 502 ")


async def test_an_answer_that_breaks_off_is_not_made_to_look_complete(world: World) -> None:
    half = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    await world.internet.serve(PUBLIC, 80, recorded(half, []))
    await world.open("web.example.org")
    assert not (await world.ask(GET + b"\r\n")).endswith(b"0\r\n\r\n")
