"""A person's own commands hear of sessions, and one of them can refuse to let a session begin."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.chat.runs.answers import answered
from tests.support.messages_api import MessagesAPI, text
from tests.support.server import Server

pytestmark = pytest.mark.long

_NOTE = """#!/bin/sh
cat > "{folder}/part.$$"
mv "{folder}/part.$$" "{folder}/$$.json"
"""

_REFUSE = """#!/bin/sh
if grep -q '"working_directory": *"Projects/secret"'; then echo "not in this folder" >&2; exit 2; fi
"""


def _hook(server: Server, name: str, script: str) -> None:
    folder = server.home.root / "hooks"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / name).write_text(script)
    (folder / name).chmod(0o700)


def _approve(server: Server) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(server.folder), "PARACHUTE_HOME": str(server.home.root)}
    command = [sys.executable, "-m", "parachute.cli", "hooks", "approve", "--yes"]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=100)


def _heard(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in folder.glob("*.json")]


async def test_hooks_hear_of_sessions_and_may_refuse_one(api: MessagesAPI) -> None:
    settings = {"session_idle_minutes": 0.001}
    with Server(settings=settings, environment=api.credentials, real_agents=True) as server:
        heard = server.folder / "heard"
        heard.mkdir()
        _hook(server, "on-session-end.sh", _NOTE.format(folder=heard))
        _hook(server, "on-context-limit.sh", _NOTE.format(folder=heard))
        _hook(server, "on-session-start.sh", _REFUSE)
        (server.vault / "Projects" / "secret").mkdir(parents=True)
        api.default(text("Yes.").using(input_tokens=990_000))
        async with server.client() as client:
            await answered(client, "Before anybody approved a hook", workingDirectory="Projects/secret")
            assert _heard(heard) == []
            _approve(server)
            refused = await client.post("/api/chat", json={"message": "Hello", "workingDirectory": "Projects/secret"})
            assert refused.status_code == 403
            assert "not in this folder" in refused.json()["detail"]
            sessions = (await client.get("/api/chat")).json()["sessions"]
            stream = await answered(client, "Elsewhere")
            assert len((await client.get("/api/chat")).json()["sessions"]) == len(sessions) + 1
            session = stream.terminal["sessionId"]
            names = {"context.limit.approaching", "session.end"}

            def told() -> bool:
                return {each["event"] for each in _heard(heard) if each["data"]["session_id"] == session} == names

            server.wait_until(told, f"both hooks have heard of {session}")
