"""CONNECT: who gets through to where, and nothing beside it."""

import asyncio
import hashlib
import os
import socket

import pytest

from parachute.base.errors import InvalidInput
from parachute.sandbox.egress.models import Limits
from parachute.sandbox.egress.service import Egress
from parachute.security.kill_switch.switch import KillSwitch
from tests.support.connections import read_to_end

from .conftest import OTHER_PUBLIC, SECONDS, World, connect_request, echo
from .internet import PUBLIC

pytestmark = pytest.mark.process


async def test_bytes_pass_untouched_in_both_directions(world: World) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org")
    reader, writer = await world.tunnel("API.example.org.:443")
    sent = b"\x16\x03\x01" + os.urandom(300_000)
    writer.write(sent)
    assert await asyncio.wait_for(reader.readexactly(len(sent)), SECONDS) == sent
    writer.close()
    assert world.internet.reached == [(PUBLIC, 443)]


async def test_nothing_goes_out_while_all_agents_are_stopped(world: World) -> None:
    kill_switch = KillSwitch(world.folder)
    world.egress = Egress(
        world.audit, resolve=world.internet.resolve, connect=world.internet.connect, kill_switch=kill_switch
    )
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org")
    reader, writer = await world.tunnel("api.example.org:443")
    writer.write(b"once")
    assert await asyncio.wait_for(reader.readexactly(4), SECONDS) == b"once"
    kill_switch.engage("the command line")
    await world.egress.cut()
    assert await asyncio.wait_for(reader.read(), SECONDS) == b""
    answer = await world.ask(connect_request("api.example.org:443"))
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"All agents are stopped since" in answer
    assert len(world.internet.reached) == 1
    kill_switch.release()
    reader, writer = await world.tunnel("api.example.org:443")
    writer.write(b"again")
    assert await asyncio.wait_for(reader.readexactly(5), SECONDS) == b"again"


async def test_what_is_sent_with_the_request_is_the_first_in_the_tunnel(world: World) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org")
    reader, writer = await world.client()
    writer.write(connect_request("api.example.org:443") + b"early")
    writer.write_eof()
    assert (await asyncio.wait_for(reader.read(), SECONDS)).endswith(b"\r\n\r\nearly")
    writer.close()


async def test_a_host_that_is_not_listed_is_refused_and_the_answer_says_what_to_declare(world: World) -> None:
    await world.open("api.example.org", "*.example.net:8443")
    answer = await world.ask(connect_request("evil.example.com:443"))
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"daily may not reach evil.example.com:443" in answer
    assert b"declare `evil.example.com` among the hosts of daily" in answer
    assert b"api.example.org, *.example.net:8443" in answer
    assert world.internet.lookups == []


async def test_another_port_is_refused_and_named(world: World) -> None:
    await world.open("api.example.org")
    assert b"declare `api.example.org:22`" in await world.ask(connect_request("api.example.org:22"))


@pytest.mark.parametrize(
    "target",
    [f"{PUBLIC}:443", "127.0.0.1:443", "[::1]:443", f"[{OTHER_PUBLIC}]:443", "[::ffff:93.184.216.34]:443"],
)
async def test_an_address_is_refused_also_when_a_listed_name_leads_to_it(world: World, target: str) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org", "*.example.org")
    assert (await world.ask(connect_request(target))).startswith(b"HTTP/1.1 403 ")
    assert world.internet.reached == []


async def test_an_address_that_is_listed_exactly_is_reached_without_a_lookup(world: World) -> None:
    await world.internet.serve(OTHER_PUBLIC, 8443, echo)
    await world.open(f"[{OTHER_PUBLIC}]:8443")
    _, writer = await world.tunnel(f"[{OTHER_PUBLIC}]:8443")
    writer.close()
    assert world.internet.reached == [(OTHER_PUBLIC, 8443)]
    assert world.internet.lookups == []


@pytest.mark.parametrize(
    "target", ["2130706433:443", "127.1:443", "0x7f.1:443", "api.example.org", "api.example.org:0"]
)
async def test_a_target_that_cannot_be_read_for_sure_is_refused(world: World, target: str) -> None:
    await world.open("*.example.org")
    assert (await world.ask(connect_request(target))).startswith(b"HTTP/1.1 400 ")
    assert world.internet.lookups == []


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "fe80::1%eth0"]
)
async def test_a_name_that_leads_inside_is_refused(world: World, address: str) -> None:
    world.internet.names["api.example.org"] = [[address]]
    await world.open("api.example.org")
    answer = await world.ask(connect_request("api.example.org:443"))
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"api.example.org leads to " in answer
    assert world.internet.reached == []


async def test_of_public_and_private_addresses_only_the_public_ones_are_tried(world: World) -> None:
    world.internet.names["api.example.org"] = [["127.0.0.1", "10.0.0.1", OTHER_PUBLIC, PUBLIC, "::1"]]
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org")
    _, writer = await world.tunnel("api.example.org:443")
    writer.close()
    assert world.internet.reached == [(OTHER_PUBLIC, 443), (PUBLIC, 443)]


