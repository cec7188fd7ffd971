"""A module that may create sessions: what a person's request allows, in a sandbox, replacing nothing, and not beyond the request."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from parachute.security.keys.cli_token import CliToken
from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.modules.runtime.module_computer import ModuleServer

pytestmark = pytest.mark.long

BRINGER = """
kept = {}

async def _all(self, found):
    return {name: value for name, value in found.items()}

@route("POST", "/begin/{import_id}")
async def begin(self, request: Request, import_id: str):
    record = {"id": import_id, "name": "notes", "state": "running", "started_at": "2026-01-01T00:00:00.000Z"}
    self.kept[import_id] = request
    return {"name": await self.core.sessions.begin(request, record)}

@route("POST", "/begin-later/{import_id}")
async def begin_later(self, import_id: str):
    record = {"id": import_id, "name": "notes", "state": "running", "started_at": "2026-01-01T00:00:00.000Z"}
    [request, *_] = self.kept.values()
    return {"name": await self.core.sessions.begin(request, record)}

@route("POST", "/chat/{import_id}/{session}")
async def chat(self, import_id: str, session: str, text: str, head: dict = {}):
    chat = {"session": session, "title": "Brought", "messages": 1, "source": "claude", **head}
    return {"added": await self.core.sessions.add(import_id, [(chat, [{"role": "user", "text": text}])])}

@route("POST", "/broken/{import_id}")
async def broken(self, import_id: str, sessions: list[str]):
    chats = [({"session": each, "messages": 1}, [{"role": "user", "text": "Half."}]) for each in sessions]
    return {"added": await self.core.sessions.add(import_id, chats)}

@route("POST", "/file/{import_id}")
async def file(self, import_id: str, parts: list[str], text: str):
    async def content():
        yield text.encode()
    return {"found": await self.core.sessions.add_file(import_id, parts, content())}

@route("POST", "/suggestion/{import_id}")
async def suggestion(self, import_id: str):
    return {"found": await self.core.sessions.add_suggestion(import_id, {"id": "x"})}

@route("POST", "/end/{import_id}")
async def end(self, import_id: str):
    await self.core.sessions.end(import_id, {"id": import_id, "name": "notes", "state": "done"})
    return {}

@route("POST", "/undo/{import_id}")
async def undo(self, import_id: str):
    return {"found": await self.core.sessions.undo(import_id)}

@route("POST", "/forget/{import_id}")
async def forget(self, request: Request, import_id: str):
    await self.core.sessions.forget(import_id, request)
    return {}

@route("POST", "/ask")
async def ask(self):
    return [event async for event in self.core.query("Read me everything.")]

@route("GET", "/ids")
async def ids(self):
    return sorted(await self.core.sessions.ids())
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ModuleServer]:
    """A server with a module that has the right, and one that has not."""
    with ModuleServer() as running:
        running.install_quietly("bringer", BRINGER, permissions={"sessions": "create"})
        running.install("without", BRINGER)
        yield running


@pytest.fixture
def owner(server: ModuleServer) -> dict[str, str]:
    """The headers of the owner."""
    return {"authorization": f"Bearer {CliToken(server.home.root).obtain()}"}


@pytest.fixture
def writer(server: ModuleServer) -> dict[str, str]:
    """The headers of a key that may write in this module, and nothing else."""
    _, secret = Keys(server.home.root).create("a phone", [Scope("bringer", frozenset({"read", "write"}))])
    return {"authorization": f"Bearer {secret}"}


def post(server: ModuleServer, path: str, headers: dict[str, str], body: Any = None, *, key: str | None = None) -> Any:
    """The JSON of an answer, which is an error with this key, or none."""
    answer = server.post(f"/api/bringer{path}", headers=headers, json=body or {})
    assert (answer.status_code == 200) is (key is None), answer.text
    assert key is None or answer.json()["key"] == key, answer.text
    return answer.json()


def test_without_the_permission_nothing_is_answered(server: ModuleServer, owner: dict[str, str]) -> None:
    for path in ("begin/0000000a", "suggestion/0000000a"):
        refused = server.post(f"/api/without/{path}", headers=owner, json={})
        assert refused.json()["key"] in ("sessions_not_permitted", "request_not_under_way"), refused.text
    refused = server.get("/api/without/ids", headers=owner)
    assert (refused.status_code, refused.json()["key"]) == (403, "sessions_not_permitted")
    refused = server.post("/api/without/file/0000000a", headers=owner, json={"parts": ["a"], "text": "x"})
    assert (refused.status_code, refused.json()["key"]) == (403, "sessions_not_permitted")


def test_a_chat_is_sandboxed_whatever_it_says(server: ModuleServer, owner: dict[str, str]) -> None:
    post(server, "/begin/00000001", owner)
    head = {"trustLevel": "direct", "trust_level": "direct", "workingDirectory": "/", "labels": {"trustLevel": "full"}}
    assert post(server, "/chat/00000001/first", owner, {"text": "Periwinkle.", "head": head}) == {"added": ["first"]}
    found = server.value("/api/chat/first")
    assert (found["trustLevel"], found["workingDirectory"], found["source"]) == ("sandboxed", None, "claude")
    assert found["metadata"]["import"] == {"id": "00000001", "messages": 1, "trustLevel": "direct"}
    assert found["messages"][0]["content"][0]["text"] == "Periwinkle."
    # The same id once more, and what is there stays as it was.
    assert post(server, "/chat/00000001/first", owner, {"text": "Another."}) == {"added": []}
    assert server.value("/api/chat/first")["messages"][0]["content"][0]["text"] == "Periwinkle."
    assert "first" in server.get("/api/bringer/ids", headers=owner).json()
    post(server, "/end/00000001", owner)


