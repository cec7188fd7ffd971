"""Entities over HTTP: made, read, changed, renamed, removed."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parachute.core.testing import Running

PARACHUTE = """\
---
para_id: project-parachute
type: project
status: active
work_path: ~/Projects/parachute    # External folder
aliases:
  - Parachute
  - the vault app
tags: [open-source, flutter]
mood: "hopeful"   # a key of the user's own
---

# Parachute

Open & interoperable.

## Relationships
- [[aaron-gabriel]] - Founder
"""


async def test_an_entity_is_written_as_people_would_and_read_in_both_shapes(brain: Running, add: Any) -> None:
    made = await add("person", "Zoë O'Brien", "Met in [[Rome]].", aliases=["Zo"], tags=["friend"])
    assert made["path"] == "Brain/entities/people/zoe-o-brien.md"
    assert (brain.vault / made["path"]).read_text() == (
        f"---\npara_id: {made['entity_id']}\ntype: person\naliases:\n  - Zo\ntags:\n  - friend\n---\n\n"
        "# Zoë O'Brien\n\nMet in [[Rome]].\n"
    )
    by_id = (await brain.get("/entities/by_id", id=made["entity_id"])).json()
    assert (await brain.get(f"/entities/{made['entity_id']}")).json() == by_id
    assert by_id["@id"] == by_id["para_id"] == made["entity_id"]
    assert (by_id["@type"], by_id["name"], by_id["aliases"], by_id["content"]) == (
        "person",
        "Zoë O'Brien",
        ["Zo"],
        "Met in [[Rome]].",
    )
    for listing in ("person", "Person", "people"):
        assert [entry["@id"] for entry in (await brain.get(f"/entities/{listing}")).json()["results"]] == [by_id["@id"]]
    assert (await brain.get("/entities/Person/zoe-o-brien")).json() == by_id
    assert (await brain.get("/entities/by_id", id="Person/Zoë O'Brien")).json() == by_id
    assert (await brain.module.resolve_para_id(made["entity_id"]))["path"] == made["path"]


async def test_what_does_not_exist_is_404_and_what_is_wrong_changes_nothing(brain: Running, add: Any) -> None:
    for path in ("/entities/para:brain:aaaaaaaaaaaa", "/entities/nobody", "/entities/person/nobody", "/links"):
        assert (await brain.get(path, id="para:brain:aaaaaaaaaaaa")).status == 404
    assert await brain.interface("BrainInterface", "get", para_id="para:brain:aaaaaaaaaaaa") is None
    for body in (
        {"entity_type": "person"},
        {"entity_type": "person", "data": {"name": "  "}},
        {"entity_type": "person", "data": {"name": "a]]b"}},
        {"entity_type": "person", "data": {"name": "x" * 201}},
        {"entity_type": "planet", "data": {"name": "Mars"}},
        {"entity_type": "person", "data": {"name": "Ann", "shoe_size": 3}},
        {"entity_type": "person", "data": {"name": "Ann", "aliases": "Annie"}},
        {"entity_type": "person", "data": {"name": "Ann", "type": "project"}},
        {"entity_type": "person", "data": {"name": "Ann"}, "content": "\0"},
        {"entity_type": "person", "data": {"name": "Ann"}, "content": "x" * 1_000_001},
    ):
        answer = await brain.post("/entities", body)
        assert answer.status == 422, body
        assert isinstance(answer.json()["detail"], str)
    assert not (brain.vault / "Brain/entities").exists()


async def test_a_second_one_of_the_same_type_and_name_is_refused(brain: Running, add: Any) -> None:
    first = await add("person", "Kevin")
    assert (await brain.post("/entities", {"entity_type": "person", "data": {"name": "KÉVIN"}})).status == 409
    other = await add("project", "Kevin")
    assert other["entity_id"] != first["entity_id"]
    # Names that make the same file name.
    assert (await add("person", "C++"))["path"].endswith("people/c.md")
    assert (await add("person", "C"))["path"].endswith("people/c-2.md")


async def test_names_of_signs_only_have_files_too(brain: Running, add: Any) -> None:
    made = await add("topic", "🎉🎉")
    assert made["path"].startswith("Brain/entities/topics/entity-")
    assert (await brain.post("/resolve", {"text": "🎉🎉"})).json()["para_id"] == made["entity_id"]
    assert (await add("topic", "日本語"))["path"].endswith("/日本語.md")
    long = await add("topic", "ü" * 200)
    assert len(Path(long["path"]).name.encode()) < 100


async def test_a_change_leaves_the_rest_of_the_file_as_it_is(brain: Running, write: Callable[[str, str], str]) -> None:
    path = write("projects/parachute.md", PARACHUTE.replace("\n", "\r\n"))
    await brain.emit("vault.changed", paths=[path])
    before = (await brain.get("/entities/project-parachute")).json()
    assert before["legacy_id"] == "project-parachute"
    body = {"data": {"status": "paused", "url": None}, "append": "- [[kevin]] - Advisor", "section": "Relationships"}
    answer = await brain.put(f"/entities/{before['para_id']}", {**body, "expected_version": before["version"]})
    assert answer.status == 200
    wanted = PARACHUTE.replace("status: active", "status: paused") + "- [[kevin]] - Advisor\n"
    assert (brain.vault / path).read_bytes() == wanted.replace("\n", "\r\n").encode()
    # What the app reads it may send back whole.
    whole = (await brain.get("/entities/project-parachute")).json()
    assert whole["mood"] == "hopeful"
    assert (await brain.put("/entities/project-parachute", {"data": whole})).json()["version"] == whole["version"]
    removed = await brain.put("/entities/project-parachute", {"data": {"mood": None}})
    assert "mood" not in removed.json()
    assert "mood" not in (brain.vault / path).read_text()


async def test_a_stale_version_is_a_conflict(brain: Running, add: Any) -> None:
    made = await add("person", "Kevin", "Old")
    id = made["entity_id"]
    (brain.vault / made["path"]).write_text((brain.vault / made["path"]).read_text() + "By hand\n")
    for answer in (
        await brain.put(f"/entities/{id}", {"content": "New", "expected_version": made["version"]}),
        await brain.delete(f"/entities/{id}", expected_version=made["version"]),
    ):
        assert answer.status == 409
    current = (await brain.get(f"/entities/{id}")).json()
    assert current["content"] == "Old\nBy hand"
    changed = await brain.put(f"/entities/{id}", {"content": "New", "expected_version": current["version"]})
    assert changed.status == 200
    assert (await brain.delete(f"/entities/{id}", expected_version=changed.json()["version"])).status == 200
    assert not (brain.vault / made["path"]).exists()
    assert (await brain.get(f"/entities/{id}")).status == 404
    assert (await brain.get("/search", q="Kevin")).json()["count"] == 0


async def test_changes_at_the_same_time_lose_nothing(brain: Running, add: Any) -> None:
    id = (await add("topic", "Log"))["entity_id"]
    answers = await asyncio.gather(*(brain.put(f"/entities/{id}", {"append": f"- line {n}"}) for n in range(20)))
    assert {answer.status for answer in answers} == {200}
    content = (await brain.get(f"/entities/{id}")).json()["content"]
    assert sorted(content.splitlines()) == sorted(f"- line {n}" for n in range(20))


async def test_a_rename_keeps_links_and_the_id(brain: Running, add: Any, write: Callable[[str, str], str]) -> None:
    kevin = await add("person", "Kevin", "See [[Kevin]].")
    text = (
        "---\npara_id: para:brain:bbbbbbbbbbbb\nrelationships:\n  - {target: kevin, type: advisor}  # him\n---\n# LVB\n"
    )
    text += "[[Kevin]], [[kevin|him]], [[people/kevin#Work]], [[Kevin Bacon]], `[[Kevin]]`\n```\n[[Kevin]]\n```\n"
    path = write("projects/lvb.md", text)
    await brain.emit("vault.changed", paths=[path])
    answer = await brain.put(f"/entities/{kevin['entity_id']}", {"data": {"name": "Kevin Nguyen"}})
    assert answer.json()["path"] == "Brain/entities/people/kevin-nguyen.md"
    assert answer.json()["aliases"] == ["Kevin"]
    assert answer.json()["links_rewritten"] == 2
    new = (brain.vault / path).read_text()
    assert "target: kevin-nguyen" in new
    assert (
        "[[Kevin Nguyen]], [[kevin-nguyen|him]], [[people/kevin-nguyen#Work]], [[Kevin Bacon]], `[[Kevin]]`\n```\n[[Kevin]]"
        in new
    )
    assert "# Kevin Nguyen\n\nSee [[Kevin Nguyen]]." in (brain.vault / answer.json()["path"]).read_text()
    assert (await brain.get("/entities/by_id", id=kevin["entity_id"])).json()["name"] == "Kevin Nguyen"
    links = (await brain.get("/links", id=kevin["entity_id"])).json()["links"]
    assert [(entry["direction"], entry["name"]) for entry in links] == [("in", "LVB")]
    assert (await brain.get("/resolve/Kevin")).json()["para_id"] == kevin["entity_id"]


async def test_another_type_moves_the_file(brain: Running, add: Any) -> None:
    made = await add("topic", "Parachute")
    answer = await brain.put(f"/entities/{made['entity_id']}", {"type": "project", "data": {"status": "active"}})
    assert answer.json()["path"] == "Brain/entities/projects/parachute.md"
    assert not (brain.vault / made["path"]).exists()
    assert (await brain.get("/entities/project")).json()["total"] == 1


async def test_what_is_only_like_an_id_is_none(brain: Running, add: Any) -> None:
    made = await add("person", "Kevin Nguyen")
    for id in ("person/kevin-nguyem", "person/Kevin"):
        assert (await brain.delete(f"/entities/{id}")).status == 404
        assert (await brain.put(f"/entities/{id}", {"content": "x"})).status == 404
        assert (await brain.get(f"/entities/{id}")).status == 404
    assert (brain.vault / made["path"]).exists()


async def test_ids_that_are_paths_lead_nowhere(brain: Running) -> None:
    for path in ("../../etc/passwd", "..%2F..%2Fx", "%00", "a" * 3000):
        assert (await brain.get(f"/entities/{path}")).status in (404, 422)
        assert (await brain.put(f"/entities/{path}", {"content": "x"})).status in (404, 422)
        assert (await brain.delete(f"/entities/{path}")).status in (404, 422)
