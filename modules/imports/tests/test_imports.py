"""The module in memory: what is uploaded comes, is counted, stops, and is taken back."""

import asyncio
import json
from typing import Any

import pytest
from module import ImportsModule

from parachute.core.testing import Answer, Running, run
from tests.chat.imports import exports
from tests.chat.imports.exports import boat, claude_conversation, node, tree


async def over(imports: Running, answer: Answer) -> dict[str, Any]:
    """An import when it is over, as its events told it."""
    assert answer.status == 200, answer.text
    events = (await imports.get(f"/{answer.json()['id']}/events")).events()
    found: dict[str, Any] = (await imports.get(f"/{answer.json()['id']}")).json()
    assert events[-1] == {"type": "import", **found}
    return found


async def test_what_comes_is_counted_kept_and_taken_back() -> None:
    async with run(ImportsModule) as imports:
        begun = await imports.post("/", exports.chatgpt_zip(boat()), name="mine.zip", kind="chatgpt")
        found = await over(imports, begun)
        assert (found["state"], found["kind"], found["name"]) == ("done", "chatgpt", "mine.zip")
        assert (found["conversations"], found["imported"], found["skipped"], found["progress"]) == (2, 2, 0, 1.0)
        assert [role for role, _ in next(iter(imports.sessions.chats.values()))] == ["user", "assistant"] * 2
        again = await over(imports, await imports.post("/", exports.chatgpt_zip(boat())))
        assert (again["imported"], again["skipped"]) == (0, 2)
        undone = await over(imports, await imports.post(f"/{found['id']}/undo"))
        assert (undone["state"], undone["imported"]) == ("undone", 0)
        assert imports.sessions.chats == {}
        assert [each["id"] for each in (await imports.get("/")).json()["imports"]][-1] == found["id"]
        assert imports.sessions.records[found["id"]]["state"] == "undone"
        assert (await imports.delete(f"/{found['id']}")).status == 200
        assert (await imports.get(f"/{found['id']}")).status == 404
        assert not list((imports.core.data / "uploads").iterdir())


async def test_what_the_app_sends_is_answered_when_it_is_here() -> None:
    async with run(ImportsModule) as imports:
        sent = {"data": [tree(node("a", None, text="Hi."), name="one")], "archived": True}
        answer = (await imports.post("/import", sent)).json()
        assert (answer["total_conversations"], answer["imported_count"], answer["errors"]) == (1, 1, [])
        assert answer["session_ids"] == list(imports.sessions.chats)


async def test_documents_of_projects_are_files() -> None:
    async with run(ImportsModule) as imports:
        found = await over(imports, await imports.post("/", exports.claude_zip(claude_conversation())))
        assert imports.sessions.files["Tea / coffee/leaves.md"] == b"Green, black."
        assert (found["files"], found["filesImported"]) == (3, 3)
        dry = await over(imports, await imports.post("/", exports.claude_zip(claude_conversation()), dry_run=True))
        assert (dry["state"], dry["dryRun"], dry["skipped"]) == ("done", True, 1)
        assert (await imports.post(f"/{dry['id']}/undo")).json()["key"] == "import_not_undone"


async def test_what_was_looked_at_is_imported_without_another_upload_once() -> None:
    async with run(ImportsModule) as imports:
        uploads = imports.core.data / "uploads"
        look = await over(imports, await imports.post("/", exports.chatgpt_zip(boat()), dry_run=True))
        assert [each.name for each in uploads.iterdir()] == [look["id"]]
        found = await over(imports, await imports.post("/", look=look["id"], name="mine.zip", kind="chatgpt"))
        assert (found["state"], found["name"], found["imported"]) == ("done", "mine.zip", 2)
        assert (await imports.get(f"/{look['id']}")).status == 404
        assert not list(uploads.iterdir())
        assert list(imports.sessions.records) == [found["id"]]
        assert (await imports.post("/", look=look["id"])).json()["key"] == "export_gone"


async def test_of_dry_runs_the_last_is_kept_until_it_is_forgotten() -> None:
    async with run(ImportsModule) as imports:
        looks = [
            await over(imports, await imports.post("/", exports.chatgpt_zip(boat()), dry_run=True)) for _ in range(3)
        ]
        assert [each["id"] for each in (await imports.get("/")).json()["imports"]] == [looks[-1]["id"]]
        assert [each.name for each in (imports.core.data / "uploads").iterdir()] == [looks[-1]["id"]]
        assert (await imports.delete(f"/{looks[-1]['id']}")).status == 200
        assert not list((imports.core.data / "uploads").iterdir())
        assert imports.sessions.records == {}


@pytest.mark.parametrize(
    ("data", "query", "key"),
    [
        (b"", {}, "import_empty"),
        (b"[]", {"kind": "fax"}, "unknown_kind"),
        (b"[]", {"dry_run": "1"}, "flag_malformed"),
        (b"[]", {"name": ""}, "name_length"),
        (b"[]", {"name": "x" * 201}, "name_length"),
    ],
)
async def test_what_cannot_be_imported_is_refused_at_once(data: bytes, query: dict[str, str], key: str) -> None:
    async with run(ImportsModule) as imports:
        answer = await imports.post("/", data, **query)
        assert (answer.status, answer.json()["key"]) == (422, key)
        assert imports.sessions.records == {}


async def test_a_kind_that_is_another_one_brings_nothing() -> None:
    async with run(ImportsModule) as imports:
        found = await over(imports, await imports.post("/", exports.chatgpt_zip(boat()), kind="claude"))
        assert (found["state"], found["imported"], len(found["errors"])) == ("failed", 0, 1)


async def test_one_that_is_cancelled_ends_between_two_conversations() -> None:
    talks = [tree(node("a", None, text=f"{number}"), name=f"n{number}") for number in range(2000)]
    async with run(ImportsModule) as imports:
        begun = (await imports.post("/", json.dumps(talks).encode())).json()
        while not imports.sessions.chats:
            await asyncio.sleep(0)
        assert (await imports.delete(f"/{begun['id']}")).json()["state"] == "cancelled"
        assert 0 < len(imports.sessions.chats) < 2000
        assert imports.sessions.records[begun["id"]]["state"] == "cancelled"


async def test_a_record_that_somebody_wrote_is_passed_over() -> None:
    async with run(ImportsModule) as imports:
        imports.sessions.records["0"] = {"id": 7, "state": "asleep"}
        imports.module.imports = type(imports.module.imports)(imports.core)
        assert (await imports.get("/")).json() == {"imports": []}
