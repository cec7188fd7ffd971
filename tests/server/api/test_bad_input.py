"""Impossible input gets a 4xx whose sentence names the field, and writes nothing."""

import asyncio
import json
from typing import Any

import httpx2
import pytest

from tests.contract.responses import check_error
from tests.support.computer import Computer
from tests.support.waiting import SECONDS as DEADLINE

from .conftest import state_of, talk

JSON = {"content-type": "application/json"}
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def message(**fields: Any) -> dict[str, Any]:
    return {"message": "Hello", "sessionId": "new", "module": "chat", **fields}


CHAT: list[tuple[Any, str]] = [
    ({}, "message"),
    (message(message=""), "message"),
    (message(message=" \n\t"), "message"),
    (message(message="x" * 100_001), "message"),
    (message(message=None), "message"),
    (message(message=["Hello"]), "message"),
    (message(message="\ud800"), "message"),
    (message(sessionId="../../etc/passwd"), "sessionId"),
    (message(sessionId=".."), "sessionId"),
    (message(sessionId=""), "sessionId"),
    (message(sessionId="a" * 65), "sessionId"),
    (message(sessionId=7), "sessionId"),
    (message(sessionId=UNKNOWN), "session"),
    (message(module="daily"), "module"),
    (message(trustLevel="root"), "trustLevel"),
    (message(trustLevel=""), "trustLevel"),
    (message(trustLevel=True), "trustLevel"),
    (message(workspaceId="nowhere"), "workspaceId"),
    (message(workspaceId="../x"), "workspaceId"),
    (message(continuedFrom=UNKNOWN), "session"),
    (message(continuedFrom="../x"), "session"),
    (message(workingDirectory="/etc/ssl"), "workingDirectory"),
    (message(workingDirectory=".parachute"), "workingDirectory"),
    (message(workingDirectory=".."), "workingDirectory"),
    (message(workingDirectory="~nobody-at-all/x"), ""),
    (message(workingDirectory="a\0b"), ""),
    (message(workingDirectory="x" * 4000), ""),
    (message(workingDirectory=3), "workingDirectory"),
    (message(contexts="Brain"), "contexts"),
    (message(contexts=[1]), "contexts"),
    (message(attachments=[{"fileName": "a.txt", "base64Data": "!"}]), "attachments"),
    (message(attachments=[{"fileName": ""}]), "attachments"),
    (message(attachments=[{"fileName": "a", "type": "virus"}]), "attachments"),
    (
        message(attachments=[{"fileName": "a", "type": "image", "mimeType": "text/html", "base64Data": "QQ=="}]),
        "mimeType",
    ),
    (message(attachments=[{"fileName": "a"}] * 21), "attachments"),
    (message(model="a b;c"), "model"),
    (message(model=["x"]), "model"),
    (message(systemPrompt={}), "systemPrompt"),
    (message(canAnswerPermissions="yes"), "canAnswerPermissions"),
    ([], ""),
    ("Hello", ""),
    (None, ""),
]


async def test_a_message_that_cannot_be(installation: Computer, owner: httpx2.AsyncClient) -> None:
    state = state_of(installation)
    for body, mention in CHAT:
        response = await owner.post("/api/chat", content=json.dumps(body), headers=JSON)
        assert 400 <= response.status_code < 500, (body, response.text)
        check_error(response, response.status_code, mention)
        assert state_of(installation) == state, body


CONFIG: list[tuple[Any, str]] = [
    ({"trustLevel": "root"}, "trustLevel"),
    ({"trustLevel": 3}, "trustLevel"),
    ({"workspaceId": "nowhere"}, "workspaceId"),
    ({"workspaceId": ["x"]}, "workspaceId"),
    ({"responseMode": "sometimes"}, "responseMode"),
    ({"responseMode": 1}, "responseMode"),
    ({"mentionPattern": "x" * 501}, "mentionPattern"),
    ({"title": ""}, "title"),
    ({"title": " \n"}, "title"),
    ({"title": "x" * 201}, "title"),
    ({"title": 1}, "title"),
    ({"titel": "A boat"}, "titel"),
    ({"configOverrides": []}, "configOverrides"),
    ({"configOverrides": {"temperature": 1}}, "configOverrides"),
    ({"configOverrides": {"model": "\ud800"}}, "configOverrides.model"),
    ([], ""),
]