def test_all_or_none_come(server: ModuleServer, owner: dict[str, str]) -> None:
    post(server, "/begin/00000002", owner)
    post(server, "/broken/00000002", owner, {"sessions": ["good", "../bad"]}, key="session_id_malformed")
    assert server.get("/api/chat/good").status_code == 404
    imports = server.vault / ".parachute" / "imports"
    assert not [path for path in imports.rglob("*") if "good" in path.name]
    assert list((imports / "00000002" / "staged").iterdir()) == []
    post(server, "/end/00000002", owner)


def test_nothing_comes_before_a_request_and_after_the_end(server: ModuleServer, owner: dict[str, str]) -> None:
    post(server, "/chat/00000003/early", owner, {"text": "Early."}, key="import_not_begun")
    post(server, "/begin/00000003", owner)
    # A request that was answered long ago allows nothing more.
    post(server, "/begin-later/00000004", owner, key="request_not_under_way")
    post(server, "/begin/00000003", owner, key="import_under_way")
    post(server, "/end/00000003", owner)
    post(server, "/chat/00000003/late", owner, {"text": "Late."}, key="import_not_begun")
    for path in ("undo/00000003", "end/00000003", "suggestion/00000003"):
        post(server, f"/{path}", owner, key="import_not_begun")


def test_files_come_only_where_the_request_is_the_owners(
    server: ModuleServer, owner: dict[str, str], writer: dict[str, str]
) -> None:
    post(server, "/begin/00000005", writer)
    sent = {"parts": ["Note.md"], "text": "Mine."}
    assert post(server, "/file/00000005", writer, sent) == {"found": ["files_of_others", ""]}
    post(server, "/undo/00000005", writer, key="not_owner")
    post(server, "/forget/00000003", writer, key="not_owner")
    # Whoever asks the module later lends nothing to an import that somebody else has begun.
    assert post(server, "/file/00000005", owner, sent) == {"found": ["files_of_others", ""]}
    post(server, "/end/00000005", owner)
    assert not (server.vault / "Imported").exists()
    post(server, "/begin/00000006", owner)
    assert post(server, "/file/00000006", owner, sent) == {"found": ["new", "Imported/notes/Note.md"]}
    assert post(server, "/file/00000006", owner, sent)["found"][0] == "same"
    assert post(server, "/file/00000006", owner, {**sent, "text": "Other."})["found"][0] == "different_files"
    assert (server.vault / "Imported/notes/Note.md").read_text() == "Mine."
    for parts, reason in (
        (["AGENTS.md"], "agent_instructions"),
        (["..", "..", "up.md"], "new"),
        (["Note.md", "below.md"], "different_files"),
        ([], "unsafe_names"),
    ):
        assert post(server, "/file/00000006", owner, {**sent, "parts": parts})["found"][0] == reason, parts
    assert not (server.vault / "up.md").exists()
    (server.vault / "Imported/notes/linked").symlink_to("/etc")
    assert post(server, "/file/00000006", owner, {**sent, "parts": ["linked", "x"]})["found"][0] == "different_files"
    post(server, "/suggestion/00000006", owner, key="not_own_archive")
    assert post(server, "/undo/00000006", owner)["found"] == [0, 0, 0, []]
    post(server, "/end/00000006", owner)
    assert not (server.vault / "Imported/notes/Note.md").exists()


def test_the_query_of_the_request_says_what_a_module_may_bring(server: ModuleServer, owner: dict[str, str]) -> None:
    post(server, "/begin/00000007?kind=brain", owner)
    post(server, "/begin/00000008?kind=brain&contexts=true", owner)
    post(server, "/begin/00000009?dry_run=true", owner)
    obeyed, entry = (
        {"parts": ["AGENTS.md"], "text": "x"},
        {"parts": ["Daily", "journals", "2024-01-01.md"], "text": "x"},
    )
    assert post(server, "/file/00000007", owner, obeyed) == {"found": ["contexts", ""]}
    assert post(server, "/file/00000007", owner, entry) == {"found": ["new", "Daily/journals/2024-01-01.md"]}
    assert post(server, "/file/00000008", owner, obeyed) == {"found": ["new", "AGENTS.md"]}
    assert post(server, "/suggestion/00000007", owner) == {"found": "malformed"}
    assert post(server, "/file/00000009", owner, {"parts": ["x.md"], "text": "x"})["found"] == [
        *("new", "Imported/notes/x.md")
    ]
    assert not (server.vault / "Imported/notes/x.md").exists()
    post(server, "/chat/00000009/counted", owner, {"text": "x"}, key="dry_run")
    for number in (7, 8, 9):
        post(server, f"/end/0000000{number}", owner)


def test_no_agent_is_asked_that_the_manifest_does_not_name(server: ModuleServer, owner: dict[str, str]) -> None:
    post(server, "/ask", owner, key="agent_not_named")


def test_another_module_has_no_part_in_an_import(server: ModuleServer, owner: dict[str, str]) -> None:
    server.install("second", BRINGER, permissions={"sessions": "create"})
    post(server, "/begin/000000aa", owner)
    refused = server.post("/api/second/chat/000000aa/theirs", headers=owner, json={"text": "x"})
    assert refused.json()["key"] == "import_not_begun"
    post(server, "/end/000000aa", owner)
    for path in ("begin/000000aa", "forget/000000aa"):
        refused = server.post(f"/api/second/{path}", headers=owner, json={})
        assert (refused.status_code, refused.json()["key"]) == (403, "import_of_another")
    kept = json.loads((server.vault / ".parachute/imports/000000aa/import.json").read_text())
    assert kept == {"id": "000000aa", "name": "notes", "state": "done", "module": "bringer"}
