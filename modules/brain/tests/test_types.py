"""Types of entities, tools, and searches that are kept."""

import json
from pathlib import Path
from typing import Any

from module import BrainModule

from parachute.core.testing import Running, run

BY_HAND = """\
# My types
types:
  person:            # people
    icon: "👤"
    folder: "people"
    fields: [aliases, tags, relationships]

  # of my own
  event:
    folder: events
    fields:
      date: {type: date, required: true}
      kind: {type: enum, values: [party, talk]}
      seats: {type: integer}
other: 1
"""


async def test_the_defaults_hold_until_something_is_changed(brain: Running, add: Any) -> None:
    types = {entry["name"]: entry for entry in (await brain.get("/types")).json()}
    assert list(types) == ["person", "project", "topic", "resource"]
    assert types["project"]["fields"][0] == {"name": "status", "type": "string", "is_any": True, "required": False}
    await add("person", "Ann")
    assert not (brain.vault / "Brain/types.yaml").exists()
    made = {"name": "organization", "icon": "🏢", "fields": ["aliases"], "key_strategy": "lexical"}
    assert (await brain.post("/types", made)).status == 200
    assert (await brain.post("/types", made)).status == 409
    schemas = (await brain.get("/schemas")).json()["schemas"]
    assert [entry["name"] for entry in schemas] == ["person", "project", "topic", "resource", "organization"]
    assert (await add("organization", "Regen Hub"))["path"] == "Brain/entities/organizations/regen-hub.md"
    assert (await brain.get("/types")).json()[0]["entity_count"] == 1


async def test_a_file_by_hand_is_kept_as_it_is_but_for_the_change(brain: Running) -> None:
    file = brain.vault / "Brain/types.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(BY_HAND)
    await brain.emit("vault.changed", paths=["Brain/types.yaml"])
    assert [entry["name"] for entry in (await brain.get("/types")).json()] == ["person", "event"]
    assert (await brain.put("/types/person", {"description": "Whom I know"})).status == 200
    changed = file.read_text()
    assert changed.startswith("# My types\ntypes:\n  person:")
    assert "description: Whom I know" in changed
    assert BY_HAND[BY_HAND.index("  # of my own") :] in changed
    assert (await brain.delete("/types/event")).status == 200
    assert "event" not in file.read_text()
    assert file.read_text().endswith("other: 1\n")


async def test_fields_are_checked(brain: Running) -> None:
    file = brain.vault / "Brain/types.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(BY_HAND)
    for data, said in (
        ({}, "date: a event must have this."),
        ({"date": "tomorrow"}, "date: a date such as"),
        ({"date": "2024-01-15", "kind": "war"}, "one of party, talk"),
        ({"date": "2024-01-15", "seats": "many"}, "whole number"),
    ):
        answer = await brain.post("/entities", {"entity_type": "event", "data": {"name": "Opening", **data}})
        assert answer.status == 422
        assert said in answer.json()["detail"]
    good = {"name": "Opening", "date": "2024-01-15", "kind": "party", "seats": 3}
    made = (await brain.post("/entities", {"entity_type": "event", "data": good})).json()
    assert (made["date"], made["seats"]) == ("2024-01-15", 3)
    assert "date: 2024-01-15\n" in (brain.vault / made["path"]).read_text()
    assert (await brain.put(f"/entities/{made['entity_id']}", {"data": {"seats": "x"}})).status == 422
    assert (await brain.put(f"/entities/{made['entity_id']}", {"data": {"date": None}})).status == 422


async def test_a_type_that_entities_have_stays(brain: Running, add: Any) -> None:
    made = await add("topic", "Tea")
    answer = await brain.delete("/types/topic")
    assert (answer.status, answer.json()["detail"]) == (409, "1 entity is of the type topic.")
    await brain.delete(f"/entities/{made['entity_id']}")
    assert (await brain.delete("/types/topic")).status == 200
    assert (await brain.delete("/types/topic")).status == 404


async def test_a_type_that_cannot_be_changes_nothing(brain: Running) -> None:
    for body in (
        {"name": ""},
        {"name": "../x"},
        {"name": "x", "folder": "../people"},
        {"name": "x", "folder": "people"},
        {"name": "x", "fields": [1]},
        {"name": "x", "fields": ["a", "a"]},
        {"name": "x", "fields": {"a": {"type": "spaceship"}}},
        {"name": "x", "fields": {"a": {"type": "enum"}}},
        {"name": "x", "fields": "a"},
    ):
        assert (await brain.post("/types", body)).status == 422
        assert not (brain.vault / "Brain/types.yaml").exists()


