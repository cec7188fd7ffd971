"""S7: an agent that uses up the server through its model endpoint."""

# ruff: noqa: F811 - fixtures of another file have the names of parameters here

import asyncio
import json

import httpx2
import pytest

from parachute.base.budget import SANDBOX, has_few_values
from parachute.llm.gateway.endpoint import SOCKET_NAME, ModelEndpoint
from tests.conftest import api  # noqa: F401 - the one of each test
from tests.llm.gateway.conftest import Installation, agent, endpoint, folder, installation, question  # noqa: F401
from tests.support.connections import read_to_end
from tests.support.gate import Gate
from tests.support.messages_api import MessagesAPI, hold, text


async def test_connections_of_one_session_are_few(
    installation: Installation, endpoint: ModelEndpoint, api: MessagesAPI
) -> None:
    path = str(endpoint.folder / SOCKET_NAME)
    opened: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    for _ in range(10 * SANDBOX.connections):
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-a: ")
        opened.append((reader, writer))
    assert await read_to_end(opened[0][0]) == b""
    assert len(endpoint.connections) < 2 * SANDBOX.connections  # those that make room are gone a moment later
    api.script(text("Yes."))
    other = await installation.gateway.open("two")
    async with agent(other) as client:
        assert (await client.post("/v1/messages", json=question())).status_code == 200
    for _, writer in opened:
        writer.transport.abort()


@pytest.mark.parametrize(
    "bomb",
    [
        b"[]," * 5_000_000 + b"[]",
        b'{"a":1},' * 1_000_000 + b"1",
        b'"",' * 1_000_000 + b"1",
        b'"\\"",' * 3_000_000 + b"1",
    ],
    ids=["lists", "objects", "texts", "quotes"],
)
async def test_a_request_of_very_many_values_is_not_parsed(
    endpoint: ModelEndpoint, api: MessagesAPI, bomb: bytes
) -> None:
    body = json.dumps(question()).encode()[:-1] + b',"metadata":[' + bomb + b"]}"
    async with agent(endpoint) as client:
        response = await client.post("/v1/messages", content=body)
    assert response.status_code == 400
    assert "values" in response.json()["error"]["message"]
    assert api.requests == []


def test_text_is_one_value_whatever_is_in_it() -> None:
    text_of_code = json.dumps({"content": '[{"a": [1, 2, "\\", {"], \\\\' * 10_000}).encode()
    assert has_few_values(text_of_code, 10)
    assert not has_few_values(b"[" + b"1," * 11 + b"1]", 10)


@pytest.mark.long
async def test_too_much_at_once_is_refused(endpoint: ModelEndpoint, api: MessagesAPI) -> None:
    """Three requests of 30 MB that wait for their answers."""
    gate = Gate()
    api.default(hold(gate, text("Yes.")))
    body = json.dumps(question(system="x" * 30_000_000)).encode()
    async with agent(endpoint) as client:
        asking = [asyncio.create_task(client.post("/v1/messages", content=body)) for _ in range(3)]
        done, _ = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
        assert [task.result().status_code for task in done] == [529]
        gate.open()
        statuses = [(await task).status_code for task in asking]
    assert sorted(statuses) == [200, 200, 529]


async def test_between_turns_nothing_is_asked(
    installation: Installation, endpoint: ModelEndpoint, api: MessagesAPI
) -> None:
    gate = Gate()
    api.script(hold(gate, text("Too late.")), text("Again."))
    async with agent(endpoint) as client:
        asking = asyncio.create_task(client.post("/v1/messages", json=question()))
        await gate.reached()
        installation.gateway.pause("one")
        with pytest.raises(httpx2.TransportError):
            await asking
        refused = await client.post("/v1/messages", json=question())
        assert refused.status_code == 403
        installation.gateway.resume("one")
        assert (await client.post("/v1/messages", json=question())).status_code == 200
    assert len(api.requests) == 2


async def test_a_search_by_a_program_is_a_way_out_like_any_other(
    installation: Installation, endpoint: ModelEndpoint, api: MessagesAPI
) -> None:
    went_out: list[str] = []

    async def searched(session: str) -> None:
        assert api.requests == []  # before anything is found
        went_out.append(session)

    asked = question(tools=[{"type": "web_search_20250305", "name": "web_search"}])
    async with agent(endpoint) as client:
        assert (await client.post("/v1/messages", json=asked)).status_code == 403  # nobody would hear of it
        endpoint.searched, endpoint.is_online = searched, False
        assert (await client.post("/v1/messages", json=asked)).status_code == 403
        assert went_out == []
        endpoint.is_online = True
        api.script(text("Found."))
        assert (await client.post("/v1/messages", json=asked)).status_code == 200
        assert went_out == ["one"]
        api.requests.clear()
        api.script(text("Yes."))
        assert (await client.post("/v1/messages", json=question())).status_code == 200
        assert went_out == ["one"]
