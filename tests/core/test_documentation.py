"""Every example of the page about modules is loaded and run."""

import re
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import Conflict, InvalidInput
from parachute.core.interfaces import JournalEntry
from parachute.core.testing import run
from parachute.modules.manifest.consents import consent
from parachute.modules.manifest.loading import _FIELDS, parse
from parachute.modules.manifest.models import Manifest
from tests.modules.host_process.activator import hosted

pytestmark = pytest.mark.process

PAGE = Path(__file__).parents[2] / "docs" / "modules.md"
TEXT = PAGE.read_text()
EXAMPLES = {
    (language, name): body
    for language, name, body in re.findall(r"```(\w+)\n# example: ([\w ]+)\n(.*?)```", TEXT, re.DOTALL)
}


def _python(*names: str) -> dict[str, Any]:
    found: dict[str, Any] = {"__name__": "example"}
    for name in names:
        exec(compile(EXAMPLES["python", name], f"modules.md: {name}", "exec"), found)
    return found


def _manifest(name: str) -> Manifest:
    return parse(EXAMPLES["yaml", name].encode())


def test_no_example_goes_untested() -> None:
    assert set(EXAMPLES) == {
        ("yaml", "everything"),
        ("python", "routes"),
        ("python", "files"),
        ("python", "sessions"),
        ("python", "front matter"),
        ("python", "functions"),
        ("python", "interfaces"),
        ("python", "own interface"),
        ("python", "suggestions"),
        ("python", "undoing"),
    }
    assert len(re.findall(r"^```\w", TEXT, re.MULTILINE)) == len(EXAMPLES)


def test_the_manifest_with_everything() -> None:
    manifest = _manifest("everything")
    assert manifest.agents["enricher"].can_suggest == ("brain",)
    assert "  Create folder: Contacts/" in consent(manifest, ()).as_text()


def test_every_field_is_described() -> None:
    for field in _FIELDS:
        assert f"`{field}`" in TEXT
        assert re.search(rf"^{field}:", EXAMPLES["yaml", "everything"], re.MULTILINE)


async def test_routes() -> None:
    module = _python("routes")["Notes"]
    async with run(module) as notes:
        sent = {"note": {"text": "x"}, "day": "2024-01-15", "kind": "task"}
        assert (await notes.post("/notes", sent)).json() == {**sent, "note": {"text": "x", "tags": []}}
        assert (await notes.get("/text")).text == "plain text"
        assert (await notes.get("/sound")).headers["content-type"] == "audio/wav"
        assert (await notes.post("/upload", b"12345")).json() == {"size": 5, "from": "local"}
        assert (await notes.get("/count", to=2)).events() == [{"number": 0}, {"number": 1}]
        assert (await notes.get("/count", to=101)).status == 404
        assert (await notes.get("/slow")).json() == {"done": True}


async def test_front_matter(tmp_path: Path) -> None:
    note = tmp_path / "vault" / "Notes" / "walk.md"
    note.parent.mkdir(parents=True)
    note.write_text("---\n# by hand\ndraft: no\ntags:   [a]\n---\nA walk.\n")
    async with run(_python("front matter")["Notes"], folder=tmp_path) as running:
        assert (await running.get("/notes/walk")).json() == {
            "fields": {"draft": "no", "tags": ["a"]},
            "text": "A walk.",
        }
        assert (await running.request("PUT", "/notes/walk/mood", {"mood": "calm"})).json() == {"written": True}
        assert note.read_text() == "---\n# by hand\ntags:   [a]\nmood:\n  now: calm\n---\nA walk.\n"
        note.write_text("---\na: &x [*x]\n---\n")
        assert "Line 2" in (await running.get("/notes/walk")).json()["problem"]


async def test_sessions() -> None:
    module = _python("sessions")["Letters"]
    async with run(module) as letters:
        (chat,) = (await letters.post("/", b"Dear Ann,\nAll is well.\n")).json()["chats"]
        assert letters.sessions.chats == {chat: [("user", "Dear Ann,"), ("user", "All is well.")]}
        assert [each["state"] for each in letters.sessions.records.values()] == ["done"]


