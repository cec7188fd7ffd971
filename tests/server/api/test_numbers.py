"""Numbers in requests have bounds: one beyond 64 bits, infinity and what is no number are the caller's mistakes, and no failure inside."""

import httpx2
import pytest

from tests.support.bounds import without_bounds
from tests.support.server import Server

HERE = Server

SESSION = "00000000-0000-4000-8000-000000000000"
JSON = {"content-type": "application/json"}
BEYOND = (
    "9223372036854775808",
    "-9223372036854775809",
    "10440175460480626393233794007040",
    "1e30",
    "NaN",
    "Infinity",
    "²",
)


async def test_every_number_that_a_caller_sends_has_bounds(owner: httpx2.AsyncClient) -> None:
    document = (await owner.get("/openapi.json")).json()
    schemas, seen = document["components"]["schemas"], set[str]()
    found = [
        place
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for part in ("parameters", "requestBody")
        for place in without_bounds(operation.get(part), schemas, f"{method.upper()} {path}", seen)
    ]
    assert found == [], "`parachute.web.http.integers` has types for them"
    assert len(seen) > 20, "bodies were looked into"


@pytest.mark.parametrize("number", BEYOND)
async def test_what_no_database_can_hold_is_refused(owner: httpx2.AsyncClient, number: str) -> None:
    for method, path in (
        ("GET", f"/api/chat/{SESSION}/changes/{number}/diff?path=a"),
        ("GET", f"/api/chat/{SESSION}/transcript?segment={number}"),
        ("GET", f"/api/chat/{SESSION}/events?after={number}"),
        ("POST", f"/api/bots/deliveries/{number}/retry"),
        ("DELETE", f"/api/bots/deliveries/{number}"),
        ("GET", f"/api/files/changes?limit={number}"),
        ("GET", f"/api/audit?before=2024-01-15:{number}"),
    ):
        answer = await owner.request(method, path)
        # Nothing is looked for: that there is no such conversation would say nothing about the number.
        assert answer.status_code in (400, 422), (method, path, answer.text)
        assert answer.json()["key"] in ("invalid_input", "unknown_place"), (method, path, answer.text)
    for method, path, body in (
        ("POST", f"/api/chat/{SESSION}/undo", '{"run": %s}'),
        ("PATCH", f"/api/chat/{SESSION}/config", '{"sandboxOverride": {"processes": %s}}'),
        ("PATCH", f"/api/chat/{SESSION}/config", '{"sandboxOverride": {"cpus": %s}}'),
        ("PUT", "/api/config/sandbox.memory_megabytes", '{"value": %s}'),
        ("PUT", "/api/config/session_idle_minutes", '{"value": %s}'),
        ("PUT", "/api/bots/config", '{"telegram": {"daily_dollars": %s}}'),
        ("PUT", "/api/usage/limits/chats", '{"dollars": %s}'),
        ("POST", "/mcp", '{"jsonrpc": "2.0", "method": "tools/list", "id": %s}'),
    ):
        answer = await owner.request(method, path, content=body % number, headers=JSON)
        assert answer.status_code in (400, 422), (method, path, answer.text)
