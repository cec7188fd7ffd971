"""A conversation with the owner's own rights says before it works what it could not bring back, and brings back the rest."""

import pytest

from tests.changes.listing import listed
from tests.chat.runs.answers import answered
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server

pytestmark = pytest.mark.process


async def test_its_folder_comes_back_after_it_was_removed(server: Server, api: MessagesAPI) -> None:
    project = server.vault / "Projects/boat"
    (project / "hull").mkdir(parents=True)
    (project / "hull/plan.md").write_text("oak\n")
    with (project / "film.mov").open("wb") as film:
        film.truncate(17 << 20)
    before = listed(project)
    api.script(tool_use("Bash", {"command": f"rm -rf {project}"}), text("Done."))
    async with server.client() as client:
        stream = await answered(client, "Clean up.", trustLevel="direct", workingDirectory=str(project))
        warned = [event["type"] for event in stream.events if "film.mov" in str(event.get("message"))]
        assert warned == ["warning"]
        assert not project.exists()
        undone = await client.post(f"/api/chat/{stream.terminal['sessionId']}/undo", json={})
        assert undone.json()["conflicts"] == []
    assert listed(project) == before
