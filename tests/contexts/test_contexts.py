"""Knowledge of a module reaches the model with the message, and the app sees where it came from."""

from pathlib import Path

import pytest

from parachute.modules.service import Modules
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text
from tests.support.sse import ChatStream, chat

MANIFEST = """\
name: knowing
version: 1.0.0
module: module.py
provides: [ContextInterface]
"""
MODULE = '''
import asyncio
from parachute.core import Module, NotFound
from parachute.core.interfaces import Context, Entity

class Knowing(Module):
    name = "knowing"
    version = "1.0.0"
    provides = ["ContextInterface"]

    async def context_for(self, message: str, session_id: str, budget: int) -> Context:
        if "fail" in message:
            raise NotFound("Nothing is known.")
        if "LVB" not in message:
            return Context("")
        return Context("LVB is a curriculum.", [Entity("para:knowing:abcdefghijkl", "LVB", path="Brain/lvb.md")])
'''


async def _chat(computer: Computer, message: str, session: str = "new") -> ChatStream:
    async with computer.client() as client, chat(client, message, session) as stream:
        await stream.collect()
        return stream


@pytest.mark.timeout(120)
async def test_what_is_known_travels_with_the_message(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(MANIFEST)
    (tmp_path / "module.py").write_text(MODULE)
    with MessagesAPI() as api:
        api.default(text("Yes."))
        environment = {"ANTHROPIC_API_KEY": "sk-ant-api03-test", "ANTHROPIC_BASE_URL": api.url}
        computer = Computer(environment=environment)
        computer.vault.mkdir()
        modules = Modules(computer.home, computer.vault)
        with modules.installing(str(tmp_path)) as installation:
            installation.finish()
        with computer:
            answer = await _chat(computer, "What about LVB?")
            [shown] = answer.of_type("prompt_metadata")
            assert shown["contextFiles"] == ["Brain/lvb.md"]
            request = api.conversation[-1].body
            assert "LVB is a curriculum." in str(request["messages"])
            assert "LVB is a curriculum." not in str(request["system"])
            session = answer.events[-1]["sessionId"]
            for message in ("And the weather?", "Now fail, please."):
                answer = await _chat(computer, message, session)
                assert answer.events[-1]["type"] == "done"
                [shown] = answer.of_type("prompt_metadata")
                assert shown["contextFiles"] == []
            # What was told once stays in the transcript and is not told again.
            assert str(api.conversation[-1].body["messages"]).count("LVB is a curriculum.") == 1