async def test_the_address_that_was_checked_is_the_one_that_is_reached(world: World) -> None:
    world.internet.names["api.example.org"] = [[PUBLIC], ["127.0.0.1"]]
    await world.internet.serve(PUBLIC, 443, echo)
    await world.internet.serve("127.0.0.1", 443, echo)
    await world.open("api.example.org")
    _, writer = await world.tunnel("api.example.org:443")
    writer.close()
    assert world.internet.lookups == ["api.example.org"]
    assert (await world.ask(connect_request("api.example.org:443"))).startswith(b"HTTP/1.1 403 ")
    assert world.internet.reached == [(PUBLIC, 443)]


async def test_the_system_resolves_names_when_no_other_resolver_is_given(world: World) -> None:

    egress = Egress(world.audit, limits=Limits(connect_seconds=5))
    await egress.open("daily", ["localhost.localdomain", "no-such-name.invalid"], world.path)
    try:
        # The top-level domain `invalid` never exists; `localhost.…` leads here or nowhere.
        assert (await world.ask(connect_request("no-such-name.invalid:443"))).startswith(b"HTTP/1.1 50")
        assert (await world.ask(connect_request("localhost.localdomain:443"))).split()[1] in (b"403", b"502", b"504")
    finally:
        await egress.close_all()


async def test_an_unknown_name_and_a_host_that_is_down_are_told_apart(world: World) -> None:
    await world.open("*.example.org")
    unknown = await world.ask(connect_request("nowhere.example.org:443"))
    down = await world.ask(connect_request("api.example.org:443"))
    assert unknown.startswith(b"HTTP/1.1 502 ")
    assert b"nowhere.example.org cannot be resolved" in unknown
    assert down.startswith(b"HTTP/1.1 502 ")
    assert b"api.example.org:443 cannot be reached: Connection refused" in down


async def test_a_second_request_in_a_tunnel_is_only_data(world: World) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.internet.serve(PUBLIC, 80, echo)
    await world.open("api.example.org")
    second = b"GET http://web.example.org/ HTTP/1.1\r\nHost: web.example.org\r\n\r\n"
    reader, writer = await world.client()
    writer.write(connect_request("api.example.org:443") + connect_request("evil.example.com:443") + second)
    writer.write_eof()
    answer = await asyncio.wait_for(reader.read(), SECONDS)
    writer.close()
    assert answer.partition(b"\r\n\r\n")[2] == connect_request("evil.example.com:443") + second
    assert world.internet.reached == [(PUBLIC, 443)]


async def test_after_a_refusal_nothing_more_is_read(world: World) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org")
    answer = await world.ask(connect_request("evil.example.com:443") + connect_request("api.example.org:443"))
    assert answer.count(b"HTTP/1.1 ") == 1
    assert world.internet.reached == []


@pytest.mark.parametrize("header", [b"Content-Length: 5", b"Transfer-Encoding: chunked"])
async def test_a_tunnel_has_no_body(world: World, header: bytes) -> None:
    await world.open("api.example.org")
    request = b"CONNECT api.example.org:443 HTTP/1.1\r\nHost: api.example.org\r\n" + header + b"\r\n\r\nhello"
    assert (await world.ask(request)).startswith(b"HTTP/1.1 400 ")
    assert world.internet.reached == []


async def test_each_half_of_a_tunnel_ends_by_itself(world: World) -> None:
    async def answer_at_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(hashlib.sha256(await reader.read()).hexdigest().encode())

    await world.internet.serve(PUBLIC, 443, answer_at_the_end)
    await world.open("api.example.org")
    reader, writer = await world.tunnel("api.example.org:443")
    sent = os.urandom(1_000_000)
    writer.write(sent)
    writer.write_eof()
    assert await asyncio.wait_for(reader.read(), SECONDS) == hashlib.sha256(sent).hexdigest().encode()
    writer.close()


async def test_a_server_that_ends_first_still_hears_the_client(world: World) -> None:
    heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def speak_then_listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"bye")
        writer.write_eof()
        heard.set_result(await reader.read())

    await world.internet.serve(PUBLIC, 443, speak_then_listen)
    await world.open("api.example.org")
    reader, writer = await world.tunnel("api.example.org:443")
    assert await asyncio.wait_for(reader.read(), SECONDS) == b"bye"
    writer.write(b"still here")
    writer.write_eof()
    assert await asyncio.wait_for(heard, SECONDS) == b"still here"
    writer.close()


