"""Suggestions for the journal that others make and the user approves."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from module import DailyModule

from parachute.core import Conflict, InvalidInput, NotFound
from parachute.core.testing import Running, run

DAY = "2025-03-04"


@pytest.fixture
async def daily() -> AsyncIterator[Running]:
    async with run(DailyModule) as running:
        yield running


async def entry(daily: Running, content: str = "Met Kevin.") -> dict[str, Any]:
    """An entry, as a suggestion sees it when it is made."""
    made = await daily.post("/entries", {"content": content, "date": DAY, "title": "Lunch"})
    seen = await daily.module.resolve_para_id(made.json()["id"])
    assert seen is not None
    return dict(seen)


async def now(daily: Running, found: dict[str, Any]) -> tuple[str, str]:
    """(title, content) of an entry as it is."""
    seen = await daily.module.resolve_para_id(found["id"])
    return seen["title"], seen["content"]


async def test_an_entry_is_written_once(daily: Running) -> None:
    payload = {"content": "Kevin moved to Berlin.", "title": "News", "date": DAY}
    made = await daily.apply("create", payload, suggestion_id="a1.0")
    assert (made["title"], made["content"], made["date"]) == ("News", "Kevin moved to Berlin.", DAY)
    assert await daily.apply("create", payload, suggestion_id="a1.0") == made
    assert await daily.applied("create", payload, suggestion_id="a1.0") == made
    assert await daily.applied("create", payload, suggestion_id="a2.0") is None
    assert (daily.vault / f"Daily/journals/{DAY}.md").read_text().count("moved to Berlin") == 1


async def test_an_entry_is_changed_as_long_as_it_is_what_was_seen(daily: Running) -> None:
    found = await entry(daily)
    options = {"target_id": found["id"], "expected_version": found["version"]}
    assert await daily.applied("update", {"append": "He moves."}, **options) is None
    await daily.check("update", {"append": "He moves."}, target_id=found["id"])
    assert await now(daily, found) == ("Lunch", "Met Kevin.")
    await daily.apply("update", {"append": "He moves.", "title": "Kevin"}, **options)
    assert await now(daily, found) == ("Kevin", "Met Kevin.\n\nHe moves.")
    assert (await daily.applied("update", {"append": "He moves.", "title": "Kevin"}, **options))["title"] == "Kevin"
    with pytest.raises(Conflict):
        await daily.apply("update", {"content": "Nothing."}, **options)
    with pytest.raises(Conflict):
        await daily.applied("update", {"content": "Nothing."}, **options)
    assert await now(daily, found) == ("Kevin", "Met Kevin.\n\nHe moves.")
    again = await daily.module.resolve_para_id(found["id"])
    await daily.apply("update", {"content": "Nothing."}, target_id=found["id"], expected_version=again["version"])
    assert await now(daily, found) == ("Kevin", "Nothing.")


async def test_a_link_to_what_an_entry_mentions_is_no_other_version(daily: Running) -> None:
    found = await entry(daily)
    await daily.module.journal.mention(found["id"], {"para:brain:kevinkevin00"})
    seen = await daily.module.resolve_para_id(found["id"])
    assert (seen["version"], seen["mentions"]) == (found["version"], ["para:brain:kevinkevin00"])


@pytest.mark.parametrize(
    ("action", "payload"),
    [
        ("create", {}),
        ("create", {"content": "  "}),
        ("create", {"content": "x", "date": "../../x"}),
        ("create", {"content": "x", "path": "Daily/x.md"}),
        ("create", {"content": ["x"]}),
        ("create", {"content": "x\0"}),
        ("create", {"content": "x" * 1_000_001}),
        ("update", {}),
        ("update", {"append": " "}),
        ("update", {"append": "x", "content": "y"}),
        ("update", {"title": 3}),
        ("delete", {}),
        ("link", {"source_id": "para:chat:aaaaaaaaaaaa"}),
    ],
)
async def test_what_cannot_be_meant_changes_nothing(daily: Running, action: str, payload: dict[str, Any]) -> None:
    found = await entry(daily)
    file = daily.vault / f"Daily/journals/{DAY}.md"
    before = file.read_bytes()
    for way in (daily.check, daily.apply):
        with pytest.raises(InvalidInput):
            await way(action, payload, target_id=None if action == "create" else found["id"])
    assert file.read_bytes() == before


async def test_what_is_gone_is_not_changed(daily: Running) -> None:
    found = await entry(daily)
    options = {"target_id": found["id"], "expected_version": found["version"]}
    await daily.delete(f"/entries/{found['id']}")
    with pytest.raises(NotFound):
        await daily.apply("update", {"append": "x"}, **options)
    with pytest.raises(Conflict):
        await daily.applied("update", {"append": "x"}, **options)


async def test_a_change_is_shown_before_it_is_made_and_taken_back_after(daily: Running) -> None:
    found = await entry(daily)
    payload = {"append": "He moves.", "title": "Kevin"}
    shown = await daily.preview("update", payload, target_id=found["id"])
    assert shown is not None
    assert shown.title == f"{DAY} Lunch"
    assert (shown.before, shown.after) == ("# Lunch\n\nMet Kevin.\n", "# Kevin\n\nMet Kevin.\n\nHe moves.\n")
    assert await now(daily, found) == ("Lunch", "Met Kevin.")
    made = await daily.apply("update", payload, target_id=found["id"])
    await daily.module.journal.mention(found["id"], {"para:brain:kevinkevin00"})
    for _ in range(2):
        assert await daily.undo("update", payload, shown.keep, made, target_id=found["id"]) == found["version"]
        assert await now(daily, found) == ("Lunch", "Met Kevin.")
    made = await daily.apply("update", payload, target_id=found["id"])
    await daily.apply("update", {"append": "Or not."}, target_id=found["id"])
    with pytest.raises(Conflict):
        await daily.undo("update", payload, shown.keep, made, target_id=found["id"])
    assert await now(daily, found) == ("Kevin", "Met Kevin.\n\nHe moves.\n\nOr not.")


async def test_an_entry_that_was_written_is_taken_back(daily: Running) -> None:
    payload = {"content": "Kevin moved.", "title": "News", "date": DAY}
    shown = await daily.preview("create", payload)
    assert shown is not None
    assert (shown.before, shown.after) == (None, f"# {DAY} News\n\nKevin moved.\n")
    made = await daily.apply("create", payload, suggestion_id="a1.0")
    for _ in range(2):
        await daily.undo("create", payload, shown.keep, made)
        assert await daily.module.resolve_para_id(made["id"]) is None
    made = await daily.apply("create", payload, suggestion_id="a1.1")
    await daily.apply("update", {"append": "To Rome."}, target_id=made["id"])
    with pytest.raises(Conflict):
        await daily.undo("create", payload, shown.keep, made)
    assert await daily.module.resolve_para_id(made["id"])