async def test_a_configuration_that_cannot_be(installation: Computer, owner: httpx2.AsyncClient, session: str) -> None:
    state = state_of(installation)
    for body, mention in CONFIG:
        for method, path in (("PATCH", "config"), ("POST", "activate")):
            address = f"/api/chat/{session}/{path}"
            response = await owner.request(method, address, content=json.dumps(body), headers=JSON)
            assert 400 <= response.status_code < 500, (method, path, body, response.text)
            check_error(response, response.status_code, mention)
        assert state_of(installation) == state, body


ROUTES_WITH_BODY = [
    ("POST", "/api/chat"),
    ("PATCH", f"/api/chat/{UNKNOWN}/config"),
    ("POST", f"/api/chat/{UNKNOWN}/activate"),
    ("POST", f"/api/chat/{UNKNOWN}/inject"),
    ("POST", f"/api/chat/{UNKNOWN}/answer"),
    ("POST", f"/api/chat/{UNKNOWN}/permissions/x"),
    ("POST", "/api/auth/keys"),
]
BODIES = {
    "nothing": b"",
    "not JSON": b"{message: Hello}",
    "cut off": b'{"message": "Hel',
    "no UTF-8": b'{"message": "\xff"}',
    "zeroes": b"\0\0\0",
    "very deep": b'{"a":' * 50_000,
    "a list": b"[]",
    "a number": b"1",
    "nan": b"NaN",
}


@pytest.mark.parametrize("kind", BODIES)
async def test_a_body_that_cannot_be_read(installation: Computer, owner: httpx2.AsyncClient, kind: str) -> None:
    before = state_of(installation)
    for method, path in ROUTES_WITH_BODY:
        for content_type in ("application/json; charset=utf-8", "text/plain"):
            response = await owner.request(method, path, content=BODIES[kind], headers={"content-type": content_type})
            assert 400 <= response.status_code < 500, f"{method} {path}: {response.text}"
            check_error(response, response.status_code)
    assert state_of(installation) == before


async def test_fifty_megabytes(installation: Computer, owner: httpx2.AsyncClient) -> None:
    before = state_of(installation)

    async def pour() -> Any:
        for _ in range(50):
            yield b" " * 1024 * 1024

    for method, path in ROUTES_WITH_BODY:
        try:
            response = await owner.request(method, path, content=pour(), headers={"content-type": "application/json"})
        except (httpx2.WriteError, httpx2.ReadError, httpx2.RemoteProtocolError):
            continue  # the server had answered and gone while we were still sending
        check_error(response, 413, "bytes")
    # One that is only announced is refused before it comes.
    reader, writer = await asyncio.open_connection("127.0.0.1", installation.port)
    writer.write(b"POST /api/chat HTTP/1.1\r\nhost: localhost\r\ncontent-length: 52428800\r\n\r\n")
    assert b" 413 " in await asyncio.wait_for(reader.readline(), DEADLINE)
    writer.close()
    assert state_of(installation) == before


SESSION_ROUTES = [
    ("GET", "", None),
    ("DELETE", "", None),
    ("GET", "/transcript", None),
    ("GET", "/events", None),
    ("POST", "/end", None),
    ("POST", "/archive", None),
    ("POST", "/unarchive", None),
    ("POST", "/pin", None),
    ("GET", "/export", None),
    ("POST", "/abort", None),
    ("PATCH", "/config", {"trustLevel": "direct"}),
    ("POST", "/activate", {"trustLevel": "direct"}),
    ("POST", "/inject", {"message": "Hello"}),
    ("POST", "/answer", {"request_id": "x", "answers": {}}),
    ("POST", "/permissions/x", {"allow": True}),
]


