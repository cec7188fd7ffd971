"""Beginning of a run: folders, earlier words, attachments, prompts."""

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.chat.runs.answers import answered, ended, session_of
from tests.support.computer import command_line
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text, tool_use
from tests.support.server import Server
from tests.support.sse import chat

pytestmark = pytest.mark.long

MISSING = "00000000-0000-4000-8000-000000000000"
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def attached(name: str, kind: str, mime: str, data: bytes) -> dict[str, Any]:
    """An attachment as the app sends it."""
    encoded = base64.b64encode(data).decode()
    size = {"sizeBytes": len(data), "filePath": f"/phone/{name}"}
    return {"id": "1", "fileName": name, "mimeType": mime, "type": kind, "base64Data": encoded, **size}


async def test_a_working_directory_and_one_that_is_gone(server: Server, api: MessagesAPI) -> None:
    project = server.vault / "Projects" / "boat"
    project.mkdir(parents=True)
    (project / "CLAUDE.md").write_text("Always talk like a sailor.")
    api.script(tool_use("Bash", {"command": "echo x > made.txt; pwd"}), text("Done."), text("Gone."))
    async with server.client() as client:
        stream = await answered(client, workingDirectory="Projects/boat")
        session = session_of(stream)
        assert (project / "made.txt").read_text() == "x\n"
        (metadata,) = stream.of_type("prompt_metadata")
        assert metadata["workingDirectoryClaudeMd"] == "Projects/boat/CLAUDE.md"
        assert "Projects/boat/CLAUDE.md" in metadata["contextFiles"]
        assert metadata["contextTokens"] > 0
        assert metadata["totalPromptTokens"] > metadata["basePromptTokens"] > 0
        assert "Always talk like a sailor." in str(api.conversation[-1].body["system"])
        project.rename(project.with_name("ship"))
        stream = await answered(client, "And now?", session)
        (warning,) = stream.of_type("warning")
        assert "boat" in warning["message"]
        assert stream.text == "Gone."


@pytest.mark.parametrize("directory", ["/", ".parachute", "../.parachute", "/tmp", "Projects/\0"])
async def test_a_forbidden_working_directory(server: Server, directory: str) -> None:
    async with server.client() as client:
        before = (await client.get("/api/chat")).json()
        refused = await client.post("/api/chat", json={"message": "Hello", "workingDirectory": directory})
        assert refused.status_code == 422
        assert "workingDirectory" in refused.json()["detail"]
        assert (await client.get("/api/chat")).json() == before


