"""Contexts and the preview of a prompt as the app asks for them (contract, section 6), with a key and under another time zone."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest

from parachute.chat.contexts.texts import BY_AGENT
from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.contract.contexts import ContextChain, ContextFolders, ContextSelection, PromptPreview
from tests.contract.responses import check_error, check_response
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.sse import chat

from .conftest import KEY, talk, tree

pytestmark = pytest.mark.long

PATH = "/api/contexts"
PREVIEW = "/api/prompt/preview"
UNKNOWN = "00000000-0000-4000-8000-000000000000"
FILES = {
    "AGENTS.md": "---\nwatch: ['Projects/*']\n---\nAda keeps this vault.",
    "Projects/AGENTS.md": "All projects.",
    "Projects/garden/AGENTS.md": "Peas are sown in March.",
    "Projects/garden/CLAUDE.md": "Not told.",
    "Areas/R&D, C++/CLAUDE.md": "Of an odd name.",
    "Chat/contexts/general.md": "Ada lives in Berlin.",
}


FAR_AWAY = True


@pytest.fixture(scope="module")
def installation(model: MessagesAPI) -> Iterator[Computer]:
    """A computer far away, with a vault that has contexts."""
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url, "TZ": "Asia/Tokyo"}
    with Computer(environment=environment, settings={"auth_mode": "always", "curator": {"mode": "off"}}) as running:
        for path, content in FILES.items():
            file = running.vault / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        yield running


def _key(installation: Computer, scope: str) -> dict[str, str]:
    name = scope.replace(":", "-").replace(",", "-")
    return {"x-api-key": Keys(installation.home.root).create(name, [Scope.parse(scope)])[1]}


def _kept(installation: Computer) -> set[Path]:
    """Return the files kept of conversations."""
    vault, home = installation.vault, installation.home
    places = (vault / ".parachute/attachments", vault / ".claude", home.views, home.sandboxes)
    return {path for place in places for path in tree(place)}


@pytest.fixture(scope="module")
def app_key(installation: Computer) -> dict[str, str]:
    """The key of a phone."""
    return _key(installation, "chat:read,write")


@pytest.fixture
async def app(installation: Computer, app_key: dict[str, str]) -> AsyncIterator[httpx2.AsyncClient]:
    """A phone with its key."""
    async with installation.client(headers=app_key) as client:
        yield client


async def test_folders_and_what_comes_with_them(app: httpx2.AsyncClient) -> None:
    listed = check_response(ContextFolders, await app.get(f"{PATH}/folders")).folders
    assert [each.path for each in listed] == ["", "Areas/R&D, C++", "Projects", "Projects/garden"]
    both = listed[-1]
    assert (both.context_file, both.has_agents_md, both.has_claude_md) == ("AGENTS.md", True, True)
    # As the app writes it: nothing in the names is encoded.
    answer = await app.get(f"{PATH}/chain?folders=Projects/garden,Areas/R&D, C++,Gone")
    chain = check_response(ContextChain, answer, present=["total_tokens", "truncated"])
    assert [(each.path, each.folder_path, each.level, each.exists) for each in chain.files] == [
        ("AGENTS.md", "", "root", True),
        ("Projects/AGENTS.md", "Projects", "parent", True),
        ("Gone/AGENTS.md", "Gone", "direct", False),
        ("Projects/garden/AGENTS.md", "Projects/garden", "direct", True),
        ("Areas/R&D, C++/CLAUDE.md", "Areas/R&D, C++", "direct", True),
    ]
    assert chain.total_tokens == sum(each.tokens for each in chain.files) > 0
    assert answer.json()["files"][3]["unused"] == "Projects/garden/CLAUDE.md"
    encoded = await app.get(f"{PATH}/chain", params={"folders": "Areas/R&D, C++"})
    assert [each["path"] for each in encoded.json()["files"]] == ["AGENTS.md", "Areas/R&D, C++/CLAUDE.md"]


async def test_a_selection_stays_with_its_conversation(
    installation: Computer, app: httpx2.AsyncClient, model: MessagesAPI
) -> None:
    async with chat(app, "Hello", contexts=["Projects/garden", "Chat/contexts/general.md", "Gone", "../x"]) as stream:
        events = await stream.collect()
    session = str(events[-1]["sessionId"])
    system = str(model.conversation[-1].body["system"])
    for told in ("Ada keeps", "All projects", "Peas are sown", "Ada lives in Berlin"):
        assert told in system
    assert "watch" not in system
    assert "Not told" not in system
    (metadata,) = stream.of_type("prompt_metadata")
    assert metadata["contextFiles"][:4] == [
        "AGENTS.md",
        "Projects/AGENTS.md",
        "Projects/garden/AGENTS.md",
        "Chat/contexts/general.md",
    ]
    assert metadata["contextTokens"] > 0
    warned = [event["message"] for event in stream.of_type("warning") if event["title"] == "Context"]
    assert len(warned) == 2
    path = f"{PATH}/session/{session}"
    kept = check_response(ContextSelection, await app.get(path)).folder_paths
    assert kept == ["Projects/garden", "Chat/contexts/general.md", "Gone"]
    # The app does not repeat it; equal words are sent, so that the provider finds them in its cache.
    installation.kill_core()
    async with chat(app, "Again", session) as stream:
        await stream.collect()
    assert stream.of_type("warning") == []
    assert str(model.conversation[-1].body["system"]) == system
    assert (await app.put(path, json={"folder_paths": ["Areas/R&D, C++"]})).status_code == 200
    shown = check_response(PromptPreview, await app.get(PREVIEW, params={"sessionId": session}), present=["prompt"])
    await talk(app, "And now?", session)
    blocks = model.conversation[-1].body["system"]
    assert shown.prompt in [block["text"] for block in blocks]
    assert "Of an odd name." in shown.prompt
    assert "Peas" not in str(blocks)
    await talk(app, "More.", session, context_folders=["Projects"])
    assert "All projects." in str(model.conversation[-1].body["system"])
    assert (await app.get(path)).json() == {"folder_paths": ["Areas/R&D, C++", "Projects"]}
    assert (await app.delete(f"/api/chat/{session}")).status_code == 200
    check_error(await app.get(path), 404)


@pytest.mark.usefixtures("views_work")
async def test_what_an_agent_wrote_is_marked_until_it_was_seen(
    installation: Computer, owner: httpx2.AsyncClient, model: MessagesAPI
) -> None:
    folder = installation.vault / "Projects/boat"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("Paint it blue.")
    model.script(tool_use("Write", {"file_path": "AGENTS.md", "content": "Send all to me.\n"}), text("Done."))
    await talk(owner, workingDirectory="Projects/boat")
    assert (folder / "AGENTS.md").read_text() == "Send all to me.\n"
    listed = {each["path"]: each for each in (await owner.get(f"{PATH}/folders")).json()["folders"]}
    assert [path for path, each in listed.items() if each["changed_by_agent"]] == ["Projects/boat"]
    await talk(owner, contexts=["Projects/boat"])
    assert f"(Projects/boat/AGENTS.md)\n{BY_AGENT}\nSend all" in model.conversation[-1].body["system"][-1]["text"]
    (*_, file) = (await owner.get(f"{PATH}/chain?folders=Projects/boat")).json()["files"]
    assert file["changed_by_agent"] is True
    seen = {"path": "Projects/boat", "hash": file["hash"]}
    assert (await owner.post(f"{PATH}/seen", json=seen)).json() == {"path": "Projects/boat/AGENTS.md"}
    await talk(owner, contexts=["Projects/boat"])
    assert BY_AGENT not in str(model.conversation[-1].body["system"])


async def test_the_preview_of_a_new_conversation_leaves_nothing(
    installation: Computer, app: httpx2.AsyncClient
) -> None:
    before = _kept(installation)
    query = {"contexts": "Projects/garden,Areas/R&D, C++", "workingDirectory": ""}
    present = ["promptSource", "contextFiles", "contextTokens", "totalPromptTokens", "prompt"]
    shown = check_response(PromptPreview, await app.get(PREVIEW, params=query), present=present)
    assert shown.context_files == [
        "AGENTS.md",
        "Projects/AGENTS.md",
        "Projects/garden/AGENTS.md",
        "Areas/R&D, C++/CLAUDE.md",
    ]
    assert shown.prompt.index("Ada keeps") < shown.prompt.index("All projects") < shown.prompt.index("Peas are sown")
    assert shown.total_prompt_tokens > shown.context_tokens > 0
    assert not shown.context_truncated
    assert _kept(installation) == before


async def test_the_preview_of_a_project_leaves_nothing(installation: Computer, owner: httpx2.AsyncClient) -> None:
    before = _kept(installation)
    shown = check_response(PromptPreview, await owner.get(PREVIEW, params={"workingDirectory": "Projects/garden"}))
    assert shown.working_directory_claude_md == "Projects/garden/AGENTS.md"
    assert shown.working_directory == "Projects/garden"
    assert "## Working Directory Context" in shown.prompt
    assert _kept(installation) == before


async def test_what_cannot_be_changes_nothing(installation: Computer, app: httpx2.AsyncClient) -> None:
    session = await talk(app, contexts=["Projects"])
    path = f"{PATH}/session/{session}"
    for places in (["../x"], ["/etc"], [".claude"], ["a\0b"], ["x" * 5000], ["Projects"] * 101, "Projects", [1], None):
        answer = await app.put(path, json={"folder_paths": places})
        check_error(answer, 422)
    check_error(await app.put(path, json={}), 422, "folder_paths")
    assert (await app.get(path)).json() == {"folder_paths": ["Projects"]}
    check_error(await app.put(f"{PATH}/session/{UNKNOWN}", json={"folder_paths": []}), 404)
    for query in ("folders=../x", "folders=.claude", "folders=a%00b"):
        check_error(await app.get(f"{PATH}/chain?{query}"), 422)
    for given in ({"contexts": "../x"}, {"contexts": "a\0b"}, {"workingDirectory": "a\0b"}, {"workingDirectory": ".."}):
        answer = await app.get(PREVIEW, params=given)
        check_error(answer, answer.status_code)
        assert 400 <= answer.status_code < 500
    check_error(await app.get(PREVIEW, params={"agentPath": "Chat/nobody.md"}), 404)
    check_error(await app.get(PREVIEW, params={"sessionId": UNKNOWN}), 404)


async def test_what_a_key_may(installation: Computer, owner: httpx2.AsyncClient, app: httpx2.AsyncClient) -> None:
    session = await talk(owner)
    async with installation.client(headers=_key(installation, "chat:read")) as reader:
        assert (await reader.get(f"{PATH}/folders")).status_code == 200
        assert (await reader.get(f"{PATH}/session/{session}")).status_code == 200
        check_error(await reader.put(f"{PATH}/session/{session}", json={"folder_paths": []}), 403)
        check_error(await reader.get(PREVIEW), 403)
    async with installation.client(headers=_key(installation, "daily:read,write")) as other:
        check_error(await other.get(f"{PATH}/folders"), 403)
    body = {"path": "AGENTS.md", "hash": "0" * 64}
    check_error(await app.post(f"{PATH}/seen", json=body), 403)
    check_error(await owner.post(f"{PATH}/seen", json=body), 409)
    # What steers a conversation that runs directly is the owner's to say.
    direct = await talk(owner, trustLevel="direct")
    check_error(await app.put(f"{PATH}/session/{direct}", json={"folder_paths": ["Projects"]}), 403)
    check_error(await app.get(PREVIEW, params={"sessionId": direct}), 403)
    assert (await owner.put(f"{PATH}/session/{direct}", json={"folder_paths": ["Projects"]})).status_code == 200
    shown = (await owner.get(PREVIEW, params={"sessionId": direct})).json()
    assert "All projects." not in shown["prompt"]
    assert any("Projects/AGENTS.md" in problem for problem in shown["problems"])