async def test_types_by_hand_reach_the_entities_also_while_the_module_slept(tmp_path: Path, vault: Path) -> None:
    file = vault / "Brain/types.yaml"
    for path, text in (("events/a.md", "# Opening\n"), ("x/b.md", "---\ntype: Alien\n---\n# Zork\n")):
        (vault / "Brain/entities" / path).parent.mkdir(parents=True)
        (vault / "Brain/entities" / path).write_text(text)
    file.write_text(BY_HAND)

    async def types(brain: Running) -> dict[str, str]:
        return {entry["name"]: entry["type"] for entry in (await brain.get("/entities")).json()["results"]}

    async with run(BrainModule, folder=tmp_path) as brain:
        assert await types(brain) == {"Opening": "event", "Zork": "Alien"}
        file.write_text(BY_HAND.replace("  event:", "  happening:"))
        await brain.emit("vault.changed", paths=["Brain/types.yaml"])
        assert await types(brain) == {"Opening": "happening", "Zork": "Alien"}
    file.write_text("types:\n  party: {folder: Events}\n  alien: {}\n")
    async with run(BrainModule, folder=tmp_path) as brain:
        assert await types(brain) == {"Opening": "party", "Zork": "alien"}
    file.write_text("types: [")
    async with run(BrainModule, folder=tmp_path) as brain:
        assert await types(brain) == {"Opening": "party", "Zork": "alien"}


async def test_windows_line_ends_of_the_types_stay(brain: Running) -> None:
    file = brain.vault / "Brain/types.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(BY_HAND.replace("\n", "\r\n").encode())
    assert (await brain.put("/types/person", {"description": "Whom I know"})).status == 200
    changed = file.read_bytes()
    assert b"Whom I know" in changed
    assert b"# of my own" in changed
    assert changed.count(b"\n") == changed.count(b"\r\n")


async def test_a_broken_file_of_types_is_a_problem_and_not_overwritten(brain: Running, add: Any) -> None:
    file = brain.vault / "Brain/types.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text("types: [")
    await add("person", "Ann")  # the last good ones hold
    assert (await brain.get("/problems")).json()["problems"][0]["path"] == "Brain/types.yaml"
    assert (await brain.post("/types", {"name": "planet"})).status == 422
    assert file.read_text() == "types: ["


async def test_tools(brain: Running, add: Any) -> None:
    kevin = (await add("person", "Kevin", aliases=["Kev"]))["entity_id"]
    assert json.loads(await brain.tool("brain-search", query="kev"))[0]["para_id"] == kevin
    assert json.loads(await brain.tool("brain-resolve", text="kev"))["para_id"] == kevin
    linked = json.loads(await brain.tool("brain-link", source_id="para:chat:m3n4o5p6q7r8", entity="Kev"))
    assert linked["para_id"] == kevin
    suggested = json.loads(await brain.tool("brain-suggest", text="Kev and I met Aaron Gabriel"))
    assert suggested["mentions"][0]["para_id"] == kevin
    assert suggested["candidates"][0]["text"] == "Aaron Gabriel"
    types = json.loads(await brain.tool("brain-types", action="create", name="place", fields=["country"]))
    assert types["types"][-1]["name"] == "place"
    types = json.loads(await brain.tool("brain-types", action="remove", name="place"))
    assert "place" not in [entry["name"] for entry in types["types"]]
    assert "## Kevin (person)" in await brain.tool("brain-context", topic="Kevin")
    assert await brain.tool("brain-context", topic="Zanzibar") == "Brain knows nothing about 'Zanzibar'."


async def test_searches_are_kept(brain: Running) -> None:
    filters = [{"field_name": "status", "operator": "eq", "value": "active"}]
    made = await brain.post("/queries", {"name": "Active", "entity_type": "project", "filters": filters})
    assert made.status == 200  # all that the app takes
    id = made.json()["id"]
    kept = (await brain.get("/queries")).json()["queries"]
    assert kept == [{"id": id, "name": "Active", "entity_type": "project", "filters": filters}]
    assert (await brain.post("/queries", {"name": "x", "entity_type": "y", "filters": [{}]})).status == 422
    assert (await brain.delete(f"/queries/{id}")).status == 200
    assert (await brain.delete(f"/queries/{id}")).status == 404
    assert (await brain.get("/queries")).json() == {"queries": []}
