"""Links between entities, and what other modules note."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from module import BrainModule

from parachute.core.interfaces import JournalEntry
from parachute.core.testing import Running, run

SOURCE = "para:daily:x7y8z9w0v1u2"
TEXT = """\
---
type: project
aliases: [Parachute]
work_path: ~/Projects/parachute
agents_path: Projects/parachute/AGENTS.md
relationships:
  - "[[aaron-gabriel]] - Founder"
  - target: Kevin
    type: advisor
---

# Parachute Computer

An extended mind.

## Relationships
- [[maria]] - Designer
- [[Unknown Person]]
"""


async def _links(brain: Running, id: str) -> list[tuple[str, str, str, str]]:
    links = (await brain.get("/links", id=id)).json()["links"]
    return [(entry["direction"], entry["kind"], entry["target"], entry["note"]) for entry in links]


async def test_links_are_seen_from_both_ends(brain: Running, add: Any, write: Callable[[str, str], str]) -> None:
    people = {name: await add("person", name) for name in ("Aaron Gabriel", "Kevin", "Maria")}
    path = write("projects/parachute-computer.md", TEXT)
    await brain.emit("vault.changed", paths=[path])
    project = (await brain.get("/resolve/Parachute")).json()["para_id"]
    assert set(await _links(brain, project)) == {
        ("out", "relationship", "Aaron Gabriel", "Founder"),
        ("out", "relationship", "Kevin", "advisor"),
        ("out", "wiki", "Maria", "Designer"),
        ("out", "wiki", "Unknown Person", ""),
    }
    assert await _links(brain, people["Maria"]["entity_id"]) == [("in", "wiki", "Parachute Computer", "Designer")]
    unknown = await add("person", "Unknown Person")
    assert await _links(brain, unknown["entity_id"]) == [("in", "wiki", "Parachute Computer", "")]
    await brain.delete(f"/entities/{unknown['entity_id']}")
    assert ("out", "wiki", "Unknown Person", "") in await _links(brain, project)


async def test_a_link_of_another_module_is_kept_once_and_told(brain: Running, add: Any) -> None:
    kevin = (await add("person", "Kevin"))["entity_id"]
    await brain.interface("BrainInterface", "link", source_id=SOURCE, para_id=kevin, confidence=0.9)
    assert (await brain.post("/link", {"source_id": SOURCE, "para_id": kevin})).json()["new"] is False
    told = [each for each in brain.published if each[0] != "brain.entity.created"]
    assert told == [("brain.mention.detected", {"source_id": SOURCE, "para_id": kevin, "confidence": 0.9})]
    mentions = (await brain.get("/links", id=kevin)).json()["mentions"]
    assert [entry["source_id"] for entry in mentions] == [SOURCE]
    (file,) = (brain.vault / "Brain/mentions").iterdir()
    assert file.read_text().count("\n") == 1
    await brain.put(f"/entities/{kevin}", {"name": "Kevin Nguyen"})
    assert (await brain.get("/links", id=kevin)).json()["mentions"] == mentions
    assert (await brain.delete("/link", source_id=SOURCE, para_id=kevin)).status == 200
    assert (await brain.delete("/link", source_id=SOURCE, para_id=kevin)).status == 404
    assert (await brain.get("/links", id=kevin)).json()["mentions"] == []


async def test_many_links_at_once_are_all_there(brain: Running, add: Any, tmp_path: Path) -> None:
    kevin = (await add("person", "Kevin"))["entity_id"]
    sources = [f"para:daily:{n:012}" for n in range(40)]
    await asyncio.gather(*(brain.post("/link", {"source_id": source, "para_id": kevin}) for source in sources))
    file, *_ = sorted((brain.vault / "Brain/mentions").iterdir())  # two if a month has just ended
    file.write_text("not a link\n{}\n" + file.read_text())
    await brain.emit("vault.changed", paths=[f"Brain/mentions/{file.name}"])
    mentions = (await brain.get("/links", id=kevin)).json()["mentions"]
    assert sorted(entry["source_id"] for entry in mentions) == sources


async def test_a_source_that_is_no_id_is_refused(brain: Running, add: Any) -> None:
    kevin = (await add("person", "Kevin"))["entity_id"]
    for source in ("", " ", "a\nb", "x" * 301):
        assert (await brain.post("/link", {"source_id": source, "para_id": kevin})).status == 422
        assert (await brain.post("/link", {"source_id": SOURCE, "para_id": "para:brain:zzzzzzzzzzzz"})).status == 404
        assert not (brain.vault / "Brain/mentions").exists()


class _Journal:
    async def get(self, entry_id: str) -> JournalEntry | None:
        return JournalEntry(entry_id, "2024-01-15", "Talked about money.") if entry_id == SOURCE else None

    async def search(self, query: str, date_from: str | None = None, limit: int = 20) -> list[JournalEntry]:
        return [JournalEntry("2", "2024-02-01", f"Something on {query}. " + "word " * 400)]


async def test_context_holds_the_entity_its_neighbours_entries_and_project(
    tmp_path: Path, vault: Path, write: Callable[[str, str], str]
) -> None:
    write("projects/parachute-computer.md", TEXT)
    write("people/maria.md", "# Maria\n\nDraws maps.\n")
    guide = vault / "Projects/parachute/AGENTS.md"
    guide.parent.mkdir(parents=True)
    guide.write_text("Run the tests.\n")
    async with run(BrainModule, folder=tmp_path, interfaces={"JournalInterface": _Journal()}) as brain:
        project = (await brain.get("/resolve/Parachute")).json()["para_id"]
        await brain.post("/link", {"source_id": SOURCE, "para_id": project})
        for topic in ("Parachute", "today I go on working on Parachute, at last"):
            context = (await brain.post("/context", {"topic": topic})).json()
            assert [entry["name"] for entry in context["entities"]] == ["Parachute Computer"]
            for part in (
                "work_path: ~/Projects/parachute",
                "An extended mind.",
                "- Maria (person, Brain/entities/people/maria.md): Designer",
                "Talked about money.",
                "Something on Parachute Computer.",
                "Run the tests.",
            ):
                assert part in context["text"]
        short = (await brain.get("/context", topic="Parachute", tokens=100)).json()
        assert short["truncated"] is True
        assert 0 < len(short["text"]) <= 400
        assert (await brain.get("/context", topic="Parachute", tokens=5)).status == 422
        assert (await brain.interface("BrainInterface", "context", topic="Nobody at all"))["text"] == ""
        guide.unlink()
        assert "Projects/parachute/AGENTS.md" in await brain.tool("brain-context", topic="Parachute")


async def test_the_neighbourhood_has_two_rings_and_the_links_between_them(brain: Running, add: Any) -> None:
    middle = (await add("project", "Parachute", "With [[Maria]] and [[Kevin]], and [[Nobody]]."))["entity_id"]
    maria = (await add("person", "Maria", "Knows [[Kevin]]."))["entity_id"]
    kevin = (await add("person", "Kevin"))["entity_id"]
    far = (await add("topic", "Maps", "Drawn by [[Maria]]."))["entity_id"]
    await add("topic", "Farther", "About [[Maps]].")
    near = (await brain.get("/neighbourhood", id=middle)).json()
    assert {node["para_id"]: node["ring"] for node in near["nodes"]} == {middle: 0, maria: 1, kevin: 1, far: 2}
    lines = {(line["source"], line["target"]) for line in near["links"]}
    assert lines == {(middle, maria), (middle, kevin), (maria, kevin), (far, maria)}
    assert near["truncated"] is False
    cut = (await brain.get("/neighbourhood", id=middle, limit="2")).json()
    assert ([node["ring"] for node in cut["nodes"]], cut["truncated"]) == ([0, 1], True)
    assert (await brain.get("/neighbourhood", id=middle, limit="0")).status == 422
    assert (await brain.get("/neighbourhood", id="para:brain:zzzzzzzzzzzz")).status == 404


async def test_a_link_by_the_name_of_a_file_stays_one_in_any_case(
    brain: Running, write: Callable[[str, str], str]
) -> None:
    other = "# Other\n\nSee [[Internal links]], [[internal links]] and [[INTERNAL LINKS|there]].\n"
    note, path = write("topics/Internal links.md", "Text.\n"), write("topics/Other.md", other)
    await brain.emit("vault.changed", paths=[note, path])
    id_ = (await brain.get("/resolve/Internal links")).json()["para_id"]
    answer = await brain.put(f"/entities/{id_}", {"data": {"name": "Inner links"}})
    assert answer.json()["path"] == note
    assert (brain.vault / path).read_text().endswith(other)
    assert {each["name"] for each in (await brain.get("/links", id=id_)).json()["links"]} == {"Other"}
