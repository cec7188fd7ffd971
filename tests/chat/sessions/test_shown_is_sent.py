"""Messages that people see are those that the real program sends to the model, whatever the transcript looks like."""

import asyncio
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from parachute.chat.claude_code_import.history import History
from parachute.chat.sessions.messages import Message, messages_of
from parachute.chat.sessions.transcripts import Transcripts
from parachute.config.agent_program import agent_program
from parachute.config.vault.service import Vault
from tests.chat.claude_code_import.writing import write
from tests.support.messages_api import MessagesAPI, text

from .shapes import SHAPES, Talk
from .shapes.writing import SESSION

pytestmark = pytest.mark.long

_MARK = re.compile(r"(?:asked|answered|called|result|summary|noted)\d+")

UNLINKED = "branches: no parents at all"
"""A file of another program, whose lines follow none: it is shown, though the program finds the last line alone."""


def marks(value: Any, *kinds: str) -> list[str]:
    """The marks in something, each once."""
    return [mark for mark in dict.fromkeys(_MARK.findall(json.dumps(value))) if mark.startswith(kinds)]


def adopted(folder: Path, content: bytes) -> bytes:
    """A transcript as it comes here."""
    write(folder / "original", "/a", content, session=SESSION)
    history = History(folder / "original")
    found = history.find(SESSION)[0]
    history.copy(found, folder / "copy")
    return (folder / "copy").read_bytes()


async def sent(api: MessagesAPI, folder: Path, content: bytes) -> list[dict[str, Any]]:
    """The messages that the program sends when it goes on with a transcript."""
    directory, home = folder / "boat", folder / "home"
    directory.mkdir()
    write(home / ".claude", str(directory), content, session=SESSION)
    process = await asyncio.create_subprocess_exec(
        *(str(agent_program()), "--print", "--setting-sources", "", "--tools", "", "--resume", SESSION, "Go on."),
        cwd=directory,
        env={**api.environment(home), "PATH": os.environ["PATH"]},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    messages: list[dict[str, Any]] = api.conversation[-1].body["messages"]
    return messages


def shown(folder: Path, content: bytes) -> list[Message]:
    """The messages that people see of a transcript."""
    transcripts = Transcripts(Vault(folder / "vault"), folder / "claude")
    path = transcripts.folder("a") / "a.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    found = transcripts.read("a", "messages")
    words = [marks(event, "asked", "answered") for event in transcripts.own_events("a")]
    assert found is not None
    messages = messages_of(found.events)
    # What is searched and quoted is what is shown.
    assert _each(words) == marks(messages, "asked", "answered")
    return messages


def _each(lists: Iterable[list[str]]) -> list[str]:
    return [mark for found in lists for mark in found]


@pytest.mark.parametrize("name", SHAPES)
async def test_shown_is_sent(model: MessagesAPI, tmp_path: Path, name: str) -> None:
    talk = Talk()
    SHAPES[name](talk)
    content = adopted(tmp_path, talk.content)
    seen = shown(tmp_path, content)
    for message in seen:
        if message["role"] == "user" and not message["isCompactSummary"]:
            assert marks(message, "noted") == [], "the program's words are not the person's"
    with model.lent(text("Yes.")):
        messages = await sent(model, tmp_path, content)
    # That a call was begun is shown, and the model is told of it in other words.
    begun = {
        block["id"]
        for each in seen
        for block in each["content"]
        if block["type"] == "tool_use" and "result" not in block
    }
    said, wanted = (
        [mark for mark in marks(each, "asked", "answered", "called") if mark not in begun] for each in (seen, messages)
    )
    if name == UNLINKED or marks(messages, "summary"):
        # What was summarized is shown, and the model has the summary in its place.
        said = said[-len(wanted) :] if wanted else []
    assert said == wanted
    results = set(marks(messages, "result"))
    assert results == set(marks(seen, "result")) or (
        marks(messages, "summary") and results <= set(marks(seen, "result"))
    )


def test_there_are_many_shapes() -> None:
    assert len(SHAPES) >= 60
