"""Additions by hooks reach the model whole in the first turn, once, and stays out of what the app shows."""

import json
import os
import subprocess
import sys

import pytest

from tests.chat.runs.answers import answered, ended, transcript_with
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text
from tests.support.server import Server

pytestmark = pytest.mark.long

_PARTS = {"one": 11_000, "two": 5_000}
"""Characters; more than the agent's program takes from one hook of its own."""


async def test_all_of_it_arrives_with_the_first_message(make_server: Make[Server], api: MessagesAPI) -> None:
    # A computer of its own: its hooks would add to the conversations of other tests.
    server = make_server()
    folder = server.home.root / "hooks"
    for name, size in _PARTS.items():
        told = f"BEGIN-{name} " + "abc " * (size // 4) + f"END-{name}"
        (folder / f"{name}.json").write_text(json.dumps({"additionalContext": told}))
    lines = "".join(f"    - command: cat {name}.json\n      name: {name}\n" for name in _PARTS)
    (server.home.root / "hooks.yaml").write_text(f"hooks:\n  session.start:\n{lines}")
    environment = {"PATH": os.environ["PATH"], "HOME": str(server.folder), "PARACHUTE_HOME": str(server.home.root)}
    command = [sys.executable, "-m", "parachute.cli", "hooks", "approve", "--yes"]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=100)
    api.script(text("Yes."), text("Yes again."))
    async with server.client() as client:
        first = await answered(client, "Good morning")
        (metadata,) = first.of_type("prompt_metadata")
        assert metadata["contextFiles"] == ["hook one", "hook two"]
        assert metadata["contextTokens"] > 3_900
        said = str(api.conversation[-1].body["messages"])
        marks = [f"{mark}-{name}" for name in _PARTS for mark in ("BEGIN", "END")]
        assert [said.count(mark) for mark in marks] == [1, 1, 1, 1]
        assert [said.index(mark) for mark in marks] == sorted(said.index(mark) for mark in marks)
        # A few are cut in two where one piece ends and the next begins.
        assert said.count("abc") > sum(_PARTS.values()) // 4 - 10
        assert "BEGIN-one" not in str(api.conversation[-1].body["system"])
        second = await answered(client, "And again", ended(first)["sessionId"])
        assert second.of_type("prompt_metadata")[0]["contextFiles"] == []
        assert str(api.conversation[-1].body["messages"]).count("BEGIN-one") == 1
        await transcript_with(client, ended(first)["sessionId"], "Yes again.")
        shown = (await client.get(f"/api/chat/{ended(first)['sessionId']}")).json()["messages"]
        assert [message["content"][0]["text"] for message in shown] == [
            "Good morning",
            "Yes.",
            "And again",
            "Yes again.",
        ]
