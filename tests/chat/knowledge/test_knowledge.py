"""Knowledge of a module reaches the model with the message, and the app sees where it came from."""

from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import InvalidInput
from parachute.chat.knowledge.service import Knowledge, KnowledgeService
from parachute.modules.registry.service import Modules
from parachute.modules.runtime.interfaces import Interfaces
from tests.support.messages_api import MessagesAPI, text
from tests.support.server import Server
from tests.support.sse import ChatStream, chat

pytestmark = pytest.mark.long

MANIFEST = """\
name: knowing
version: 1.0.0
module: module.py
provides: [ContextInterface]
"""
MODULE = """
import asyncio
from parachute.core import Module, NotFound
from parachute.core.interfaces import Context, Entity

ENTRY = Entity("para:daily:abcdefghijkl", "2026-01-02", "entry")

class Knowing(Module):
    name = "knowing"
    version = "1.0.0"
    provides = ["ContextInterface"]

    async def context_for(self, message: str, session_id: str, budget: int) -> Context:
        if "fail" in message:
            raise NotFound("Nothing is known.")
        if "LVB" not in message:
            return Context("")
        return Context("LVB is a curriculum.", [Entity("para:knowing:abcdefghijkl", "LVB", path="Brain/lvb.md"), ENTRY])
"""


async def _chat(server: Server, message: str, session: str = "new") -> ChatStream:
    async with server.client() as client, chat(client, message, session) as stream:
        await stream.collect()
        return stream


async def test_what_is_known_travels_with_the_message(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(MANIFEST)
    (tmp_path / "module.py").write_text(MODULE)
    with MessagesAPI() as api:
        api.default(text("Yes."))
        environment = {"ANTHROPIC_API_KEY": "sk-ant-api03-test", "ANTHROPIC_BASE_URL": api.url}
        server = Server(environment=environment)
        server.vault.mkdir()
        modules = Modules(server.home, server.vault)
        with modules.installing(str(tmp_path)) as installation:
            installation.finish()
        with server:
            async with server.client() as client:
                # It starts here: a message does not wait long for it.
                assert (await client.get("/api/knowing/anything")).status_code == 404
            answer = await _chat(server, "What about LVB?")
            [shown] = answer.of_type("prompt_metadata")
            assert shown["contextFiles"] == ["Brain/lvb.md", "2026-01-02"]
            assert (shown["knownNames"], shown["knownEntries"]) == (["LVB"], 1)
            request = api.conversation[-1].body
            assert "LVB is a curriculum." in str(request["messages"])
            assert "LVB is a curriculum." not in str(request["system"])
            session = answer.events[-1]["sessionId"]
            for message in ("And the weather?", "Now fail, please."):
                answer = await _chat(server, message, session)
                assert answer.events[-1]["type"] == "done"
                [shown] = answer.of_type("prompt_metadata")
                assert shown["contextFiles"] == []
            # What was told once stays in the transcript and is not told again.
            assert str(api.conversation[-1].body["messages"]).count("LVB is a curriculum.") == 1


async def test_instructions_come_only_from_project_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    allowed, other, vault = tmp_path / "Projects" / "lvb", tmp_path / "Secret", tmp_path / "Vault"
    for folder in (allowed, other, vault / "Own", vault / ".hidden", vault / "Large"):
        folder.mkdir(parents=True)
        (folder / "AGENTS.md").write_text(f"Rules of {folder.name}.")
        (folder / "notes.md").write_text("private")
    (allowed / "CLAUDE.md").symlink_to(other / "AGENTS.md")
    (vault / "Link").symlink_to(other)
    (vault / "Own" / "CLAUDE.md").symlink_to(vault / "Own" / "notes.md")
    (vault / "Large" / "AGENTS.md").write_bytes(b"x" * 100_000)

    def check(folder: Path) -> Path:
        real = folder.resolve()
        if ".hidden" in real.parts or not any(real.is_relative_to(root) for root in (tmp_path / "Projects", vault)):
            raise InvalidInput("It is not a project's folder.")
        return folder.resolve()

    async def known(*paths: Any) -> Knowledge:
        answer = {"text": "LVB.", "entities": [], "instructions": list(paths)}
        return await KnowledgeService(Answering(answer), check, vault).for_message("session", "LVB")

    both = await known("~/Projects/lvb/AGENTS.md", "Own/AGENTS.md")
    assert both.text == "LVB.\n\n### ~/Projects/lvb/AGENTS.md\n\nRules of lvb.\n\n### Own/AGENTS.md\n\nRules of Own."
    assert both.sources == ("~/Projects/lvb/AGENTS.md", "Own/AGENTS.md")
    for refused in (
        *(
            "~/Projects/lvb/CLAUDE.md",
            "~/Projects/lvb/notes.md",
            "~/Secret/AGENTS.md",
            "~/Projects/../Secret/AGENTS.md",
        ),
        *(
            "Own/CLAUDE.md",
            "Own/notes.md",
            ".hidden/AGENTS.md",
            "Link/AGENTS.md",
            "Large/AGENTS.md",
            "Absent/AGENTS.md",
        ),
        *("Own/../Own/AGENTS.md", "../Secret/AGENTS.md", "/etc/passwd", "", 5),
    ):
        assert await known(refused) == Knowledge("LVB."), refused


@pytest.mark.parametrize(
    "answer", [None, [], {"text": 5}, {"text": "x", "entities": "y", "instructions": "z"}, {"entities": []}]
)
async def test_an_answer_that_is_none_is_left_out(answer: Any) -> None:
    known = await KnowledgeService(Answering(answer), lambda folder: folder, Path("/")).for_message("session", "Hello")
    assert known.sources == ()
    assert known.text in ("", "x")


class Answering(Interfaces):
    """A module's answer, without the module."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def is_provided(self, interface: str) -> bool:
        return True

    async def call_for_core(self, interface: str, method: str, arguments: dict[str, Any], seconds: float) -> Any:
        return self._answer
