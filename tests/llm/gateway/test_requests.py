"""Requests that may go through a model endpoint, and their form."""

import asyncio
import json
import logging
import socket
from pathlib import Path

import httpx2
import pytest

from parachute.base.errors import ParachuteError
from parachute.chat.runs.failures import of_error
from parachute.llm.gateway.endpoint import SOCKET_NAME, ModelEndpoint
from tests.support.messages_api import Gate, MessagesAPI, drop_after, error, hold, several, text

from .conftest import KEY, MODEL, Installation, agent, question

pytestmark = pytest.mark.process

PATHS = [
    ("GET", "/v1/models"),
    ("GET", "/v1/messages"),
    ("POST", "/v1/messages/batches"),
    ("POST", "/v1/files"),
    ("GET", "/api/oauth/usage"),
    ("POST", "/v1/messages/../files"),
    ("POST", "/v1//messages"),
    ("DELETE", "/v1/messages"),
]


async def test_other_paths_are_closed(endpoint: ModelEndpoint, api: MessagesAPI) -> None:
    async with agent(endpoint) as client:
        for method, path in PATHS:
            response = await client.request(method, path, json=question())
            assert response.status_code == 404, path
            assert response.json()["error"]["type"] == "not_found_error"
    assert api.requests == []


async def test_an_answer_streams_through_with_the_real_key_in_it(endpoint: ModelEndpoint, api: MessagesAPI) -> None:
    api.script(text("It helps to remember.", chunks=3))
    async with agent(endpoint) as client:
        response = await client.post("/v1/messages?beta=true", json=question(), headers={"cookie": "a=b", "x-own": "c"})
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    assert "It helps" in "".join(
        json.loads(line[6:])["delta"].get("text", "") for line in response.text.splitlines() if "text_delta" in line
    )
    (request,) = api.requests
    assert request.headers["x-api-key"] == KEY
    assert request.query == "beta=true"
    assert endpoint.token.startswith("sk-ant-api03-")
    assert not {"cookie", "x-own", "authorization"} & request.headers.keys()


async def test_an_answer_without_stream(endpoint: ModelEndpoint, api: MessagesAPI) -> None:
    api.script(text("Yes."))
    async with agent(endpoint) as client:
        response = await client.post("/v1/messages", json=question(stream=False))
        counted = await client.post("/v1/messages/count_tokens", json=question(stream=False))
    assert response.json()["content"] == [{"type": "text", "text": "Yes."}]
    assert counted.json()["input_tokens"] > 0


async def test_the_first_piece_arrives_while_the_rest_is_held(endpoint: ModelEndpoint, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(several(text("first"), hold(gate, text("second"))))
    async with agent(endpoint) as client, client.stream("POST", "/v1/messages", json=question()) as response:
        parts = response.aiter_bytes()
        seen = b""
        while b"first" not in seen:
            seen += await asyncio.wait_for(anext(parts), 60)
        assert b"second" not in seen
        gate.open()
        async for part in parts:
            seen += part
    assert b"second" in seen
    assert b"message_stop" in seen


async def test_the_token_of_another_session_is_refused(installation: Installation, api: MessagesAPI) -> None:
    one, two = await installation.gateway.open("one"), await installation.gateway.open("two")
    for token in (two.token, "", "sk-ant-api03-guess", KEY, "ü"):
        async with agent(one, token) as client:
            response = await client.post("/v1/messages", json=question())
        assert response.status_code == 401
    assert api.requests == []
    api.script(text("In."))
    async with agent(one) as client:
        assert (await client.post("/v1/messages", json=question())).status_code == 200


BODIES = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"{}",
    b'{"model": 1}',
    b'{"model": null}',
    b"[" * 100_000,
    b'{"model": "' + b"\xff" + b'"}',
]


async def test_a_body_that_cannot_be_read(endpoint: ModelEndpoint, api: MessagesAPI) -> None:
    async with agent(endpoint) as client:
        for body in BODIES:
            response = await client.post("/v1/messages", content=body, headers={"content-type": "application/json"})
            assert response.status_code == 400, body[:12]
            assert response.json()["error"]["type"] == "invalid_request_error"
    assert api.requests == []


async def test_what_was_checked_is_what_is_sent(folder: Path, api: MessagesAPI) -> None:
    installation = Installation(
        folder, {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}, {"allowed_models": ["*haiku*"]}
    )
    await installation.open()
    try:
        endpoint = await installation.gateway.open("one")
        api.default(text("Yes."))
        async with agent(endpoint) as client:
            refused = await client.post("/v1/messages", json=question(model="claude-opus-5-5"))
            assert refused.status_code == 403
            assert "claude-opus-5-5" in refused.json()["error"]["message"]
            # Another reader might take the first of two members of one name.
            twice = b'{"model": "claude-opus-5-5", "model": "claude-haiku-4-5", "messages": []}'
            assert (await client.post("/v1/messages", content=twice)).status_code == 200
        (request,) = api.requests
        assert request.body["model"] == MODEL
        assert request.size < len(twice)
    finally:
        await installation.close()