async def test_the_server_never_gets_far_ahead_of_a_slow_client(world: World) -> None:
    size, ahead = 40_000_000, 12_000_000  # the buffers of the sockets and of four streams, with room to spare
    produced = consumed = most = 0

    async def produce(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal produced
        block = bytes(500_000)
        while produced < size:
            writer.write(block)
            await writer.drain()
            produced += len(block)

    await world.internet.serve(PUBLIC, 443, produce)
    await world.open("api.example.org")
    with socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, str(world.path))
        await loop.sock_sendall(client, connect_request("api.example.org:443"))
        head = await asyncio.wait_for(loop.sock_recv(client, 39), SECONDS)
        assert head.endswith(b"\r\n\r\n")
        while data := await asyncio.wait_for(loop.sock_recv(client, 20_000), SECONDS):
            consumed += len(data)
            most = max(most, produced - consumed)
            await asyncio.sleep(0)  # the server and the proxy get turns to run ahead
    assert consumed == size
    assert most < ahead
    assert world.egress.status()[0]["bytes_received"] == size


async def test_closing_a_line_breaks_off_what_streams(world: World) -> None:
    server_ended = asyncio.Event()

    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(bytes(10_000))
                await writer.drain()
        except ConnectionError:
            server_ended.set()

    await world.internet.serve(PUBLIC, 443, stream)
    await world.open("api.example.org")
    reader, writer = await world.tunnel("api.example.org:443")
    await asyncio.wait_for(reader.readexactly(100_000), SECONDS)
    await world.egress.close("daily")
    await asyncio.wait_for(server_ended.wait(), SECONDS)
    await read_to_end(reader)
    writer.close()
    assert not world.path.exists()
    assert world.egress.status() == []
    with pytest.raises(OSError):
        await world.client()
    await world.egress.close("daily")


async def test_a_new_list_ends_what_it_does_not_allow_and_keeps_the_rest(world: World) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org", "web.example.org")
    kept_reader, kept = await world.tunnel("web.example.org:443")
    ended_reader, ended = await world.tunnel("api.example.org:443")
    await world.open("web.example.org")
    assert await asyncio.wait_for(ended_reader.read(), SECONDS) == b""
    kept.write(b"hello")
    assert await asyncio.wait_for(kept_reader.readexactly(5), SECONDS) == b"hello"
    assert (await world.ask(connect_request("api.example.org:443"))).startswith(b"HTTP/1.1 403 ")
    for writer in (kept, ended):
        writer.close()


async def test_a_wrong_list_changes_nothing(world: World) -> None:
    await world.open("api.example.org")
    with pytest.raises(InvalidInput):
        await world.open("api.example.com", "10.0.0.1")
    assert world.egress.status()[0]["hosts"] == ["api.example.org"]


async def test_two_owners_have_their_own_lists(world: World) -> None:
    await world.internet.serve(PUBLIC, 443, echo)
    await world.open("api.example.org")
    await world.egress.open("agent-1", ["web.example.org"], world.folder / "sandbox" / "egress.sock")
    assert (await world.ask(connect_request("web.example.org:443"))).startswith(b"HTTP/1.1 403 ")
    world.path = world.folder / "sandbox" / "egress.sock"
    _, writer = await world.tunnel("web.example.org:443")
    writer.close()
    assert [line["owner"] for line in world.egress.status()] == ["agent-1", "daily"]
    assert world.path.parent.stat().st_mode & 0o777 == 0o700


async def test_a_page_is_judged_as_its_connection_would_be(world: World) -> None:
    await world.open("api.example.org", "*.example.net:8443")
    for url in ("https://api.example.org/a", "http://who:x@API.example.org.:80/", "https://a.example.net:8443/?x"):
        assert world.egress.refusal_of_page("daily", url) is None, url
    for url, target in {
        "https://web.example.org/secret": "web.example.org:443",
        "https://api.example.org@web.example.org": "web.example.org:443",
        "https://a.example.net": "a.example.net:443",
        "https://127.0.0.1/": "127.0.0.1:443",
        "https://[::1]:90/": "[::1]:90",
    }.items():
        refused = world.egress.refusal_of_page("daily", url)
        assert refused is not None, url
        assert refused.key == "egress_refused"
        assert target in refused.message
    # What cannot be read is for the proxy to refuse, and nobody else's line is asked.
    for url in ("", "https://", "https://a b/", "https://[::1", "https://a:99999/", "https://x" * 2000):
        assert world.egress.refusal_of_page("daily", url) is None
    assert world.egress.refusal_of_page("weekly", "https://web.example.org/") is None
    assert world.internet.lookups == []
    await world.audit.close()
    audited = "".join(path.read_text() for path in (world.folder / "audit").glob("*.jsonl"))
    assert "CONNECT web.example.org:443" in audited
    assert world.egress.status()[0]["refused"] == 5
    assert "secret" not in audited


async def test_what_is_broken_off_before_it_began_is_closed(world: World) -> None:
    await world.open("api.example.org")
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(SECONDS)
        client.connect(str(world.path))
        while world.egress.status()[0]["connections"] == 0:
            await asyncio.sleep(0)  # and not longer: it is accepted, and nothing else has been done
        await world.egress.close("daily")
        assert await asyncio.to_thread(client.recv, 1) == b""
