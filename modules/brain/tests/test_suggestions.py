"""Suggestions that others make and the user approves."""

from collections.abc import Callable
from typing import Any

import pytest

from parachute.core import Conflict, InvalidInput, NotFound
from parachute.core.testing import Running


async def test_a_proposed_entity_is_created(brain: Running) -> None:
    payload = {"type": "topic", "name": "Prompt engineering", "content": "Asking well.", "data": {"aliases": ["PE"]}}
    made = await brain.apply("create", payload)
    assert (brain.vault / made["path"]).read_text().endswith("Asking well.\n")
    assert await brain.interface("BrainInterface", "resolve", text="PE") == made["para_id"]
    created = {"para_id": made["para_id"], "names": ["Prompt engineering", "PE"]}
    assert brain.published == [("brain.entity.created", created)]


async def test_a_proposed_change_is_made_only_to_what_was_looked_at(brain: Running, add: Callable[..., Any]) -> None:
    kevin = await add("person", "Kevin", "Advisor.")
    seen = await brain.module.resolve_para_id(kevin["para_id"])
    options = {"target_id": kevin["para_id"], "expected_version": seen["version"]}
    changed = await brain.apply("update", {"append": "- Moved to Berlin"}, **options)
    text = (brain.vault / changed["path"]).read_text()
    assert "Advisor." in text
    assert "- Moved to Berlin" in text
    with pytest.raises(Conflict):
        await brain.apply("update", {"append": "- Moved to Rome"}, **options)
    with pytest.raises(Conflict):
        await brain.apply("delete", {}, **options)
    assert (brain.vault / changed["path"]).read_text() == text
    linked = await brain.apply("link", {"source_id": "para:daily:abcdefghijkl"}, target_id=kevin["para_id"])
    assert linked["para_id"] == kevin["para_id"]
    now = await brain.module.resolve_para_id(kevin["para_id"])
    await brain.apply("delete", {}, target_id=kevin["para_id"], expected_version=now["version"])
    assert not (brain.vault / changed["path"]).exists()


async def test_what_cannot_be_meant_changes_nothing(brain: Running, add: Callable[..., Any]) -> None:
    kevin = await add("person", "Kevin")
    before = {path: path.read_bytes() for path in (brain.vault / "Brain").rglob("*.md")}
    for action, payload, target in (
        ("create", {"name": "X"}, None),
        ("create", {"type": "topic", "name": "X", "path": "../x.md"}, None),
        ("create", {"type": "topic", "name": ["X"]}, None),
        ("create", {"type": "no such type", "name": "X"}, None),
        ("update", {"append": "x"}, None),
        ("create", {"type": "topic", "name": ""}, None),
        ("update", {}, "KEVIN"),
        ("update", {"append": "x", "content": "y"}, "KEVIN"),
        ("update", {"type": "no such type"}, "KEVIN"),
        ("delete", {"really": True}, "KEVIN"),
        ("link", {}, "KEVIN"),
    ):
        for way in (brain.check, brain.apply):
            with pytest.raises((InvalidInput, NotFound)):
                await way(action, payload, target_id=kevin["para_id"] if target else None)
        assert {path: path.read_bytes() for path in (brain.vault / "Brain").rglob("*.md")} == before


async def test_a_change_that_is_proposed_is_checked_and_not_made(brain: Running, add: Callable[..., Any]) -> None:
    kevin = await add("person", "Kevin")
    await add("person", "Ann")
    before = {path: path.read_bytes() for path in (brain.vault / "Brain").rglob("*.md")}
    with pytest.raises(Conflict) as taken:
        await brain.check("create", {"type": "person", "name": "Kevin"})
    assert kevin["para_id"] in str(taken.value)
    with pytest.raises(Conflict):
        await brain.check("update", {"name": "Ann"}, target_id=kevin["para_id"])
    await brain.check("create", {"type": "person", "name": "Bob"})
    await brain.check("update", {"name": "Kev", "append": "x", "data": {"tags": ["y"]}}, target_id=kevin["para_id"])
    await brain.check("delete", {}, target_id=kevin["para_id"])
    await brain.check("link", {"source_id": "para:daily:abcdefghijkl"}, target_id=kevin["para_id"])
    with pytest.raises(NotFound):
        await brain.check("delete", {}, target_id="para:brain:aaaaaaaaaaaa")
    assert {path: path.read_bytes() for path in (brain.vault / "Brain").rglob("*.md")} == before


