"""Every answer as the app reads it, from a whole computer."""

import asyncio
import functools
import json
import re
from typing import Any

import httpx2
import pytest

from tests.contract import models
from tests.contract.responses import check_error, check_response
from tests.support.computer import Computer
from tests.support.messages_api import Gate, MessagesAPI, hold, text
from tests.support.sse import chat

from .conftest import KEY, MESSAGE, settled, talk, tree, vault_text
from .with_key import LABEL, ComputerWithKey

BODYLESS = {"content-type": "application/json"}
LOCAL_TIME = re.compile(r'"\d{4}-\d{2}-\d{2}T[\d:.]+"')


async def test_health(installation: Computer, owner: httpx2.AsyncClient) -> None:
    async with installation.client() as anybody:
        plain = await anybody.get("/api/health")
        check_response(models.Health, plain, present=["version"])
        assert plain.json().keys() == {"status", "version"}
        present = ["version", "vault.path", "docker.available", "docker.image_exists"]
        detailed = check_response(
            models.DetailedHealth, await anybody.get("/api/health?detailed=true"), present=present
        )
        assert detailed.vault is not None
        assert detailed.vault.path == str(installation.vault)
    async with installation.client(headers={"authorization": "Bearer wrong"}) as stranger:
        answer = (await stranger.get("/api/health?detailed=true")).json()
        assert "vault" not in answer


async def test_who_needs_a_key(installation: Computer) -> None:
    async with Computer.client(installation) as nobody:
        for path in ("/api/chat", "/api/modules", "/api/workspaces", "/api/hooks"):
            assert (await nobody.get(path)).status_code == (401 if isinstance(installation, ComputerWithKey) else 200)


async def test_a_session_through_its_life(installation: Computer, owner: httpx2.AsyncClient) -> None:
    session = await talk(owner)
    present = ["id", "title", "createdAt", "updatedAt", "messageCount", "source", "trustLevel", "metadata"]
    found = check_response(models.SessionWithMessages, await owner.get(f"/api/chat/{session}"), present=present)
    assert (found.title, found.message_count, found.trust_level) == (MESSAGE, 2, "sandboxed")
    assert [message.role for message in found.messages] == ["user", "assistant"]
    transcript = await owner.get(f"/api/chat/{session}/transcript?after_compact=true")
    present = ["sessionId", "transcriptPath", "eventCount", "events", "segments", "segmentCount", "loadedSegmentIndex"]
    read = check_response(models.Transcript, transcript, present=present)
    assert read.event_count == len(read.events) == 2
    for query in ("after_compact=true&full=true", "after_compact=false&segment=0"):
        again = await owner.get(f"/api/chat/{session}/transcript?{query}")
        assert check_response(models.Transcript, again).events == read.events
    for path, archived in (("archive", True), ("unarchive", False), ("archive", True)):
        response = await owner.post(f"/api/chat/{session}/{path}", headers=BODYLESS)
        assert check_response(models.SessionEnvelope, response).session.archived is archived
    page = await owner.get(f"/api/chat/{session}/export?form=html")
    assert page.headers["content-disposition"].startswith("attachment; filename*=UTF-8''")
    assert MESSAGE in page.text
    listed = check_response(models.SessionList, await owner.get("/api/chat?limit=500&archived=true"))
    assert session in [entry.id for entry in listed.sessions]
    listed = check_response(models.SessionList, await owner.get("/api/chat?limit=500"))
    assert session not in [entry.id for entry in listed.sessions]
    # A message takes it back.
    await talk(owner, "And now?", session)
    listed = check_response(models.SessionList, await owner.get("/api/chat?search=ottilie+telesc"))
    assert session in [entry.id for entry in listed.sessions]
    changes = {"trustLevel": "untrusted", "workspaceId": "", "responseMode": "mention_only", "mentionPattern": "@p"}
    changed = check_response(models.SessionEnvelope, await owner.patch(f"/api/chat/{session}/config", json=changes))
    assert changed.session.metadata is not None
    assert changed.session.metadata.bot_settings is not None
    assert changed.session.metadata.bot_settings.mention_pattern == "@p"
    assert (await owner.post(f"/api/chat/{session}/activate", json={})).status_code == 200
    await settled(installation)
    status = check_response(models.StreamStatus, await owner.get(f"/api/chat/{session}/stream-status"))
    assert status.active is False
    check_response(models.PendingQuestions, await owner.get(f"/api/chat/{session}/pending-questions"))
    check_error(await owner.post(f"/api/chat/{session}/abort", headers=BODYLESS), 404)
    assert (await owner.delete(f"/api/chat/{session}")).status_code == 200
    for path in ("", "/transcript", "/events"):
        check_error(await owner.get(f"/api/chat/{session}{path}"), 404)
    check_error(await owner.delete(f"/api/chat/{session}"), 404)
    assert not [path for path in tree(installation.vault) if session in path.name]