async def test_a_query_that_is_none_of_the_api(endpoint: ModelEndpoint, api: MessagesAPI) -> None:
    async with agent(endpoint) as client:
        assert (await client.post("/v1/messages?a=b c;d", json=question())).status_code in (200, 400)
    reader, writer = await asyncio.open_unix_connection(str(endpoint.folder / SOCKET_NAME))
    head = f"POST /v1/messages?\xff HTTP/1.1\r\nhost: m\r\nx-api-key: {endpoint.token}\r\ncontent-length: 2\r\n\r\n{{}}"
    writer.write(head.encode("latin-1"))
    assert b" 400 " in await asyncio.wait_for(reader.readline(), 60)
    writer.close()
    assert api.conversation == []


async def test_a_body_over_the_limit_of_the_api(endpoint: ModelEndpoint, api: MessagesAPI) -> None:
    reader, writer = await asyncio.open_unix_connection(str(endpoint.folder / SOCKET_NAME))
    size = 33 * 1024 * 1024
    writer.write(
        f"POST /v1/messages HTTP/1.1\r\nhost: m\r\nx-api-key: {endpoint.token}\r\ncontent-length: {size}\r\n\r\n".encode()
    )

    async def pour() -> None:
        for _ in range(33):
            writer.write(b" " * 1024 * 1024)
            await writer.drain()

    pouring = asyncio.create_task(pour())
    assert b" 413 " in await asyncio.wait_for(reader.readline(), 60)
    pouring.cancel()
    await asyncio.gather(pouring, return_exceptions=True)
    writer.transport.abort()
    assert api.requests == []