async def test_instructions_of_projects_are_named(brain: Running, add: Callable[..., Any]) -> None:
    await add("project", "Learn Vibe Build", aliases=["LVB"], work_path="~/Projects/lvb")
    known = await brain.interface("BrainInterface", "context", topic="LVB")
    assert known["instructions"] == ["~/Projects/lvb/AGENTS.md", "~/Projects/lvb/CLAUDE.md"]
    await add("project", "Tea", work_path="Projects/tea/", agents_path="Projects/tea/AGENTS.md")
    file = brain.vault / "Projects/tea/AGENTS.md"
    file.parent.mkdir(parents=True)
    file.write_text("Boil water.")
    known = await brain.interface("BrainInterface", "context", topic="Tea")
    assert known["instructions"] == ["Projects/tea/AGENTS.md"]
    assert "Boil water." not in known["text"], "the computer adds it"
    assert "Boil water." in await brain.tool("brain-context", topic="Tea")


async def test_a_change_is_shown_before_it_is_made_and_taken_back_after(
    brain: Running, add: Callable[..., Any]
) -> None:
    kevin = await add("person", "Kevin", "Advisor.", tags=["x"])
    ann = await add("person", "Ann", "Knows [[Kevin]].")
    files = {path: path.read_bytes() for path in (brain.vault / "Brain").rglob("*.md")}
    for payload in ({"append": "- Moved", "section": "News"}, {"name": "Kevin Kelly", "type": "topic"}):
        shown = await brain.preview("update", payload, target_id=kevin["para_id"])
        assert shown is not None
        assert {path: path.read_bytes() for path in (brain.vault / "Brain").rglob("*.md")} == files
        result = await brain.apply("update", payload, target_id=kevin["para_id"])
        assert shown.before == readable(files[brain.vault / kevin["path"]].decode())
        assert shown.after == readable((brain.vault / result["path"]).read_text())
        for _ in range(2):
            seen = await brain.module.resolve_para_id(kevin["para_id"])
            version = await brain.undo("update", payload, shown.keep, result, target_id=kevin["para_id"])
            assert {path: path.read_bytes() for path in (brain.vault / "Brain").rglob("*.md")} == files
        assert version == kevin["version"] == seen["version"]
    shown = await brain.preview("update", {"append": "- Moved"}, target_id=ann["para_id"])
    result = await brain.apply("update", {"append": "- Moved"}, target_id=ann["para_id"])
    await brain.apply("update", {"append": "- Or not"}, target_id=ann["para_id"])
    with pytest.raises(Conflict):
        await brain.undo(
            "update", {"append": "- Moved"}, shown.keep if shown else None, result, target_id=ann["para_id"]
        )
    assert (brain.vault / ann["path"]).read_text().endswith("- Moved\n- Or not\n")


async def test_what_was_created_or_deleted_is_taken_back(brain: Running, add: Callable[..., Any]) -> None:
    payload = {"type": "topic", "name": "Tea", "content": "Green.", "data": {"tags": ["drink"]}}
    shown = await brain.preview("create", payload)
    assert shown is not None
    assert (shown.title, shown.before) == ("Tea", None)
    assert (shown.after or "").startswith("type: topic\n")
    assert (shown.after or "").endswith("\n\n# Tea\n\nGreen.\n")
    made = await brain.apply("create", payload)
    for _ in range(2):
        await brain.undo("create", payload, shown.keep, made)
        assert not (brain.vault / made["path"]).exists()
    changed = await brain.apply("create", payload)
    await brain.apply("update", {"append": "Hot."}, target_id=changed["para_id"])
    with pytest.raises(Conflict):
        await brain.undo("create", payload, shown.keep, changed)
    kevin = await add("person", "Kevin", "Advisor.")
    text = (brain.vault / kevin["path"]).read_text()
    shown = await brain.preview("delete", {}, target_id=kevin["para_id"])
    assert shown is not None
    assert (shown.before, shown.after) == (readable(text), None)
    gone = await brain.apply("delete", {}, target_id=kevin["para_id"])
    for _ in range(2):
        assert await brain.undo("delete", {}, shown.keep, gone, target_id=kevin["para_id"]) == kevin["version"]
        assert (brain.vault / kevin["path"]).read_text() == text
    await brain.apply("delete", {}, target_id=kevin["para_id"])
    await add("person", "Kevin")
    with pytest.raises(Conflict):
        await brain.undo("delete", {}, shown.keep, gone, target_id=kevin["para_id"])


