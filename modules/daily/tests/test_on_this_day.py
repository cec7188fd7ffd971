"""On this day: entries of the same day in earlier years, or of a month and a week ago."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from daily.journal.looking_back import earlier_days
from module import DailyModule

from parachute.core.testing import Running, run


@pytest.fixture
async def daily() -> AsyncIterator[Running]:
    async with run(DailyModule) as running:
        for date in ("2021-03-10", "2023-03-10", "2024-02-10", "2024-03-03", "2024-03-10"):
            for number in range(2):
                assert (await running.post("/entries", {"content": f"{date} {number}", "date": date})).status == 200
        yield running


async def _back(daily: Running, **query: Any) -> list[tuple[str, str, int, int]]:
    answer = await daily.get("/on-this-day", **query)
    assert answer.status == 200, answer.text
    return [
        (each["date"], each["ago"]["unit"], each["ago"]["count"], len(each["entries"]))
        for each in answer.json()["days"]
    ]


async def test_the_same_day_of_earlier_years_the_last_one_first(daily: Running) -> None:
    assert await _back(daily, date="2024-03-10") == [("2023-03-10", "year", 1, 2), ("2021-03-10", "year", 3, 2)]
    assert await _back(daily, date="2024-03-10", limit=3) == [
        ("2023-03-10", "year", 1, 2),
        ("2021-03-10", "year", 3, 1),
    ]


async def test_without_any_the_day_of_a_month_and_of_a_week_ago(daily: Running) -> None:
    assert await _back(daily, date="2021-03-17") == [("2021-03-10", "week", 1, 2)]
    assert await _back(daily, date="2021-04-10") == [("2021-03-10", "month", 1, 2)]
    assert await _back(daily, date="2020-01-01") == []


async def test_without_a_date_it_is_today(daily: Running) -> None:
    today = daily.module.journal.today()
    assert (await daily.get("/on-this-day")).json()["date"] == today


async def test_what_is_no_date_or_limit_is_refused(daily: Running) -> None:
    assert (await daily.get("/on-this-day", date="2024-02-30")).json()["key"] == "invalid_date"
    assert (await daily.get("/on-this-day", limit=0)).json()["key"] == "limit_out_of_range"


@pytest.mark.parametrize(
    ("date", "years", "sooner"),
    [
        ("2024-02-29", ["2020-02-29"], ["2024-01-29", "2024-02-22"]),
        ("2023-02-28", ["2022-02-28", "2021-02-28", "2020-02-29", "2020-02-28"], ["2023-01-28", "2023-02-21"]),
        ("2020-03-31", [], ["2020-02-29", "2020-03-24"]),
        ("0001-01-03", [], []),
    ],
)
def test_days_that_not_every_year_or_month_has(date: str, years: list[str], sooner: list[str]) -> None:
    found = earlier_days(date, 2020)
    assert ([each.date for each in found[0]], [each.date for each in found[1]]) == (years, sooner)