async def test_an_agent_that_leaves_ends_the_request_to_the_model(endpoint: ModelEndpoint, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(several(text("first"), hold(gate, text("second"))))
    async with agent(endpoint) as client, client.stream("POST", "/v1/messages", json=question()) as response:
        await anext(response.aiter_bytes())
        await gate.reached()
    await api.happens(lambda: api.disconnects == 1, "the client has left")
    assert endpoint.listener is not None
    await asyncio.wait_for(asyncio.gather(*endpoint.listener.state.tasks), 60)


async def test_a_model_that_breaks_off_in_the_middle(
    endpoint: ModelEndpoint, api: MessagesAPI, caplog: pytest.LogCaptureFixture
) -> None:
    api.script(drop_after(5))
    async with agent(endpoint) as client:
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.post("/v1/messages", json=question())
        assert endpoint.problem is not None
        assert endpoint.problem.code == "network_error"
        api.script(drop_after(0))
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.post("/v1/messages", json=question())
        api.script(text("Again."))
        assert (await client.post("/v1/messages", json=question())).status_code == 200
    assert "Traceback" not in caplog.text


async def test_a_service_that_is_not_there(folder: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        installation = Installation(folder, {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url}, {})
        await installation.open()
        try:
            endpoint = await installation.gateway.open("one")
            async with agent(endpoint) as client:
                response = await client.post("/v1/messages", json=question())
            assert response.status_code == 502
            problem = installation.gateway.take_problem("one")
            assert problem is not None
            assert problem.code == "network_error"
            assert url in problem.message
            assert installation.gateway.take_problem("one") is None
        finally:
            await installation.close()


ERRORS = [
    (429, "rate_limit_error", "Slow down.", "rate_limited"),
    (529, "overloaded_error", "Overloaded", "service_unavailable"),
    (500, "overloaded_error", "Overloaded", "service_unavailable"),
    (500, "api_error", "Internal server error", "service_error"),
    (500, "api_error", 'litellm.InternalServerError: {"type": "overloaded_error"}', "service_unavailable"),
    (503, "api_error", "litellm.ServiceUnavailableError", "service_unavailable"),
    (401, "authentication_error", "invalid x-api-key", "invalid_credentials"),
    (401, "authentication_error", "OAuth token has expired", "expired_token"),
    (400, "invalid_request_error", "prompt is too long: 210000 tokens", "context_exceeded"),
    (400, "invalid_request_error", "Your credit balance is too low", "billing_error"),
]


async def test_errors_of_the_service_reach_agent_and_app(endpoint: ModelEndpoint, api: MessagesAPI) -> None:
    async with agent(endpoint) as client:
        for status, kind, message, code in ERRORS:
            api.script(error(status, kind, message, {"retry-after": "7"}))
            response = await client.post("/v1/messages", json=question())
            assert response.status_code == status
            assert response.json()["error"]["message"] == message
            assert response.headers["retry-after"] == "7"
            assert endpoint.problem is not None
            assert (endpoint.problem.code, endpoint.problem.retry_seconds) == (code, 7.0)


SMALL = "request (7693 tokens) exceeds the available context size (2048 tokens), try increasing it"
LARGE = "request (40000 tokens) exceeds the available context size (32768 tokens), try increasing it"
VLLM = "This model's maximum context length is 4096 tokens. However, you requested 8000 tokens."


@pytest.mark.parametrize(
    ("kind", "message", "key"),
    [
        ("exceed_context_size_error", SMALL, "window_too_small"),
        ("exceed_context_size_error", LARGE, ""),
        ("invalid_request_error", VLLM, "window_too_small"),
    ],
)
async def test_a_window_that_no_conversation_fits_in_is_told_from_a_long_conversation(
    endpoint: ModelEndpoint, api: MessagesAPI, kind: str, message: str, key: str
) -> None:
    api.script(error(400, kind, message))
    async with agent(endpoint) as client:
        await client.post("/v1/messages", json=question())
    assert endpoint.problem is not None
    assert (endpoint.problem.code, endpoint.problem.key) == ("context_exceeded", key)
    shown = of_error("one", ParachuteError("It ended."), endpoint.problem)
    assert (shown.can_retry, shown.key) == (False, key or None)
    assert [each["action"] for each in shown.actions] == (["settings"] if key else ["new_session"])


async def test_an_error_that_repeats_the_key_does_not_carry_it_into_the_box(
    endpoint: ModelEndpoint, api: MessagesAPI
) -> None:
    api.script(error(400, "invalid_request_error", f"bad header x-api-key: {KEY}", {"retry-after": "²"}))
    async with agent(endpoint) as client:
        response = await client.post("/v1/messages", json=question())
    assert response.status_code == 400
    assert KEY not in response.text
    assert endpoint.problem is not None
    assert KEY not in endpoint.problem.message


async def test_after_close_nothing_answers(
    installation: Installation, endpoint: ModelEndpoint, api: MessagesAPI
) -> None:
    gate = Gate()
    api.script(hold(gate), text("New."))
    path = endpoint.folder / SOCKET_NAME
    async with agent(endpoint) as client:
        running = asyncio.create_task(client.post("/v1/messages", json=question()))
        await gate.reached()
        await installation.gateway.close("one")
        assert not path.exists()
        with pytest.raises(httpx2.TransportError):
            await running
        with pytest.raises(httpx2.TransportError):
            await client.post("/v1/messages", json=question())
    await api.happens(lambda: api.disconnects == 1, "the client has left")
    again = await installation.gateway.open("one")
    assert again.token != endpoint.token
    async with agent(again) as client:
        assert (await client.post("/v1/messages", json=question())).status_code == 200
    async with agent(again, endpoint.token) as client:
        assert (await client.post("/v1/messages", json=question())).status_code == 401


async def test_the_same_endpoint_for_the_same_session(installation: Installation) -> None:
    assert (
        len({id(endpoint) for endpoint in await asyncio.gather(*(installation.gateway.open("x") for _ in range(5)))})
        == 1
    )


async def test_ten_sessions_at_once(installation: Installation, api: MessagesAPI) -> None:
    gate = Gate()
    api.default(lambda body: hold(gate, text(f"For {body['metadata']['user_id']}.")))
    endpoints = [await installation.gateway.open(f"s{number}") for number in range(10)]

    async def ask(endpoint: ModelEndpoint) -> str:
        async with agent(endpoint) as client:
            return (await client.post("/v1/messages", json=question(metadata={"user_id": endpoint.session}))).text

    asking = [asyncio.create_task(ask(endpoint)) for endpoint in endpoints]
    await api.happens(lambda: len(api.requests) == 10, "10 requests have come")
    gate.open()
    answers = await asyncio.gather(*asking)
    for endpoint, answer in zip(endpoints, answers, strict=True):
        assert f"For {endpoint.session}." in answer
        assert (await installation.gateway.used_by(endpoint.session)).requests == 1


async def test_every_call_is_audited_and_nothing_secret(
    installation: Installation, endpoint: ModelEndpoint, api: MessagesAPI, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    api.script(text("A secret answer."))
    async with agent(endpoint) as client:
        await client.post("/v1/messages", json=question())
        await client.get("/v1/files")
    await installation.gateway.close_all()
    await installation.audit.close()
    written = installation.audit_text()
    events = [json.loads(entry) for entry in written.splitlines()]
    assert [(event["target_endpoint"], event["success"]) for event in events] == [
        ("/v1/messages", True),
        ("/v1/files", False),
    ]
    assert {event["source_id"] for event in events} == {"one"}
    for secret in (KEY, endpoint.token, "journal", "secret answer"):
        assert secret not in written
    # The scripted service's own log of what it got is not ours.
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("parachute"))
    assert KEY not in ours
    assert endpoint.token not in ours


async def test_the_socket_lies_in_a_folder_of_the_owner_only(
    endpoint: ModelEndpoint, installation: Installation
) -> None:
    for folder in (endpoint.folder, installation.home.run):
        assert folder.stat().st_mode & 0o077 == 0