async def test_a_link_is_taken_back_unless_it_was_there_before(brain: Running, add: Callable[..., Any]) -> None:
    kevin = await add("person", "Kevin")
    link = {"source_id": "para:daily:abcdefghijkl"}
    for is_new in (True, False):
        shown = await brain.preview("link", link, target_id=kevin["para_id"])
        assert shown is not None
        assert (shown.before is None) is is_new
        result = await brain.apply("link", link, target_id=kevin["para_id"])
        if is_new:
            await brain.undo("link", link, shown.keep, result, target_id=kevin["para_id"])
            result = await brain.apply("link", link, target_id=kevin["para_id"])
        else:
            await brain.undo("link", link, shown.keep, result, target_id=kevin["para_id"])
            again = await brain.preview("link", link, target_id=kevin["para_id"])
            assert again is not None
            assert again.before is not None


def readable(file: str) -> str:
    """A file without the lines around its fields and its id."""
    _, fields, body = file.split("---\n", 2)
    return "".join(line for line in fields.splitlines(keepends=True) if "para_id" not in line) + body


async def test_what_is_approved_cites_what_it_rests_on(brain: Running, add: Callable[..., Any]) -> None:
    entry = "para:daily:abcdefghijkl"
    kevin = await add("person", "Kevin", "Advisor.")

    async def cited(para_id: str) -> list[str]:
        found = (await brain.get("/links", id=para_id)).json()
        return [each["source_id"] for each in found.get("mentions", [])]

    payload = {"append": "- Moved to Berlin", "source": entry}
    shown = await brain.preview("update", payload, target_id=kevin["para_id"])
    assert shown is not None
    made = await brain.apply("update", payload, target_id=kevin["para_id"])
    assert await cited(kevin["para_id"]) == [entry]
    await brain.undo("update", payload, shown.keep, made, target_id=kevin["para_id"])
    assert await cited(kevin["para_id"]) == []
    assert "Berlin" not in (brain.vault / kevin["path"]).read_text()
    with pytest.raises(InvalidInput):
        await brain.check("update", {"source": entry}, target_id=kevin["para_id"])
    with pytest.raises(InvalidInput):
        await brain.check("update", {"append": "x", "source": " "}, target_id=kevin["para_id"])


async def test_a_new_type_is_proposed_with_its_first_entity(brain: Running) -> None:
    payload = {"type": "boat", "name": "Hai", "new_type": "Boats that I build", "source": "para:daily:abcdefghijkl"}
    before = {path for path in brain.vault.rglob("*") if path.is_file()}
    await brain.check("create", payload)
    shown = await brain.preview("create", payload)
    assert shown is not None
    assert "New type boat: Boats that I build" in str(shown.after)
    assert {path for path in brain.vault.rglob("*") if path.is_file()} == before
    made = await brain.apply("create", payload)
    types = {each["name"]: each for each in (await brain.get("/types")).json()}
    assert (types["boat"]["description"], types["boat"]["entity_count"]) == ("Boats that I build", 1)
    links = (await brain.get("/links", id=made["para_id"])).json()
    assert [each["source_id"] for each in links["mentions"]] == ["para:daily:abcdefghijkl"]
    await brain.undo("create", payload, shown.keep, made)
    assert "boat" not in {each["name"] for each in (await brain.get("/types")).json()}
    with pytest.raises(InvalidInput):
        await brain.check("create", {"type": "boat", "name": "Hai"})
    with pytest.raises(InvalidInput):
        await brain.check("create", {"type": "no type/", "name": "Hai", "new_type": "Words"})
