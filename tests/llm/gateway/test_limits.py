"""Limits of spending, and the subjects that a usage counts for."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import InvalidInput, NotFound
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.inbox import SpendingSource
from parachute.llm.gateway.limits import SUBJECTS, SpendingLimit, SpendingLimits, checked_subject, guest_subject
from parachute.llm.gateway.store import add_subjects, add_subscription_tokens, create_usage
from tests.support.messages_api import MessagesAPI, text

from .conftest import TODAY, Installation, agent, question

ANSWER = text("Yes.").using(input_tokens=1_000_000)
"""One dollar and a bit."""


async def ask(endpoint: ModelEndpoint, **fields: Any) -> int:
    async with agent(endpoint) as client:
        return (await client.post("/v1/messages", json=question(**fields))).status_code


async def test_one_subject_stops_at_its_limit_and_others_go_on(installation: Installation, api: MessagesAPI) -> None:
    api.default(ANSWER)
    gateway = installation.gateway
    boat, garden = await gateway.open("one"), await gateway.open("two")
    boat.counts_for, garden.counts_for = "workspace:boat", "workspace:garden"
    await gateway.limits.put(SpendingLimit("workspace:boat", "day", dollars=1.0))
    inbox = SpendingSource(gateway.spending, gateway.limits)
    assert await inbox.items() == []
    assert [await ask(boat), await ask(boat), await ask(garden)] == [200, 400, 200]
    assert boat.problem is not None
    assert (boat.problem.code, "workspace:boat" in boat.problem.message) == ("billing_error", True)
    (item,) = await inbox.items()
    assert item.details["is_reached"] is True
    # What is written down counts as what is in memory, and a limit that is raised holds at once.
    again = SpendingLimits(installation.database)
    await again.load()
    assert again.all() == gateway.limits.all()
    await gateway.limits.put(SpendingLimit("workspace:boat", "month", dollars=3.0))
    assert await ask(boat) == 200
    assert dict(await gateway.costs("subject", 1)).keys() == {"workspace:boat", "workspace:garden"}
    assert [(day, used.requests) for day, used in await gateway.costs("day", 30)] == [(TODAY, 3)]
    await gateway.limits.remove("workspace:boat")
    with pytest.raises(NotFound):
        await gateway.limits.remove("workspace:boat")


async def test_chats_of_others_count_for_themselves_and_for_all_of_them(
    installation: Installation, api: MessagesAPI
) -> None:
    api.default(ANSWER)
    gateway = installation.gateway
    one, other, own = await gateway.open("one"), await gateway.open("two"), await gateway.open("three")
    one.counts_for, other.counts_for = guest_subject("telegram", "-100 42"), guest_subject("matrix", "!a:b")
    own.counts_for = "chats"
    assert (one.counts_for, other.counts_for) == ("guest:telegram--100_42", "guest:matrix-_a_b")
    await gateway.limits.put(SpendingLimit(one.counts_for, "day", dollars=1.0))
    await gateway.limits.put(SpendingLimit("guests", "day", dollars=2.0))
    assert [await ask(one), await ask(one), await ask(other), await ask(other), await ask(own)] == [
        *(200, 400, 200, 400, 200),
    ]
    assert other.problem is not None
    assert "for guests" in other.problem.message


async def test_four_fifths_are_a_note_and_all_of_it_is_the_end(installation: Installation, api: MessagesAPI) -> None:
    api.default(ANSWER)
    gateway = installation.gateway
    boat = await gateway.open("one")
    boat.counts_for = "workspace:boat"
    inbox = SpendingSource(gateway.spending, gateway.limits)
    assert await ask(boat) == 200
    (_, used), *_ = await gateway.costs("subject", 1)
    for part, notes in ((0.79, 0), (0.81, 1)):
        await gateway.limits.put(SpendingLimit("workspace:boat", "month", dollars=used.dollars / part))
        found = await inbox.items()
        assert [each.details["is_reached"] for each in found] == [False] * notes
    # Nothing is refused before the end, and at the end nothing is asked.
    assert [await ask(boat), await ask(boat)] == [200, 400]
    assert len(api.requests) == 2
    assert [each.details["is_reached"] for each in await inbox.items()] == [True]


async def test_requests_at_the_same_time_wait_for_each_other(installation: Installation, api: MessagesAPI) -> None:
    api.default(ANSWER)
    gateway = installation.gateway
    endpoints = [await gateway.open(name) for name in ("one", "two", "three")]
    for each in endpoints:
        each.counts_for = "module:daily"
    await gateway.limits.put(SpendingLimit("module:daily", "day", dollars=1.0))
    found = await asyncio.gather(*(ask(each, max_tokens=200_000) for each in endpoints))
    assert sorted(found) == [200, 400, 400]
    assert len(api.requests) == 1


async def test_hooks_and_questions_count_for_themselves(installation: Installation) -> None:
    hook = await installation.gateway.open("one", asked_by=("hook", "notes"))
    asked = await installation.gateway.open("two", asked_by=("api_key", "Phone"))
    own = await installation.gateway.open("three")
    assert [each.subject for each in (hook, asked, own)] == ["hook:notes", "questions", "computer"]


@pytest.mark.parametrize("wrong", ["", "boat", "workspace:", "workspace:a b", "module:../x", "hook:" + "x" * 200])
def test_a_subject_that_is_none(wrong: str) -> None:
    with pytest.raises(InvalidInput):
        checked_subject(wrong)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_subjects(subject: str) -> None:
    assert checked_subject(subject) == subject


async def test_a_limit_of_nothing_is_refused(installation: Installation) -> None:
    with pytest.raises(InvalidInput):
        await installation.gateway.limits.put(SpendingLimit("chats", "day"))


def test_a_ledger_of_before_keeps_what_it_has(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "trust.db")
    create_usage(connection)
    add_subscription_tokens(connection)
    row: tuple[Any, ...] = (TODAY, "one", "m", 1, 2, 3, 4, 5, 0.5, 7)
    connection.execute("INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    add_subjects(connection)
    assert connection.execute("SELECT * FROM usage").fetchall() == [(*row[:3], "", *row[3:])]
    connection.close()
