"""Branches of a conversation: what they begin with, the versions of their messages, and what they may."""

from typing import Any

import httpx2
import pytest

from tests.chat.runs.answers import answered, session_of
from tests.chat.runs.test_starts import attached
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server

pytestmark = pytest.mark.long


class Branches:
    """Conversations that branch off one another."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def messages(self, session: str) -> list[dict[str, Any]]:
        """The messages that are shown of a conversation."""
        found: list[dict[str, Any]] = (await self._client.get(f"/api/chat/{session}")).json()["messages"]
        return found

    async def asked(self, session: str) -> list[str]:
        """The ids of what the person has said."""
        return [each["id"] for each in await self.messages(session) if each["role"] == "user"]

    async def branch(self, words: str, session: str, before: str, **fields: Any) -> str:
        """Say something else in the place of a message."""
        return session_of(await answered(self._client, words, continuedFrom=session, continuedBefore=before, **fields))

    async def versions(self, session: str) -> list[tuple[list[str], bool]]:
        """The conversations that have the versions at each place."""
        points = (await self._client.get(f"/api/chat/{session}/versions")).json()["points"]
        return [([version["session"] for version in each["versions"]], each["isAgain"]) for each in points]


async def test_versions_lead_from_one_branch_to_the_others(server: Server, api: MessagesAPI) -> None:
    api.script(*(text(f"Answer {number}.") for number in range(6)))
    async with server.client() as client:
        talk = Branches(client)
        first = session_of(await answered(client, "Alpha"))
        await answered(client, "Beta", first)
        assert await talk.versions(first) == []
        alpha, beta = await talk.asked(first)
        second = await talk.branch("Delta", first, beta)
        third = await talk.branch("Beta", first, beta)
        deltas = (await talk.asked(second))[1]
        fourth = await talk.branch("Delta", second, deltas)
        at_beta = ([first, second, third, fourth], False)
        for session in (first, second, third, fourth):
            assert await talk.versions(session) == [at_beta]
        fifth = await talk.branch("Alpha", first, alpha)
        assert await talk.versions(fifth) == [([fourth, fifth], True)], "the newest that has the message"
        assert (await talk.versions(first))[1:] == [([first, fifth], True)]
        await client.delete(f"/api/chat/{first}")
        assert await talk.versions(second) == [([second, third, fourth], False), ([second, fifth], True)]
        said = [block["text"] for each in await talk.messages(second) for block in each["content"]]
        assert said == ["Alpha", "Answer 0.", "Delta", "Answer 2."]


async def test_a_branch_has_the_tool_calls_and_files_before_its_message(server: Server, api: MessagesAPI) -> None:
    file = attached("note.txt", "unknown", "application/octet-stream", b"inside")
    later = attached("later.txt", "unknown", "application/octet-stream", b"later")
    api.script(tool_use("Bash", {"command": "echo told"}), text("Done."), text("Yes."), text("Yes."))
    async with server.client() as client:
        talk = Branches(client)
        first = session_of(await answered(client, "Do it.", attachments=[file]))
        await answered(client, "And this.", first, attachments=[later])
        before = (await talk.messages(first))[:-2]
        branch = await talk.branch("Something else.", first, (await talk.asked(first))[1])
        assert (await talk.messages(branch))[:-2] == before
        sent = str(api.conversation[-1].body["messages"])
        assert [word in sent for word in ("tool_use", "echo told", "tool_result", "And this.")] == [
            True,
            True,
            True,
            False,
        ]
        assert (await client.get(f"/api/chat/{branch}/attachments/note.txt")).content == b"inside"
        assert (await client.get(f"/api/chat/{branch}/attachments/later.txt")).status_code == 404
        found = (await client.get("/api/chat", params={"search": "Do it."})).json()["sessions"]
        assert {each["id"] for each in found} == {first, branch}


async def test_a_branch_has_the_rights_of_the_conversation_that_it_comes_from(server: Server, api: MessagesAPI) -> None:
    (server.vault / "Brain").mkdir()
    api.script(*(text("Yes.") for _ in range(4)))
    async with server.client() as client:
        talk = Branches(client)
        slug = (await client.post("/api/workspaces", json={"name": "Boat"})).json()["workspace"]["slug"]
        first = session_of(await answered(client, "Alpha", workspaceId=slug, model="claude-haiku-4-5"))
        left = {"capabilities": ["Read"], "allowed_folders": ["Brain"]}
        assert (await client.patch(f"/api/chat/{first}/config", json=left)).status_code == 200
        (alpha,) = await talk.asked(first)
        branch = await talk.branch("Beta", first, alpha, trustLevel="direct", workspaceId="")
        found = (await client.get(f"/api/chat/{branch}")).json()
        before = (await client.get(f"/api/chat/{first}")).json()
        same = ("title", "workspaceId", "trustLevel", "permissions", "model", "workingDirectory", "agentPath")
        assert {name: found[name] for name in same} == {name: before[name] for name in same}
        assert found["permissions"]["allowed_folders"] == ["Brain"]
        direct = session_of(await answered(client, "Alpha", trustLevel="direct"))
        (alpha,) = await talk.asked(direct)
        branch = await talk.branch("Beta", direct, alpha)
        assert (await client.get(f"/api/chat/{branch}")).json()["trustLevel"] == "direct"
        branch = await talk.branch("Beta", direct, alpha, trustLevel="sandboxed")
        assert (await client.get(f"/api/chat/{branch}")).json()["trustLevel"] == "sandboxed"
