"""Two entities that are one: found, merged, and taken apart again with everything as it was."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from parachute.core.testing import Running


def files(vault: Path) -> dict[str, bytes]:
    """Every file of Brain."""
    return {str(path.relative_to(vault)): path.read_bytes() for path in (vault / "Brain").rglob("*") if path.is_file()}


async def told(brain: Running, **query: str) -> list[tuple[str, str, str]]:
    """The names of those that may be one, and why."""
    found = (await brain.get("/duplicates", **query)).json()["duplicates"]
    return [(each["one"]["name"], each["other"]["name"], each["reason"]) for each in found]


async def test_duplicates_are_found_by_words_letters_and_beginnings(brain: Running, add: Callable[..., Any]) -> None:
    for name in ("Kevin Nguyen", "Nguyen Kevin", "Ottilie Blum", "Ottillie Blum", "Walpurga", "Walpurga Stein", "Max"):
        await add("person", name)
    for name in ("Max Planck", "Max Frisch", "Hans Meier", "Hans Meyer", "Anna", "Hanna"):
        await add("person", name)
    await add("topic", "Ottilie Blum")
    assert sorted(await told(brain)) == [
        ("Hans Meier", "Hans Meyer", "similar"),
        ("Kevin Nguyen", "Nguyen Kevin", "same_words"),
        ("Ottilie Blum", "Ottillie Blum", "similar"),
        ("Walpurga", "Walpurga Stein", "part"),
    ]
    assert await told(brain, type="topic") == []
    kept = (await brain.get("/duplicates")).json()["duplicates"]
    pair = next(each for each in kept if each["one"]["name"] == "Hans Meier")
    body = {"one": pair["other"]["para_id"], "other": pair["one"]["para_id"]}
    assert (await brain.post("/duplicates/different", body)).status == 200
    assert "Hans Meier" not in str(await told(brain))
    assert (await brain.get("/duplicates", type="nothing")).status == 422


async def test_a_merge_keeps_everything_and_is_taken_back_to_the_byte(
    brain: Running, add: Callable[..., Any], write: Callable[..., str]
) -> None:
    kevin = await add("person", "Kevin Nguyen", "Advisor of the vibe school.", tags=["boats"])
    other = await add("person", "Kev", "Moved to Berlin.", aliases=["K."], tags=["berlin"], status="away")
    write("topics/boats.md", "---\ntype: topic\n---\n\n# Boats\n\nAsk [[Kev]] and [[people/kev|him]].\n")
    write("people/ann.md", '---\ntype: person\nrelationships:\n  - type: friend\n    target: "[[kev]]"\n---\n\n# Ann\n')
    await brain.post("/reload")
    assert (
        await brain.post("/link", {"source_id": "para:daily:aaaaaaaaaaaa", "para_id": other["para_id"]})
    ).status == 200
    before = files(brain.vault)
    made = await brain.post("/merge", {"keep": kevin["para_id"], "other": other["para_id"]})
    assert made.status == 200, made.text
    assert other["path"] not in files(brain.vault)
    found = (await brain.get(f"/entities/{other['para_id']}")).json()
    assert (found["para_id"], found["name"], found["aliases"]) == (kevin["para_id"], "Kevin Nguyen", ["Kev", "K."])
    assert (found["tags"], found["status"]) == (["boats", "berlin"], "away")
    assert "Advisor of the vibe school." in found["content"]
    assert "Moved to Berlin." in found["content"]
    links = (await brain.get("/links", id=kevin["para_id"])).json()
    assert {each["name"] for each in links["links"]} == {"Boats", "Ann"}
    assert [each["source_id"] for each in links["mentions"]] == ["para:daily:aaaaaaaaaaaa"]
    assert (await brain.get("/duplicates")).json()["merged"] == [
        {"para_id": other["para_id"], "name": "Kev", "into": kevin["para_id"], "into_name": "Kevin Nguyen"}
    ]
    back = (await brain.post("/unmerge", {"para_id": other["para_id"]})).json()
    assert (back["para_id"], back["exact"]) == (kevin["para_id"], True)
    assert files(brain.vault) == before
    assert (await brain.get(f"/entities/{other['para_id']}")).json()["name"] == "Kev"
    assert (await brain.post("/unmerge", {"para_id": other["para_id"]})).status == 404


async def test_links_by_the_name_of_a_file_lead_on_and_come_back(
    brain: Running, add: Callable[..., Any], write: Callable[..., str]
) -> None:
    kevin = await add("person", "Kevin Nguyen")
    write("people/by-hand.md", "---\ntype: person\npara_id: para:brain:byhandbyhand\n---\n\n# Kev\n")
    write("topics/boats.md", "---\ntype: topic\n---\n\n# Boats\n\nAsk [[by-hand]].\n")
    await brain.post("/reload")
    before = files(brain.vault)
    await brain.post("/merge", {"keep": kevin["para_id"], "other": "para:brain:byhandbyhand"})
    links = (await brain.get("/links", id=kevin["para_id"])).json()["links"]
    assert [each["name"] for each in links] == ["Boats"]
    assert (await brain.post("/unmerge", {"para_id": "para:brain:byhandbyhand"})).json()["exact"] is True
    assert files(brain.vault) == before


async def test_what_was_written_since_stays(brain: Running, add: Callable[..., Any]) -> None:
    kevin, other = await add("person", "Kevin", "One."), await add("person", "Kev", "Two.")
    theirs = (brain.vault / other["path"]).read_bytes()
    await brain.post("/merge", {"keep": kevin["para_id"], "other": other["para_id"]})
    await brain.put(f"/entities/{kevin['para_id']}", {"append": "Three."})
    back = (await brain.post("/unmerge", {"para_id": other["para_id"]})).json()
    assert (back["exact"], back["aliases"]) == (False, [])
    text = (brain.vault / kevin["path"]).read_text()
    assert "Three." in text
    assert "merged_ids" not in text
    assert (brain.vault / other["path"]).read_bytes() == theirs


async def test_what_cannot_be_merged_changes_nothing(brain: Running, add: Callable[..., Any]) -> None:
    ids = {"KEVIN": (await add("person", "Kevin"))["para_id"], "KEV": (await add("person", "Kev"))["para_id"]}
    before = files(brain.vault)
    for body, status in (
        ({"keep": "KEVIN", "other": "KEVIN"}, 422),
        ({"keep": "KEVIN", "other": "para:brain:nobodynobody"}, 404),
        ({"keep": "KEVIN"}, 422),
        ({"keep": "KEVIN", "other": "KEV", "expected_version": "another"}, 409),
    ):
        assert (await brain.post("/merge", {name: ids.get(text, text) for name, text in body.items()})).status == status
        assert files(brain.vault) == before


async def test_a_proposed_merge_is_shown_made_once_and_taken_back(brain: Running, add: Callable[..., Any]) -> None:
    kevin, other = await add("person", "Kevin", "One."), await add("person", "Kev", "Two.")
    before, payload = files(brain.vault), {"merge": other["para_id"]}
    await brain.check("update", payload, target_id=kevin["para_id"])
    shown = await brain.preview("update", payload, target_id=kevin["para_id"])
    assert shown is not None
    assert "Two." in str(shown.after)
    assert files(brain.vault) == before
    made = await brain.apply("update", payload, target_id=kevin["para_id"], suggestion_id="a1.0")
    assert await brain.applied("update", payload, target_id=kevin["para_id"], suggestion_id="a1.0") == made
    assert other["path"] not in files(brain.vault)
    await brain.undo("update", payload, shown.keep, made, target_id=kevin["para_id"])
    assert files(brain.vault) == before