@pytest.mark.parametrize(
    "session", [UNKNOWN, "new", "%2e%2e%2fetc", "..%2f..%2fetc%2fpasswd", "a%00b", "%ff%fe", "x" * 300, "ü", "a%5cb"]
)
async def test_a_session_that_does_not_exist(installation: Computer, owner: httpx2.AsyncClient, session: str) -> None:
    before = state_of(installation)
    for method, path, body in SESSION_ROUTES:
        response = await owner.request(method, f"/api/chat/{session}{path}", json=body)
        assert response.status_code in (400, 404, 405), f"{method} {path}: {response.status_code} {response.text}"
        check_error(response, response.status_code)
    assert state_of(installation) == before


@pytest.mark.parametrize(
    ("path", "mention"),
    [
        ("/api/chat?limit=0", "limit"),
        ("/api/chat?limit=-1", "limit"),
        ("/api/chat?limit=1001", "limit"),
        ("/api/chat?limit=many", "limit"),
        ("/api/chat?offset=-1", "offset"),
        ("/api/chat?offset=99999999999999999999", "offset"),
        ("/api/chat?archived=perhaps", "archived"),
        (f"/api/chat?search={'x' * 501}", "search"),
        (f"/api/chat?workspaceId={'x' * 101}", "workspaceId"),
        ("/api/chat/x/transcript?segment=-1", "segment"),
        ("/api/chat/x/transcript?segment=x", "segment"),
        ("/api/chat/x/transcript?full=x", "full"),
        ("/api/chat/x/events?after=-1", "after"),
        ("/api/chat/x/events?after=1e3", "after"),
        ("/api/health?detailed=perhaps", "detailed"),
        ("/supervisor/models?show_all=perhaps", "show_all"),
    ],
)
async def test_a_query_that_cannot_be(owner: httpx2.AsyncClient, path: str, mention: str) -> None:
    check_error(await owner.get(path), 422, mention)


@pytest.mark.parametrize("label", ["", "x" * 101, None, 3, ["a"]])
async def test_a_key_that_cannot_be(installation: Computer, owner: httpx2.AsyncClient, label: Any) -> None:
    before = state_of(installation)
    check_error(await owner.post("/api/auth/keys", json={"label": label}), 422, "label")
    check_error(await owner.post("/api/auth/keys", json={}), 422, "label")
    check_error(await owner.delete("/api/auth/keys/no-such-key"), 404)
    assert state_of(installation) == before


async def test_routes_that_do_not_exist(owner: httpx2.AsyncClient) -> None:
    for method, path in (
        ("GET", "/api"),
        ("GET", "/api/nothing"),
        ("GET", "/api/chat/a/b/c"),
        ("POST", "/nothing/%2e%2e/api/chat"),
        ("GET", "/api/migration/scan"),
        ("GET", "//api/health"),
        ("GET", "/docs"),
    ):
        response = await owner.request(method, path)
        check_error(response, response.status_code)
        assert response.status_code in (400, 404, 405), (method, path)
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        response = await owner.request(method, "/api/chat")
        check_error(response, 405)
    assert (await owner.head("/api/chat")).status_code == 405
    assert (await owner.head("/api/health")).status_code == 200


async def test_nothing_was_logged_as_a_failure(installation: Computer, owner: httpx2.AsyncClient) -> None:
    await owner.post("/api/chat", content=b"{")
    log = installation.logs()
    assert "Traceback" not in log
    assert " ERROR " not in log


async def test_somebody_who_connects_and_says_nothing(installation: Computer, owner: httpx2.AsyncClient) -> None:
    silent = [await asyncio.open_connection("127.0.0.1", installation.port) for _ in range(20)]
    silent[0][1].write(b"POST /api/chat HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{")
    silent[1][1].write(b"NONSENSE\r\n\r\n")
    silent[2][1].write(b"GET /api/health HTTP/1.1\r\n")
    assert (await owner.get("/api/health")).status_code == 200
    await talk(owner)
    for _, writer in silent:
        writer.close()
    assert (await owner.get("/api/health")).status_code == 200
