"""Entries from elsewhere: at their time of their day, once each, and taken back as they came."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from module import DailyModule

from parachute.core.interfaces import BroughtEntry
from parachute.core.testing import Running, run
from tests.support.errors import raises

DAY = "2017-06-28"
FILE = f"Daily/journals/{DAY}.md"


@pytest.fixture
async def daily() -> AsyncIterator[Running]:
    async with run(DailyModule) as running:
        yield running


def entry(number: int, time: str | None = "10:00", **more: Any) -> BroughtEntry:
    return BroughtEntry(f"para:daily:{number:012x}", more.pop("date", DAY), f"Text {number}.", time=time, **more)


async def brought(daily: Running, *entries: BroughtEntry, **flags: Any) -> tuple[list[str], dict[str, str]]:
    placed = await daily.module.bring(list(entries), **flags)
    versions = {each.id: what.version for each, what in zip(entries, placed, strict=True)}
    return [each.outcome for each in placed], versions


async def texts(daily: Running) -> list[str]:
    return [each["content"] for each in (await daily.get("/entries", date=DAY)).json()["entries"]]


async def test_entries_stand_at_their_time_and_come_once(daily: Running) -> None:
    await brought(daily, entry(1, "12:00"), entry(2, "08:00"), entry(3, None))
    fields = {"tags": ["sea"], "place": "Husum", "location": [54.5, 9.1]}
    outcomes, _ = await brought(daily, entry(4, "10:00", title="Noon", fields=fields), entry(1, "12:00"))
    assert outcomes == ["new", "same"]
    assert await texts(daily) == ["Text 2.", "Text 4.", "Text 1.", "Text 3."]
    assert "    place: Husum\n" in (daily.vault / FILE).read_text()
    assert (await daily.get("/search", tag="sea", place="husum")).json()["entries"][0]["title"] == "Noon"
    assert daily.published == []


async def test_what_is_changed_here_stays(daily: Running) -> None:
    _, versions = await brought(daily, entry(1), entry(2, "11:00"))
    await daily.put(f"/entries/{entry(1).id}", {"content": "Mine."})
    assert (await brought(daily, entry(1)))[0] == ["changed_entries"]
    assert await daily.module.take_back(versions) == [entry(1).id]
    assert await texts(daily) == ["Mine."]


async def test_looking_writes_nothing(daily: Running) -> None:
    outcomes, versions = await brought(daily, entry(1), only_looking=True)
    assert outcomes == ["new"]
    assert not (daily.vault / FILE).exists()
    assert (await brought(daily, entry(1)))[1] == versions


async def test_a_day_that_is_empty_again_is_gone_and_others_keep_what_they_have(daily: Running) -> None:
    await daily.post("/entries", {"content": "My own.", "date": "2017-06-29"})
    _, versions = await brought(daily, entry(1), entry(2, date="2017-06-29"))
    # Of what nobody knows how it came, nobody knows whether it was changed.
    assert await daily.module.take_back(dict.fromkeys(versions, "")) == list(versions)
    assert await daily.module.take_back(versions) == []
    assert not (daily.vault / FILE).exists()
    assert "My own." in (daily.vault / "Daily/journals/2017-06-29.md").read_text()
    assert await daily.module.take_back(versions) == []


async def test_a_day_that_cannot_be_changed_gets_a_file_beside_it(daily: Running) -> None:
    path = daily.vault / FILE
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff not UTF-8")
    assert (await brought(daily, entry(1)))[0] == ["new"]
    assert path.read_bytes() == b"\xff not UTF-8"
    assert await texts(daily) == ["Text 1."]


async def test_what_is_no_entry_is_refused(daily: Running) -> None:
    for wrong, key in (
        (BroughtEntry("para:brain:000000000001", DAY), "entry_id_malformed"),
        (BroughtEntry("../x", DAY), "entry_id_malformed"),
        (entry(1, date="2017-02-30"), "invalid_date"),
    ):
        with raises(key):
            await daily.module.bring([wrong])
    with raises("too_many_entries"):
        await daily.module.bring([entry(number) for number in range(501)])
