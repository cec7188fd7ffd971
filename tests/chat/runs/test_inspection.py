"""Asking a running computer whether the box of a conversation is what was asked for."""

import asyncio
import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from msgspec.structs import replace

from parachute.sandbox.engines.models import Specification
from tests.sandbox.engines.conftest import needs_bubblewrap
from tests.sandbox.engines.holding import Holding
from tests.support.computer import Computer
from tests.support.fork_server import shared_forks
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text
from tests.support.server import Server
from tests.support.sse import chat
from tests.support.waiting import SECONDS, still_running, until

pytestmark = [needs_bubblewrap, pytest.mark.long]


def command_line(server: Server, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`parachute`, as the owner of this computer."""
    environment = {"PATH": os.environ["PATH"], "PARACHUTE_HOME": str(server.home.root), "HOME": str(server.folder)}
    code, out, err = shared_forks().run(arguments, environment, str(server.folder), "", SECONDS)
    return subprocess.CompletedProcess(arguments, code, out, err)


def differing(explanation: dict[str, Any]) -> list[str]:
    """Names of the rows that differ."""
    return [row["name"] for row in explanation["rows"] if row["differs"]]


async def test_a_box_is_looked_at_whether_it_runs_or_not(make_computer: Make[Computer], api: MessagesAPI) -> None:
    computer = make_computer(sandbox={"engine": "bubblewrap"})
    api.script(text("one"), text("two"), text("three"))
    async with computer.client() as client:
        async with chat(client, "first") as stream:
            await stream.collect()
        session = stream.terminal["sessionId"]
        running = (await client.get(f"/api/sandbox/sessions/{session}")).json()
        assert (running["mode"], running["engine"], running["started"]) == ("sandboxed", "bubblewrap", False)
        assert (running["differs"], differing(running)) == (False, [])
        async with chat(client, "second", session_id=session) as stream:
            await stream.collect()
        assert stream.terminal["type"] == "done"
        assert stream.of_type("session")[-1]["sessionResume"]["cacheHit"] is True, "the agent was not disturbed"
        computer.kill_core()
        started = (await client.get(f"/api/sandbox/sessions/{session}")).json()
        assert (started["started"], started["differs"]) == (True, False)
        async with chat(client, "third", session_id=session) as stream:
            events = await stream.collect()
        assert stream.terminal["type"] == "done"
        assert [event for event in events if event["type"] == "warning"] == []


async def test_a_sandbox_that_is_closed_during_the_look_is_opened_for_it_again(
    make_server: Make[Server], api: MessagesAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holding = Holding(tmp_path)
    (tmp_path / "bwrap").write_text(holding.program)
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    server = make_server(sandbox={"engine": "bubblewrap"})
    api.script(text("one"))
    async with server.client() as client:
        async with chat(client, "first") as stream:
            await stream.collect()
        session = stream.terminal["sessionId"]

        async def is_answered() -> bool:
            status = await client.get(f"/api/chat/{session}/stream-status")
            return bool(status.json() == {"active": False})

        # The last event comes before the agent is kept, and one that has ended by then would be cleared away at once.
        await until(is_answered, "the agent is kept")
        ended = server.processes()
        for process in ended:
            with suppress(psutil.NoSuchProcess):  # it has ended with the one before
                process.kill()
        assert not still_running(ended)
        holding.begin()
        looking = asyncio.create_task(client.get(f"/api/sandbox/sessions/{session}"))
        await holding.reached()
        # The agent, which has ended with its sandbox, is cleared away.
        changed = await client.patch(f"/api/chat/{session}/config", json={"capabilities": ["read"]})
        assert changed.status_code == 200, changed.text
        # It may have been cleared away before the look; then the sandbox is started once more.
        holding.end()
        found = (await looking).json()
    assert (found["started"], found["differs"]) == (True, False), found


async def test_a_difference_fails_the_command_and_is_told_in_the_next_turn(server: Server, api: MessagesAPI) -> None:
    api.script(text("one"), text("two"), text("three"))
    async with server.client() as client:
        async with chat(client, "first") as stream:
            await stream.collect()
        session = stream.terminal["sessionId"]
        shown = command_line(server, "sandbox", "explain", session)
        assert shown.returncode == 0, shown
        assert "127.0.0.1 of this machine" in shown.stdout
        assert shown.stdout.endswith("\nEverything asked for holds.\n")
        folder = server.home.sandboxes
        replace(Specification.load(folder, session), processes=7).save(folder)
        shown = command_line(server, "sandbox", "explain", session)
        assert shown.returncode == 1
        assert "Error: specification: asked was" in shown.stderr
        assert shown.stdout.endswith("\n1 thing does not hold.\n")
        found = command_line(server, "sandbox", "explain", session, "--json")
        assert found.returncode == 1
        assert differing(json.loads(found.stdout)) == ["specification"]
        warnings = []
        for message in ("second", "third"):
            async with chat(client, message, session_id=session) as stream:
                events = await stream.collect()
            warnings.append([event["title"] for event in events if event["type"] == "warning"])
    assert warnings == [["Sandbox not as asked"], []]


async def test_a_direct_session_says_that_nothing_is_enforced(server: Server, api: MessagesAPI) -> None:
    api.script(text("one"))
    async with server.client() as client:
        async with chat(client, "first", trustLevel="direct") as stream:
            await stream.collect()
        found = (await client.get(f"/api/sandbox/sessions/{stream.terminal['sessionId']}")).json()
        assert (found["mode"], found["engine"], found["rows"]) == ("direct", None, [])
        assert "nothing holds its agent back" in found["note"]
        missing = await client.get("/api/sandbox/sessions/00000000-0000-4000-8000-000000000000")
        assert missing.status_code == 404
    shown = command_line(server, "sandbox", "explain", stream.terminal["sessionId"])
    assert (shown.returncode, "nothing holds its agent back" in shown.stdout) == (0, True)


async def test_only_the_owner_may_look(server: Server, api: MessagesAPI) -> None:
    api.script(text("one"))
    async with server.client() as client:
        async with chat(client, "first") as stream:
            await stream.collect()
        made = command_line(server, "keys", "create", "kitchen", "--scope", "*:read,write", "--json")
        assert made.returncode == 0, made
        key = json.loads(made.stdout)["key"]
        refused = await client.get(f"/api/sandbox/sessions/{stream.terminal['sessionId']}", headers={"X-API-Key": key})
    assert refused.status_code == 403
