"""Files that other programs name and copy in the folder of days."""

from collections.abc import AsyncIterator

import pytest
from module import DailyModule

from parachute.core.testing import Running, run


@pytest.fixture
async def daily() -> AsyncIterator[Running]:
    async with run(DailyModule) as running:
        yield running


async def test_a_copy_whose_day_has_gone_is_to_be_renamed(daily: Running) -> None:
    copy = "Daily/journals/2026-11-10.sync-conflict-20261110-101112-ABCDEFG.md"
    (daily.vault / copy).parent.mkdir(parents=True, exist_ok=True)
    (daily.vault / copy).write_text("Text of the other device\n")
    await daily.emit("vault.changed", paths=["Daily/journals"])
    (problem,) = (await daily.get("/problems")).json()["problems"]
    assert problem["path"] == copy
    assert "Daily/journals/2026-11-10.md: rename it" in problem["problem"]


async def test_names_of_days_by_other_programs_are_named_and_copies_are_no_entries(daily: Running) -> None:
    folder = daily.vault / "Daily/journals"
    names = {
        "2026_11_05.md": "2026-11-05",
        "2026-11-06 Friday.md": "2026-11-06",
        "2026/11/2026-11-07.md": "2026-11-07",
        "2026/11/08.md": "2026-11-08",
        "20261109.md": "2026-11-09",
    }
    copies = ["2026-11-10.sync-conflict-20261110-101112-ABCDEFG.md", "2026-11-10 (Ann's conflicted copy 2026-11-10).md"]
    for name in (*names, *copies, "2026-11-10.md", "Template.md", "2026_13_05.md", ".trash/2026_11_05.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("Text\n")
    await daily.emit("vault.changed", paths=["Daily/journals"])
    problems = {each["path"]: each["problem"] for each in (await daily.get("/problems")).json()["problems"]}
    assert problems.keys() == {f"Daily/journals/{name}" for name in (*names, *copies)}
    for name, date in names.items():
        assert f"Daily/journals/{date}.md" in problems[f"Daily/journals/{name}"]
    assert [entry["path"] for entry in (await daily.get("/entries")).json()["entries"]] == [
        "Daily/journals/2026-11-10.md"
    ]
