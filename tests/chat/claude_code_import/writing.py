"""Transcripts as Claude Code writes them, and the program itself."""

import asyncio
import json
import os
import uuid
from pathlib import Path
from typing import Any

from parachute.config.agent_program import agent_program
from parachute.sandbox.engines.models import encoded_directory
from tests.support.messages_api import MessagesAPI

NOON = "2026-02-01T12:00:00.000Z"
LATER = "2026-02-01T12:05:00.000Z"


def said(kind: str, text: Any, cwd: str | None = None, **members: Any) -> dict[str, Any]:
    """One line of a person or of the model."""
    message = {"role": kind, "content": text}
    if kind == "assistant":
        message |= {"model": "claude-opus-4-5", "content": [{"type": "text", "text": text}]}
    where = {} if cwd is None else {"cwd": cwd}
    return (
        {"parentUuid": None, "isSidechain": False, "type": kind, "timestamp": NOON, "message": message}
        | where
        | members
    )


def talk(cwd: str) -> list[dict[str, Any]]:
    """A short conversation."""
    return [said("user", "Which kettle?", cwd), said("assistant", "The red one.", cwd, timestamp=LATER)]


def write(claude: Path, cwd: str, *lines: Any, session: str | None = None, at: int | None = None) -> str:
    """Write a transcript below `{claude}/projects`, bytes as they are; the id of the conversation.

    `at`: when it was changed last, in seconds.
    """
    session = session or str(uuid.uuid4())
    folder = claude / "projects" / str(encoded_directory(cwd))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.jsonl"
    path.write_bytes(b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines))
    if at is not None:
        os.utime(path, (at, at))
    return session


async def claude_says(api: MessagesAPI, home: Path, directory: Path, message: str) -> str:
    """Have a conversation with the real program, as its user would; the id of the conversation."""
    directory.mkdir(parents=True, exist_ok=True)
    session = str(uuid.uuid4())
    environment = {**api.environment(home), "PATH": os.environ["PATH"]}
    process = await asyncio.create_subprocess_exec(
        *(str(agent_program()), "--print", "--session-id", session, message),
        cwd=directory,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 100)
    assert process.returncode == 0, output.decode()
    return session