async def test_while_it_is_answered(installation: Computer, owner: httpx2.AsyncClient, model: MessagesAPI) -> None:
    gate = Gate()
    model.script(hold(gate, text("Late.")))
    try:
        async with chat(owner, "Wait.") as stream:
            session = (await stream.until("session"))["sessionId"]
            await gate.reached()
            # The row exists before the first event that carries the id.
            assert (await owner.get(f"/api/chat/{session}")).status_code == 200
            streams = check_response(models.ActiveStreams, await owner.get("/api/chat/active-streams")).streams
            assert streams == [session]
            assert (await owner.get(f"/api/chat/{session}/stream-status")).json()["active"] is True
            body = {"message": "Me too.", "sessionId": session, "module": "chat"}
            check_error(await owner.post("/api/chat", json=body), 409)
            # What others change meanwhile stays when the turn ends.
            await owner.post(f"/api/chat/{session}/archive", headers=BODYLESS)
            await owner.patch(f"/api/chat/{session}/config", json={"responseMode": "mention_only"})
            gate.open()
            await stream.collect()
    finally:
        gate.open()
    found = (await owner.get(f"/api/chat/{session}")).json()
    assert found["archived"] is True
    assert found["messageCount"] == 2
    assert found["metadata"]["bot_settings"]["response_mode"] == "mention_only"


async def test_lists_answer_304_until_something_changes(owner: httpx2.AsyncClient) -> None:
    session = await talk(owner)
    first = await owner.get("/api/chat?limit=500")
    etag = first.headers["etag"]
    same = await owner.get("/api/chat?limit=500", headers={"if-none-match": etag})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", etag)
    for query in ("limit=499", "limit=500&archived=true", "limit=500&search=xy", "limit=500&offset=1"):
        assert (await owner.get(f"/api/chat?{query}", headers={"if-none-match": etag})).status_code == 200
    await owner.post(f"/api/chat/{session}/archive", headers=BODYLESS)
    changed = await owner.get("/api/chat?limit=500", headers={"if-none-match": etag})
    assert changed.status_code == 200
    assert session not in changed.text


async def test_keys(owner: httpx2.AsyncClient, installation: Computer) -> None:
    created = await owner.post("/api/auth/keys", json={"label": "Phone"})
    key = check_response(models.CreatedKey, created)
    listed = check_response(models.KeyList, await owner.get("/api/auth/keys"), present=["auth_mode"])
    assert key.id in [entry.id for entry in listed.keys]
    settings = check_response(models.AuthSettings, await owner.get("/api/auth/settings"), present=["require_auth"])
    assert settings.key_count == len(listed.keys)
    async with installation.client(headers={"x-api-key": key.key}) as phone:
        check_response(models.SessionList, await phone.get("/api/chat?limit=1"))
    for other in listed.keys:
        if other.id != key.id and other.label != LABEL:
            assert (await owner.delete(f"/api/auth/keys/{other.id}")).status_code == 200
    # The last one with admin rights, too, where this computer listens on loopback alone and needs none.
    assert (await owner.delete(f"/api/auth/keys/{key.id}")).status_code == 200
    async with installation.client(headers={"x-api-key": key.key}) as phone:
        check_error(await phone.get("/api/chat"), 401)


async def test_usage_and_supervisor(owner: httpx2.AsyncClient, installation: Computer) -> None:
    usage = check_response(models.Usage, await owner.get("/api/usage"))
    assert usage.error is not None
    present = ["main_server_uptime_seconds", "main_server_version", "main_server_port"]
    async with installation.client() as anybody:
        status = check_response(models.SupervisorStatus, await anybody.get("/supervisor/status"), present=present)
        assert (status.main_server_status, status.main_server_port) == ("running", installation.port)
        started = await anybody.post("/supervisor/server/start", headers=BODYLESS)
        assert (started.status_code, started.json()) == (200, {"status": "running"})
    listed = check_response(models.SupervisorModels, await owner.get("/supervisor/models?show_all=true"))
    assert {model.family for model in listed.models} == {"opus", "sonnet", "haiku"}
    assert (await owner.post("/supervisor/server/start", headers=BODYLESS)).status_code == 200


async def test_status_tells_of_the_limit(owner: httpx2.AsyncClient) -> None:
    status = (await owner.get("/api/status")).json()
    assert status["provider"]["provider"] == "anthropic"
    assert status["provider"]["daily_spending_limit"] == 20.0
    assert status["provider"]["limit_reached"] is None
    assert status["provider"]["credential"]["source"] == "ANTHROPIC_API_KEY"


@pytest.mark.long
async def test_times_have_their_zone(owner: httpx2.AsyncClient) -> None:
    session = await talk(owner)
    for path in ("/api/chat", f"/api/chat/{session}", "/api/auth/keys", "/supervisor/models", "/api/usage"):
        body = (await owner.get(path)).text
        assert not LOCAL_TIME.search(body), path