async def test_a_transcript_that_is_gone(server: Server, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(text("It was a heron."), several(text("It "), hold(gate)), text("We talked about a heron."))
    async with server.client() as client:
        session = session_of(await answered(client, "Which bird was it?"))
        # A stopped agent is not kept: one that lives does not need the transcript.
        async with chat(client, "And what did it do?", session) as stream:
            await stream.until("text")
            await client.post(f"/api/chat/{session}/abort")
            await stream.collect()

        def is_gone() -> bool:
            lines = [line for process in server.processes() for line in command_line(process)]
            return not any(line.endswith(f"={session}") for line in lines)

        await server.programs.happens(is_gone, "it writes no more")
        for path in (server.vault / ".claude").rglob(f"{session}.jsonl"):
            path.unlink()
        count = (await client.get(f"/api/chat/{session}")).json()["messageCount"]
        stream = await answered(client, "What did we talk about?", session)
        (event,) = stream.of_type("session_unavailable")
        assert (event["sessionId"], event["messageCount"]) == (session, count)
        assert ended(stream)["type"] == "done"
        asked = len(api.conversation)
        stream = await answered(client, "What did we talk about?", session)
        assert stream.text == "We talked about a heron."
        assert "It was a heron." in str(api.conversation[asked].body["messages"])


async def test_earlier_words(server: Server, api: MessagesAPI) -> None:
    api.script(text("A heron."), text("Yes."), text("Yes."), text("Yes."))
    async with server.client() as client:
        first = session_of(await answered(client, "Which bird?"))
        stream = await answered(client, "Go on.", continuedFrom=first)
        stored = (await client.get(f"/api/chat/{session_of(stream)}")).json()
        assert stored["continuedFrom"] == first
        assert "A heron." in str(api.conversation[-1].body["messages"])
        stream = await answered(client, "Hi.", priorConversation="user: I sail.", initialContext="It is raining.")
        sent = str(api.conversation[-1].body["messages"])
        assert "I sail." in sent
        assert "It is raining." in sent
        refused = await client.post("/api/chat", json={"message": "Hi", "continuedFrom": MISSING})
        assert refused.status_code == 404


async def test_a_branch_takes_along_what_was_before_it_and_nothing_else(server: Server, api: MessagesAPI) -> None:
    def sent() -> str:
        return str([each for each in api.conversation[-1].body["messages"] if each["role"] != "system"])

    async def asked(session: str) -> list[dict[str, Any]]:
        found = (await client.get(f"/api/chat/{session}")).json()["messages"]
        return [each for each in found if each["role"] == "user"]

    api.script(*(text("Yes.") for _ in range(6)))
    async with server.client() as client:
        first = session_of(await answered(client, "I say alpha."))
        await answered(client, "I say beta.", first)
        await answered(client, "I say gamma.", first)
        alpha, beta, _ = await asked(first)
        branch = session_of(await answered(client, "I say delta.", continuedFrom=first, continuedBefore=beta["id"]))
        assert [word in sent() for word in ("alpha", "beta", "gamma")] == [True, False, False]
        copied, delta = await asked(branch)
        assert copied == alpha, "it is the same message"
        assert delta["content"] == [{"type": "text", "text": "I say delta."}]
        await answered(client, "I say epsilon.", branch)
        await answered(client, "Mine.", continuedFrom=branch, continuedBefore=(await asked(branch))[2]["id"])
        assert [word in sent() for word in ("alpha", "beta", "delta", "epsilon")] == [True, False, True, False]
        await answered(client, "Anew.", continuedFrom=first, continuedBefore=alpha["id"])
        assert not any(word in sent() for word in ("alpha", "beta", "gamma"))
        count = len(api.conversation)
        refused = await client.post(
            "/api/chat", json={"message": "Hi", "continuedFrom": first, "continuedBefore": MISSING}
        )
        assert (refused.status_code, refused.json()["key"]) == (404, "message_not_found")
        assert len(api.conversation) == count


async def test_the_words_that_an_app_sends_along_are_all_that_is_taken_along(server: Server, api: MessagesAPI) -> None:
    api.script(text("Yes."), text("Yes."))
    async with server.client() as client:
        first = session_of(await answered(client, "I say alpha."))
        await answered(client, "Go on.", continuedFrom=first, priorConversation="Human: I say omega.")
        sent = str(api.conversation[-1].body["messages"])
        assert ("omega" in sent, "alpha" in sent) == (True, False)


async def test_attachments_of_every_type(server: Server, api: MessagesAPI) -> None:
    api.script(tool_use("Bash", {"command": "cat /attachments/data.zip"}), text("Seen."))
    files = [
        attached("a picture.png", "image", "image/png", PICTURE),
        attached("paper.pdf", "pdf", "application/pdf", b"%PDF-1.4 tiny"),
        attached("note.txt", "text", "text/plain", "some wörds".encode()),
        attached("main.py", "code", "text/x-python", b"print('code')"),
        attached("data.zip", "archive", "application/zip", b"zipped bytes"),
        attached("../../escape.mp3", "audio", "audio/mpeg", b"sound"),
        attached("note.txt", "unknown", "application/octet-stream", b"another"),
        attached("\N{SNAKE}" * 200 + ".txt", "video", "video/mp4", b"moving"),
        {
            "id": "1",
            "fileName": "nothing.txt",
            "type": "text",
            "mimeType": "text/plain",
            "sizeBytes": 1,
            "filePath": "/x",
        },
    ]
    async with server.client() as client:
        stream = await answered(client, "Look.", attachments=files)
    session = session_of(stream)
    content = next(message for message in api.conversation[-2].body["messages"] if message["role"] == "user")["content"]
    sent = str(api.conversation[-2].body["messages"])
    assert {"image", "document"} <= {block["type"] for block in content}
    assert "some wörds" in sent
    assert "print('code')" in sent.replace("\\", "")
    assert "/attachments/data.zip" in sent
    (result,) = stream.of_type("tool_result")
    assert result["content"] == "zipped bytes"
    stored = server.vault / ".parachute" / "attachments" / session
    names = sorted(path.name for path in stored.iterdir())
    assert len(names) == 8
    assert {"a_picture.png", "note.txt", "note-2.txt", "escape.mp3"} <= set(names)
    assert not (stored.parent.parent / "escape.mp3").exists()
    async with server.client() as client:
        message = (await client.get(f"/api/chat/{session}")).json()["messages"][0]
        assert message["said"] == "Look."
        assert len(message["attachments"]) == len(set(message["attachments"])) == 8
        assert set(message["attachments"]) == set(names)
        address = f"/api/chat/{session}/attachments"
        picture = await client.get(f"{address}/a_picture.png")
        assert (picture.content, picture.headers["content-type"]) == (PICTURE, "image/png")
        (stored / "leads.png").symlink_to(server.home.root / "config.yaml")
        for name in ("leads.png", "none.png", "..%2f..%2fx"):
            assert (await client.get(f"{address}/{name}")).status_code in (400, 404, 422), name


async def test_files_may_go_without_words(server: Server, api: MessagesAPI) -> None:
    api.script(text("A heron."), text("Two herons."), text("Still herons."))
    files = [attached("heron.png", "image", "image/png", PICTURE)]
    async with server.client() as client:
        session = session_of(await answered(client, "", attachments=files))
        await answered(client, " \n", session, attachments=files)
        shown = (await client.get(f"/api/chat/{session}")).json()
        asked = [each for each in shown["messages"] if each["role"] == "user"]
        assert [(each["said"], each["attachments"]) for each in asked] == [("", ["heron.png"]), ("", ["heron-2.png"])]
        assert shown["title"] == "heron.png"
        sent = api.conversation[-1].body["messages"]
        assert [block["type"] for block in sent[0]["content"]].count("image") == 1
        assert not [block for message in sent for block in message["content"] if block.get("text") == ""]
        # Somebody who writes what stands for a file has written it.
        again = await answered(client, "[Attached: heron.png]", session, attachments=files)
        assert again.of_type("done")
        said = (await client.get(f"/api/chat/{session}")).json()["messages"][-2]["said"]
        assert said == "[Attached: heron.png]"
        for nothing in ([], [{"fileName": "no.txt", "type": "text"}]):
            refused = await client.post("/api/chat", json={"message": " ", "attachments": nothing})
            assert refused.status_code == 422
            assert "message" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("change", "mention"),
    [
        ({"base64Data": "no base64!"}, "base64Data"),
        ({"type": "image", "mimeType": "image/tiff"}, "mimeType"),
        ({"type": "image", "mimeType": "image/png", "base64Data": base64.b64encode(bytes(6 << 20)).decode()}, "bytes"),
        ({"type": "hologram"}, "type"),
        ({"fileName": ""}, "fileName"),
        ({"fileName": "a\0b"}, "fileName"),
    ],
)
async def test_a_wrong_attachment_is_refused_and_nothing_is_written(
    server: Server, change: dict[str, Any], mention: str
) -> None:
    body = {"message": "Look.", "attachments": [{**attached("a.txt", "text", "text/plain", b"x"), **change}]}
    async with server.client() as client:
        before = (await client.get("/api/chat")).json()
        refused = await client.post("/api/chat", json=body)
        assert refused.status_code == 422
        assert mention in refused.json()["detail"]
        assert (await client.get("/api/chat")).json() == before
        many = {"message": "Look.", "attachments": [attached("a.txt", "text", "text/plain", b"x")] * 21}
        assert (await client.post("/api/chat", json=many)).status_code == 422


