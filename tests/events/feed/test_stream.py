"""A screen follows a whole computer: what an app does on one device is told to the others, and a key hears its own part."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx2

from parachute.security.keys.cli_token import CliToken
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text
from tests.support.sse import chat


@asynccontextmanager
async def following(client: httpx2.AsyncClient, **options: Any) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """The events of the stream, each with the id of its own line."""
    async with client.stream("GET", "/api/events", **options) as response:
        assert response.status_code == 200, await response.aread()

        async def events() -> AsyncGenerator[dict[str, Any], None]:
            identifier = ""
            async for line in response.aiter_lines():
                if line.startswith("id: "):
                    identifier = line.removeprefix("id: ")
                elif line.startswith("data: "):
                    event = json.loads(line.removeprefix("data: "))
                    assert event["cursor"] == identifier
                    yield event

        async with aclosing(events()) as found:
            yield found


async def heard(events: AsyncIterator[dict[str, Any]], *topics: str) -> dict[str, dict[str, Any]]:
    """The first event of each of these topics."""
    found: dict[str, dict[str, Any]] = {}
    async for event in events:
        if event["type"] == "changed":
            found.setdefault(event["topic"], event)
        if found.keys() >= set(topics):
            return found
    raise AssertionError(f"the stream ended after {list(found)}")


async def test_a_screen_hears_what_others_do_and_nobody_without_a_right(computer: Computer, api: MessagesAPI) -> None:
    api.default(text("Ahoy."))
    owner = {"authorization": f"Bearer {CliToken(computer.home.root).obtain()}"}
    async with computer.client(headers=owner) as console, computer.client() as app:
        made = (await console.post("/api/auth/keys", json={"label": "Guest", "scopes": ["chat:read"]})).json()
        guest = {"authorization": f"Bearer {made['key']}"}
        async with following(console) as events, following(app, headers=guest) as guests:
            assert [(await anext(each))["type"] for each in (events, guests)] == ["ready", "ready"]
            async with chat(app, "Hello") as stream:
                await stream.collect()
                session = stream.of_type("session")[0]["sessionId"]
            found = await heard(events, "sessions", "runs", "usage")
            assert found["runs"]["id"] == session
            assert "Hello" not in json.dumps(found)
            # Written by another program, as the command line does while the server runs.
            (computer.home.root / "hooks.yaml").write_text("hooks: []\n")
            await heard(events, "hooks")
            await app.post("/api/panic")
            last = (await heard(events, "panic"))["panic"]
            await console.post("/api/resume")
            await console.delete(f"/api/auth/keys/{made['id']}")
            told = {event["topic"] async for event in guests}
            # And the stream ends with its key.
            assert told <= {"sessions", "runs", "usage", "imports", "panic", "workspaces"}
            assert {"sessions", "runs"} <= told
        async with following(console, params={"after": last["cursor"]}) as events:
            assert (await anext(events))["type"] == "ready"
            await heard(events, "panic", "keys")
        computer.kill_core()
        async with following(console, headers={**owner, "last-event-id": last["cursor"]}) as events:
            assert (await anext(events))["type"] == "resync"
        wrong = await app.get("/api/events", headers={"authorization": "Bearer para_wrong"})
        assert (wrong.status_code, wrong.headers["content-type"]) == (401, "application/json")