async def test_files(tmp_path: Path) -> None:
    plants = tmp_path / "vault" / "Plants"
    plants.mkdir(parents=True)
    (plants / "rose.md").write_text("Red.\n")
    module = _python("files")["Plants"]
    async with run(module, folder=tmp_path) as running:
        assert (await running.get("/plants")).json() == ["Plants/rose.md"]
        for text in ("Water.", "Light."):
            assert (await running.post("/plants/rose/notes", {"text": text})).json() == {"path": "Plants/rose.md"}
        assert (plants / "rose.md").read_text() == "Red.\n- Water.\n- Light.\n"
        await running.post("/plants/fern/notes", {"text": "Shade."})
        await running.emit("vault.changed", paths=["Plants/fern.md"])
        assert (await running.get("/plants")).json() == ["Plants/fern.md", "Plants/rose.md"]
        assert (await running.request("PUT", "/films/growth", b"0123456789")).json() == {"size": 10}
        assert (await running.get("/films/growth", start=4)).text == "456789"
        assert (await running.get("/films/other")).status == 404
        (plants / "rose.md").unlink()
    async with run(module, folder=tmp_path) as running:
        assert (await running.get("/plants")).json() == ["Plants/fern.md"]


async def test_functions() -> None:
    names = _python("routes", "functions")
    async with run(names["Notes"], tools={"contacts_search": names["search"]}) as notes:
        await notes.core.storage.set("Ann", 1)
        assert await notes.tool("contacts_search", query="A") == '["Ann"]'


async def test_suggestions() -> None:
    async with run(_python("suggestions")["People"]) as people:
        who = people.module.new_para_id()
        await people.core.storage.set(who, {"name": "Ann", "notes": [], "version": 1})
        given: dict[str, Any] = {"target_id": who, "expected_version": 1}
        assert await people.applied("update", {"note": "Hi"}, **given) is None
        assert await people.apply("update", {"note": "Hi"}, **given) == {"notes": 1}
        assert await people.applied("update", {"note": "Hi"}, **given) == {"notes": 1}
        with pytest.raises(Conflict):
            await people.apply("update", {"note": "Hi"}, target_id=who, expected_version=1)
        with pytest.raises(InvalidInput):
            await people.apply("create", {"name": "Bob"})
        assert (await people.core.storage.get(who))["notes"] == ["Hi"]


async def test_undoing() -> None:
    async with run(_python("undoing")["Mottos"]) as mottos:
        motto, change = mottos.module.new_para_id(), {"text": "Slowly."}
        await mottos.core.storage.set(motto, "Quickly.")
        shown = await mottos.preview("update", change, target_id=motto)
        assert shown is not None
        assert (shown.before, shown.after) == ("Quickly.", "Slowly.")
        result = await mottos.apply("update", change, target_id=motto)
        for _ in range(2):
            await mottos.undo("update", change, shown.keep, result, target_id=motto)
            assert await mottos.core.storage.get(motto) == "Quickly."
        await mottos.core.storage.set(motto, "Never.")
        with pytest.raises(Conflict):
            await mottos.undo("update", change, shown.keep, result, target_id=motto)


class _Journal:
    async def get_recent_entries(self, limit: int = 10) -> list[JournalEntry]:
        return [JournalEntry("1", "2024-01-15", "text")]


class _Brain:
    async def search(self, query: str, type: str | None = None, limit: int = 20) -> list[dict[str, str]]:
        return [{"para_id": "para:brain:a1b2c3d4e5f6", "name": query}]


async def test_interfaces() -> None:
    module = _python("interfaces")["Letters"]
    async with run(module) as letters:
        assert (await letters.get("/recent")).json() == {"entries": []}
        assert (await letters.get("/people", name="Ann")).status == 503
    async with run(module, interfaces={"JournalInterface": _Journal(), "BrainInterface": _Brain()}) as letters:
        assert (await letters.get("/recent")).json()["entries"][0]["content"] == "text"
        assert (await letters.get("/people", name="Ann")).json()["people"][0]["name"] == "Ann"


def test_an_interface_of_ones_own() -> None:
    manifest = "name: weather\nversion: 1.0.0\nmodule: module.py\nprovides: [WeatherInterface]\n"
    with hosted("weather", EXAMPLES["python", "own interface"], manifest=manifest) as weather:
        call = {"interface": "WeatherInterface", "method": "forecast", "arguments": {"city": "Rome"}}
        answer = weather.post("/_parachute/interface", call)
        assert answer.json() == {"result": {"city": "Rome", "days": 1, "sky": "clear"}}