async def test_prompts_of_the_request_of_files_and_of_an_agent(server: Server, api: MessagesAPI) -> None:
    api.default(text("Yes."))
    (server.vault / "CLAUDE.md").write_text("The owner is called Ada.")
    (server.vault / "Brain").mkdir(exist_ok=True)
    (server.vault / "Brain" / "AGENTS.md").write_text("Brains are grey.")
    agent = server.vault / "Chat" / "pirate.md"
    agent.parent.mkdir(exist_ok=True)
    agent.write_text("---\nname: Pirate\n---\nYou are a pirate.")
    try:
        async with server.client() as client:
            stream = await answered(client, systemPrompt="You are a poet.", contexts=["Brain"])
            system = str(api.conversation[-1].body["system"])
            assert "You are a poet." in system
            assert "Ada" not in system
            assert "sandbox" in system
            assert stream.of_type("prompt_metadata")[0]["promptSource"] == "custom"

            stream = await answered(client, contexts=["Brain", "../..", ".claude"])
            system = str(api.conversation[-1].body["system"])
            assert "The owner is called Ada." in system
            assert "Brains are grey." in system
            (metadata,) = stream.of_type("prompt_metadata")
            assert metadata["promptSource"] == "default"
            assert metadata["contextFiles"] == ["CLAUDE.md", "Brain/AGENTS.md"]

            stream = await answered(client, agentPath="Chat/pirate.md")
            assert "You are a pirate." in str(api.conversation[-1].body["system"])
            (metadata,) = stream.of_type("prompt_metadata")
            assert (metadata["promptSource"], metadata["agentName"]) == ("agent", "Pirate")
            stored = (await client.get(f"/api/chat/{session_of(stream)}")).json()
            assert (stored["agentPath"], stored["agentName"]) == ("Chat/pirate.md", "Pirate")

            before = (await client.get("/api/chat")).json()
            for path in ("Chat/nobody.md", "../.parachute/config.yaml", "/etc/passwd", ".claude/x.md"):
                refused = await client.post("/api/chat", json={"message": "Hello", "agentPath": path})
                assert (refused.status_code, "agentPath" in refused.json()["detail"]) == (404, True)
            assert (await client.get("/api/chat")).json() == before
    finally:
        (server.vault / "CLAUDE.md").unlink()


async def test_a_link_in_place_of_instructions_is_not_followed(
    server: Server, api: MessagesAPI, tmp_path: Path
) -> None:
    api.script(text("Yes."))
    (tmp_path / "secret").write_text("the secret words")
    folder = server.vault / "Projects" / "linked"
    folder.mkdir(parents=True)
    (folder / "CLAUDE.md").symlink_to(tmp_path / "secret")
    async with server.client() as client:
        await answered(client, workingDirectory="Projects/linked")
    assert "the secret words" not in str(api.conversation[-1].body)
