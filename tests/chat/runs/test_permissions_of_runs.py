"""Permissions of an agent in a run, and the people who are asked."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.chat.runs.answers import answered, ended, session_of
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server
from tests.support.sse import ChatStream, chat

pytestmark = pytest.mark.long


def result_of(stream: ChatStream) -> tuple[bool, str]:
    """(whether it is an error, content) of the only tool result."""
    (result,) = stream.of_type("tool_result")
    return result["isError"], result["content"]


async def test_an_approved_direct_session_works_in_the_vault(server: Server, api: MessagesAPI) -> None:
    api.script(tool_use("Bash", {"command": "echo direct > from-direct.txt; pwd"}), text("Done."))
    async with server.client() as client:
        stream = await answered(client, trustLevel="direct")
        stored = (await client.get(f"/api/chat/{session_of(stream)}")).json()
    assert result_of(stream) == (False, str(server.vault))
    assert (stored["trustLevel"], stored["effectiveExecutionMode"]) == ("direct", "direct")
    assert (server.vault / "from-direct.txt").read_text() == "direct\n"


@pytest.mark.parametrize(
    "call", [("Bash", {"command": "sudo true"}), ("Read", {"file_path": ".env"})], ids=["sudo", "env"]
)
async def test_hard_rules_hold_for_a_direct_session(
    server: Server, api: MessagesAPI, call: tuple[str, dict[str, str]]
) -> None:
    (server.vault / ".env").write_text("SECRET=1\n")
    api.script(tool_use(*call), text("No."))
    async with server.client() as client:
        stream = await answered(client, trustLevel="direct")
    assert result_of(stream)[0] is True
    (denied,) = stream.of_type("permission_denied")
    assert denied["toolName"] == call[0]
    assert "SECRET" not in str(api.conversation[-1].body)


@pytest.mark.parametrize("word", ["admin", "DIRECT ", "", "sandbox"])
async def test_an_unknown_word_of_trust_is_refused_and_writes_nothing(server: Server, word: str) -> None:
    async with server.client() as client:
        before = (await client.get("/api/chat")).json()
        refused = await client.post("/api/chat", json={"message": "Hello", "trustLevel": word})
        assert refused.status_code == 422
        assert "trustLevel" in refused.json()["detail"]
        assert (await client.get("/api/chat")).json() == before


@pytest.mark.parametrize(("word", "level"), [("trusted", "direct"), ("vault", "direct"), ("untrusted", "sandboxed")])
async def test_old_words_of_trust(server: Server, api: MessagesAPI, word: str, level: str) -> None:
    api.script(text("Yes."))
    async with server.client() as client:
        stream = await answered(client, trustLevel=word)
    assert stream.of_type("session")[0]["trustLevel"] == level


async def test_asking_allowing_and_denying(make_server: Make[Server], api: MessagesAPI) -> None:
    server = make_server(trust_mode=False)
    write = {"file_path": str(server.vault / "Projects" / "a.md"), "content": "hello"}
    api.script(
        *(tool_use("Write", write), text("Denied.")),
        *(tool_use("Write", write), text("Allowed.")),
        *(
            tool_use("Write", {**write, "file_path": str(server.vault / "Projects" / "b.md")}),
            text("Not asked again."),
        ),
        *(tool_use("Write", write), text("Not asked, not allowed.")),
        *(tool_use("Bash", {"command": "cat ~/.parachute/keys.yaml"}), text("Never.")),
    )
    ask: dict[str, Any] = {"trustLevel": "direct", "canAnswerPermissions": True}
    async with server.client() as client:
        async with chat(client, "Write.", **ask) as stream:
            request = await stream.until("permission_request")
            session = session_of(stream)
            path = f"/api/chat/{session}/permissions/{request['requestId']}"
            assert (await client.post(path, json={"allow": False})).status_code == 200
            assert (await client.post(path, json={"allow": True})).status_code == 404
            await stream.collect()
        assert result_of(stream)[0] is True
        assert not Path(write["file_path"]).exists()

        async with chat(client, "Write now.", session_id=session, **ask) as stream:
            request = await stream.until("permission_request")
            path = f"/api/chat/{session}/permissions/{request['requestId']}"
            wide = await client.post(path, json={"allow": True, "grant": "Bash(rm:*)"})
            assert (wide.status_code, "grant" in wide.json()["detail"]) == (422, True)
            assert request["suggestedGrants"]
            grant = {"allow": True, "grant": request["suggestedGrants"][-1]}
            assert (await client.post(path, json=grant)).status_code == 200
            await stream.collect()
        assert result_of(stream)[0] is False
        assert Path(write["file_path"]).read_text() == "hello"

        stream = await answered(client, "And another.", session, **ask)
        assert not stream.of_type("permission_request")
        assert result_of(stream)[0] is False

        stream = await answered(client, "In a new session.", trustLevel="direct")
        assert result_of(stream)[0] is True
        assert stream.of_type("permission_denied")
        assert not stream.of_type("permission_request")

        stream = await answered(client, "The keys!", session, **ask)
        assert result_of(stream)[0] is True
        assert not stream.of_type("permission_request")


async def test_stopping_while_a_permission_is_asked_for(make_server: Make[Server], api: MessagesAPI) -> None:
    server = make_server(trust_mode=False)
    api.script(tool_use("Bash", {"command": "touch made"}), text("Again."))
    async with server.client() as client:
        async with chat(client, "Do.", trustLevel="direct", canAnswerPermissions=True) as stream:
            await stream.until("permission_request")
            session = session_of(stream)
            await client.post(f"/api/chat/{session}/abort")
            await stream.collect()
        assert ended(stream)["type"] == "aborted"
        assert (await answered(client, "Go on.", session)).text == "Again."
    assert not (server.vault / "made").exists()


def path_without_bubblewrap(folder: Path) -> str:
    """A PATH whose only folder has every program but bwrap."""
    for name in ("sh", "bash", "git", "cat", "touch", "env", "python3", "rg", "ps"):
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return str(folder)


async def test_without_a_sandbox_it_says_so_and_runs_directly(
    make_computer: Make[Computer], api: MessagesAPI, tmp_path: Path
) -> None:
    computer = make_computer(environment={"PATH": path_without_bubblewrap(tmp_path)}, sandbox={"required": False})
    api.script(tool_use("Bash", {"command": "touch made-directly"}), text("Done."))
    async with computer.client() as client:
        stream = await answered(client)
        (warning,) = stream.of_type("warning")
        assert "bubblewrap" in warning["message"]
        stored = (await client.get(f"/api/chat/{session_of(stream)}")).json()
        assert (stored["trustLevel"], stored["effectiveExecutionMode"]) == ("sandboxed", "direct")
    assert (computer.vault / "made-directly").exists()
    system = str(api.conversation[-1].body["system"])
    assert "directly on the owner's computer" in system


async def test_a_required_sandbox_that_is_not_there(
    make_computer: Make[Computer], api: MessagesAPI, tmp_path: Path
) -> None:
    computer = make_computer(environment={"PATH": path_without_bubblewrap(tmp_path)}, sandbox={"required": True})
    async with computer.client() as client:
        stream = await answered(client)
    assert ended(stream)["key"] == "no_sandbox"
    assert "bubblewrap" in ended(stream)["message"]
    assert api.conversation == []
