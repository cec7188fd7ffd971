"""Every change of the audit log is found."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parachute.security.audit.days import Days
from parachute.security.audit.service import Audit
from parachute.security.audit.verifying import Verification, verify
from tests.support.clock import ManualClock
from tests.support.errors import raises

from .conftest import Recorded, note

FIRST, SECOND, THIRD = "2026-01-30", "2026-01-31", "2026-02-01"


def verified(recorded: Recorded) -> Verification:
    return verify(Days(recorded.folder), recorded.sealed())


async def three_days(recorded: Recorded) -> None:
    for _ in range(3):
        await recorded.write(4)
        recorded.clock.moment += timedelta(days=1)


async def test_days_of_several_processes_are_one_chain(recorded: Recorded) -> None:
    await three_days(recorded)
    recorded.clock.moment -= timedelta(days=1)
    await recorded.write(4)
    found = verified(recorded)
    assert (found.days, found.records, found.before, found.problems) == (3, 16, 0, ())
    first = json.loads(recorded.path(SECOND).read_text().split("\n")[0])
    assert first["previous"], "the first record of a day names the last one of the day before"


CHANGES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "altered": lambda lines: [lines[0], lines[1].replace(b"/1", b"/7"), *lines[2:]],
    "removed": lambda lines: [lines[0], *lines[2:]],
    "first removed": lambda lines: lines[1:],
    "last removed": lambda lines: lines[:-1],
    "last altered": lambda lines: [*lines[:-1], lines[-1].replace(b"cli", b"key")],
    "moved": lambda lines: [lines[1], lines[0], *lines[2:]],
    "added": lambda lines: [*lines[:2], lines[1], *lines[2:]],
    "added at the end": lambda lines: [*lines, lines[-1]],
    "unchained": lambda lines: [*lines, b"{}"],
    "emptied": lambda lines: [],
}


@pytest.mark.parametrize("day", [FIRST, SECOND, THIRD])
@pytest.mark.parametrize("change", CHANGES)
async def test_a_changed_day_is_found(recorded: Recorded, day: str, change: str) -> None:
    await three_days(recorded)
    path = recorded.path(day)
    lines = CHANGES[change](path.read_bytes().removesuffix(b"\n").split(b"\n"))
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    assert {each.day for each in verified(recorded).problems} & {day, THIRD}


async def test_a_day_that_is_gone_or_renamed_is_found(recorded: Recorded) -> None:
    await three_days(recorded)
    recorded.path(SECOND).rename(recorded.path("2026-01-15"))
    kinds = {(each.day, each.kind) for each in verified(recorded).problems}
    assert (SECOND, "day_missing") in kinds


async def test_one_flipped_bit_is_found(recorded: Recorded) -> None:
    await three_days(recorded)
    paths = [recorded.path(day) for day in (FIRST, SECOND, THIRD)]

    @settings(max_examples=200, deadline=None)
    @given(st.sampled_from(paths), st.floats(0, 1, exclude_max=True), st.integers(0, 7))
    def flip(path: Path, place: float, bit: int) -> None:
        before = path.read_bytes()
        data = bytearray(before)
        data[int(place * len(data))] ^= 1 << bit
        path.write_bytes(data)
        found = verified(recorded).problems
        path.write_bytes(before)
        assert found

    flip()


async def test_a_process_that_was_killed_left_a_whole_chain(recorded: Recorded) -> None:
    await recorded.write(2)
    audit = recorded.open()
    note(audit)
    await audit.written()  # and then it is killed, without a seal for what it wrote
    with recorded.path(FIRST).open("ab") as file:
        file.write(b'{"timestamp": "2026-01-')
    assert not verified(recorded).problems
    await recorded.write(1)
    found = verified(recorded)
    assert (found.records, found.problems) == (4, ())


async def test_a_clock_that_goes_back_finds_its_day(recorded: Recorded) -> None:
    await three_days(recorded)
    recorded.clock.moment -= timedelta(days=2)
    await recorded.write(2)
    recorded.clock.moment += timedelta(days=2)
    await recorded.write(2)
    assert not verified(recorded).problems


async def test_records_of_an_older_version_stay_outside_of_the_chain(recorded: Recorded) -> None:
    recorded.folder.mkdir()
    recorded.path(FIRST).write_text('{"timestamp": "2026-01-30T00:00:00.000Z"}\n')
    await recorded.write(2)
    found = verified(recorded)
    assert (found.records, found.before, found.problems) == (2, 1, ())


@pytest.mark.parametrize("change", [None, "emptied", "last removed", "removed", "chained anew", "unchained"])
async def test_what_was_taken_away_while_nobody_looked_is_said_for_ever(recorded: Recorded, change: str | None) -> None:
    await recorded.write(7)
    path = recorded.path(FIRST)
    if change is None:
        path.unlink()
    elif change == "chained anew":
        kept = [json.loads(line) for line in path.read_text().splitlines()[::2]]
        path.unlink()
        forging = Audit(recorded.folder, clock=ManualClock(datetime.fromisoformat(f"{FIRST}T08:00:00Z")))
        for each in kept:
            note(forging, each["target_endpoint"])
        await forging.written()
    else:
        path.write_bytes(b"".join(line + b"\n" for line in CHANGES[change](path.read_bytes().splitlines())))
    for _ in range(3):
        await recorded.write(9)  # more than there were before
        assert verified(recorded).problems
    if change is not None:
        assert recorded.sealed()[FIRST].records >= 27


@pytest.mark.parametrize(
    "decide",
    [
        lambda audit: note(audit, event_type="approval"),
        lambda audit: audit.decided("git", "phone", "never: fetch example.org/x", "example.org", "boat"),
        lambda audit: audit.decided("network", "phone", "always: example.org", "example.org"),
    ],
)
async def test_a_decision_of_the_owner_is_sealed_before_the_computer_can_be_turned_off(
    recorded: Recorded, decide: Callable[[Audit], None]
) -> None:
    audit = recorded.open()
    decide(audit)
    await audit.written()  # and then it is killed
    path = recorded.path(FIRST)
    path.write_bytes(b"")
    await recorded.write(3)
    assert ("seal_broken", FIRST) in {(each.kind, each.day) for each in verified(recorded).problems}


async def test_a_day_that_is_not_over_is_sealed_without_anything_new(recorded: Recorded) -> None:
    audit = recorded.open()
    audit.start()
    note(audit)
    await recorded.clock.advance(2)
    assert [each.records for each in recorded.sealed().values()] == [0]
    await recorded.clock.advance(60)
    assert [each.records for each in recorded.sealed().values()] == [1]
    await audit.close()


async def test_days_of_others_are_found_and_have_no_day_of_ours_removed(recorded: Recorded) -> None:
    await recorded.write(2)
    for number in range(1, 5):
        recorded.path(f"2030-01-0{number}").write_bytes(recorded.path(FIRST).read_bytes())
    recorded.clock.moment += timedelta(days=1)
    audit = recorded.open(keep_days=3)
    note(audit)
    await audit.close()
    assert recorded.path(FIRST).exists()
    assert ("2030-01-01", "day_unknown") in {(each.day, each.kind) for each in verified(recorded).problems}


async def test_seals_that_others_wrote_are_not_believed(recorded: Recorded) -> None:
    await recorded.write(1)
    recorded.seals.write_text("{")
    with raises("audit_seals_unreadable"):
        verified(recorded)
