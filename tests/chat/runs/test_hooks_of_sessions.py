"""A person's own commands hear of sessions, and one of them can refuse to let a session begin."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.runs.answers import answered
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text

_NOTE = """#!/bin/sh
cat >> "{file}"
echo >> "{file}"
"""

_REFUSE = """#!/bin/sh
if grep -q '"working_directory": *"Projects/secret"'; then echo "not in this folder" >&2; exit 2; fi
"""


def _hook(computer: Computer, name: str, script: str) -> None:
    folder = computer.home.root / "hooks"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / name).write_text(script)
    (folder / name).chmod(0o700)


def _approve(computer: Computer) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(computer.folder), "PARACHUTE_HOME": str(computer.home.root)}
    command = [sys.executable, "-m", "parachute.cli", "hooks", "approve", "--yes"]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=30)


def _heard(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines() if line.strip()] if file.exists() else []


async def test_hooks_hear_of_sessions_and_may_refuse_one(api: MessagesAPI) -> None:
    settings = {"session_idle_minutes": 0.001}
    environment = {"ANTHROPIC_API_KEY": "sk-ant-api03-real", "ANTHROPIC_BASE_URL": api.url}
    with Computer(settings=settings, environment=environment) as computer:
        file = computer.folder / "heard"
        _hook(computer, "on-session-end.sh", _NOTE.format(file=file))
        _hook(computer, "on-context-limit.sh", _NOTE.format(file=file))
        _hook(computer, "on-session-start.sh", _REFUSE)
        (computer.vault / "Projects" / "secret").mkdir(parents=True)
        api.default(text("Yes.").using(input_tokens=990_000))
        async with computer.client() as client:
            await answered(client, "Before anybody approved a hook", workingDirectory="Projects/secret")
            assert _heard(file) == []
            _approve(computer)
            refused = await client.post("/api/chat", json={"message": "Hello", "workingDirectory": "Projects/secret"})
            assert refused.status_code == 403
            assert "not in this folder" in refused.json()["detail"]
            sessions = (await client.get("/api/chat")).json()["sessions"]
            stream = await answered(client, "Elsewhere")
            assert len((await client.get("/api/chat")).json()["sessions"]) == len(sessions) + 1
            session = stream.terminal["sessionId"]
            names = {"context.limit.approaching", "session.end"}

            def told() -> bool:
                of_session = [event for event in _heard(file) if event["data"]["session_id"] == session]  # type: ignore[index]
                return {str(event["event"]) for event in of_session} == names

            computer.wait_until(
                told, f"both hooks were told of {session}; {file.read_text() if file.exists() else 0}", seconds=40
            )