@pytest.mark.long
async def test_a_large_transcript_holds_up_nobody(installation: Computer, owner: httpx2.AsyncClient) -> None:
    session = await talk(owner)
    (path,) = installation.vault.glob(f".claude/projects/*/{session}.jsonl")
    line = {"type": "user", "uuid": "u", "message": {"role": "user", "content": "x" * 2000}}
    with path.open("ab") as file:
        file.write((json.dumps(line).encode() + b"\n") * 10_000)
    asked = [
        asyncio.create_task(owner.get(f"/api/chat/{session}/transcript?after_compact=true&full=true")),
        asyncio.create_task(owner.get(f"/api/chat/{session}")),
    ]
    meanwhile = 0
    while not all(task.done() for task in asked):
        assert (await owner.get("/api/health")).status_code == 200
        meanwhile += 1
    for task in asked:
        assert task.result().status_code == 200
        assert len(task.result().content) < 10 * 1024 * 1024
    assert meanwhile > 2
    assert asked[0].result().json()["eventCount"] == 10_002


@pytest.mark.long
async def test_a_hostile_transcript_gives_json(installation: Computer, owner: httpx2.AsyncClient) -> None:
    session = await talk(owner)
    (path,) = installation.vault.glob(f".claude/projects/*/{session}.jsonl")
    lines: list[Any] = [
        {"type": "user", "message": {"content": "\ud800"}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": 1}]}, "timestamp": "yesterday"},
        {
            "type": "assistant",
            "message": {"content": [{"type": "tool_use", "id": "a", "name": "b", "input": {"c": 1e999}}]},
        },
    ]
    with path.open("ab") as file:
        file.write(b"".join(json.dumps(entry).encode() + b"\n" for entry in lines) + b"[" * 100_000 + b"\n\xff\n")
    check_response(models.Transcript, await owner.get(f"/api/chat/{session}/transcript"))
    check_response(models.SessionWithMessages, await owner.get(f"/api/chat/{session}"))
    assert (await owner.post("/api/chat/reindex", headers=BODYLESS)).status_code == 200


@pytest.mark.long
async def test_two_apps_at_once(installation: Computer, owner: httpx2.AsyncClient) -> None:
    async with installation.client() as phone, installation.client() as desk:
        sessions = await asyncio.gather(*(talk(app, f"Message {number}") for number, app in enumerate((phone, desk))))
        assert len(set(sessions)) == 2
        for app in (phone, desk):
            listed = (await app.get("/api/chat?limit=500")).json()["sessions"]
            assert set(sessions) <= {session["id"] for session in listed}


async def test_everything_is_audited_and_nothing_secret(installation: Computer, owner: httpx2.AsyncClient) -> None:
    key = (await owner.post("/api/auth/keys", json={"label": "Audited"})).json()["key"]
    session = await talk(owner, "The password is hunter2.")
    await owner.post(f"/api/chat/{session}/archive", headers=BODYLESS)
    await owner.delete(f"/api/chat/{session}")

    def events() -> list[dict[str, Any]]:
        return [json.loads(line) for line in vault_text(installation, "audit/*.jsonl").splitlines()]

    def seen(kind: str, endpoint: str) -> bool:
        return any((event["event_type"], event["target_endpoint"]) == (kind, endpoint) for event in events())

    for kind, endpoint in (
        ("api_call", f"DELETE /api/chat/{session}"),
        ("api_call", "POST /api/auth/keys"),
        ("api_call", "POST /api/chat"),
        ("api_call", f"POST /api/chat/{session}/archive"),
        ("gateway_call", "/v1/messages"),
        ("run", "run"),
    ):
        what = f"{kind} {endpoint} is in the audit log"
        await asyncio.to_thread(installation.wait_until, functools.partial(seen, kind, endpoint), what)
    assert {event["source_type"] for event in events()} <= {
        "cli",
        "local",
        "agent",
        "core",
        "api_key",
        "anonymous",
        "hook",
        "user",
    }
    everything = vault_text(installation, "audit/*.jsonl") + installation.logs()
    token = owner.headers["authorization"].removeprefix("Bearer ")
    for secret in (KEY, key, token, "hunter2", "telescope"):
        assert secret not in everything
    assert "HTTP Request:" not in everything


@pytest.mark.parametrize("path", ["/api/chat", "/api/health"])
async def test_another_origin_is_refused(installation: Computer, path: str) -> None:
    async with installation.client(headers={"origin": "https://evil.example"}) as page:
        check_error(await page.post(path, headers=BODYLESS), 403)
        response = await page.request("OPTIONS", path, headers={"access-control-request-method": "POST"})
        assert response.status_code == 403
        assert "access-control-allow-origin" not in response.headers
