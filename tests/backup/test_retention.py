"""Which backups go, and what is known of how they ended."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from parachute.backup import state
from parachute.backup.backups import CLOSED, FILES, Backup, Retention, chosen, grouped, tags
from parachute.backup.models import PARTS, Owner
from parachute.backup.places import Places
from parachute.backup.repository import Snapshot
from parachute.backup.state import CREATE, DRILL, FAILED, OK, State
from parachute.errors import InvalidInput

NOON = datetime(2026, 6, 30, 12, tzinfo=UTC)
MINE = Owner("aa", "pi", frozenset({"/x"}))


def snapshots(
    run: str,
    moment: datetime,
    *,
    installation: str | None = "aa",
    computer: str = "pi",
    parts: tuple[str, ...] = PARTS,
    path: str = "/x",
) -> list[Snapshot]:
    """What one `create` stores; without an installation as it was before snapshots named it."""
    return [
        Snapshot(f"{run}-{part}-{kind}", moment, computer, path, frozenset(("parachute", *found)))
        for part in parts
        for kind in (FILES, CLOSED)
        for found in [tags(part, kind, run, installation or "")[: None if installation else 3]]
    ]


def nightly(days: int) -> list[Backup]:
    """A backup for each of so many nights up to NOON, named by how long ago it is."""
    found = [each for ago in range(days) for each in snapshots(f"d{ago}", NOON - timedelta(days=ago))]
    return grouped(found)


def test_days_weeks_and_months_keep_their_newest_backup() -> None:
    found = nightly(100)
    gone = {backup.run for backup in Retention(7, 4, 3).removable(found, MINE)}
    kept = [backup.run for backup in found if backup.run not in gone]
    # Tuesday 30 June: seven days; Sundays 28, 21, 14, 7 June; the last of June, May and April.
    assert kept == ["d61", "d30", "d16", "d9", "d6", "d5", "d4", "d3", "d2", "d1", "d0"]


def test_the_newest_three_and_those_of_other_computers_stay() -> None:
    mine = [each for hour in range(6) for each in snapshots(f"h{hour}", NOON - timedelta(hours=hour))]
    others = snapshots("other", NOON - timedelta(days=900), installation="bb")
    gone = Retention(1, 0, 0).removable(grouped([*mine, *others]), MINE)
    assert {backup.run for backup in gone} == {"h3", "h4", "h5"}


def test_another_computer_of_the_same_name_and_folders_keeps_its_backups_and_is_not_taken_for_ours() -> None:
    mine = snapshots("mine", NOON - timedelta(days=1))
    theirs = [
        each for hour in range(6) for each in snapshots(f"t{hour}", NOON - timedelta(hours=hour), installation="bb")
    ]
    under_way = snapshots("under-way", NOON - timedelta(hours=9), parts=("vault",), installation="bb")
    found = grouped([*mine, *theirs, *under_way])
    assert Retention(1, 0, 0).removable(found, MINE) == []
    assert chosen(found, "latest", MINE).run == "mine"
    # A new computer has none of its own, and is restored from what is there.
    assert chosen(found, "latest", replace(MINE, installation="cc")).run == "t0"


def test_a_computer_that_got_another_name_and_another_vault_goes_on_with_its_backups() -> None:
    mine = [
        each
        for hour in range(6)
        for each in snapshots(f"h{hour}", NOON - timedelta(hours=hour), computer=f"name{hour}", path=f"/{hour}")
    ]
    gone = Retention(1, 0, 0).removable(grouped(mine), MINE)
    assert {backup.run for backup in gone} == {"h3", "h4", "h5"}


def test_backups_that_name_no_installation_stay_and_can_be_restored() -> None:
    old = [
        each for hour in range(9) for each in snapshots(f"o{hour}", NOON - timedelta(hours=hour + 1), installation=None)
    ]
    theirs = snapshots("theirs", NOON, installation="bb")
    found = grouped([*old, *theirs])
    assert Retention(1, 0, 0).removable(found, MINE) == []
    assert chosen(found, "latest", MINE).run == "o0"
    assert chosen(found, "o8", MINE).run == "o8"
    assert chosen(found, "latest", replace(MINE, computer="other")).run == "theirs"
    mine = snapshots("mine", NOON - timedelta(days=3))
    assert chosen(grouped([*old, *theirs, *mine]), "latest", MINE).run == "mine"


def test_what_was_just_made_by_a_wrong_clock_stays_and_is_the_latest() -> None:
    good = [each for ago in range(30) for each in snapshots(f"d{ago}", NOON - timedelta(days=ago))]
    just_made = snapshots("just-made", datetime(1970, 1, 1, tzinfo=UTC))
    of_the_future = snapshots("future", datetime(2099, 1, 1, tzinfo=UTC))
    found = grouped([*good, *just_made, *of_the_future])
    rule = Retention(7, 0, 0)
    assert "just-made" in {backup.run for backup in rule.removable(found, MINE)}
    assert "just-made" not in {backup.run for backup in rule.removable(found, MINE, "just-made")}
    assert chosen(found, "latest", MINE, "just-made").run == "just-made"
    assert chosen(found, "latest", MINE, "d0").run == "d0"
    # What was made last may be in another repository.
    assert chosen(grouped(good), "latest", MINE, "elsewhere").run == "d0"


def test_an_unfinished_backup_goes_when_there_is_a_newer_finished_one() -> None:
    old = snapshots("old", NOON - timedelta(hours=3), parts=("vault",))
    finished = snapshots("finished", NOON - timedelta(hours=2))
    under_way = snapshots("now", NOON, parts=("vault",))
    gone = Retention(1, 0, 0).removable(grouped([*old, *finished, *under_way]), MINE)
    assert [backup.run for backup in gone] == ["old"]


def test_two_snapshots_that_claim_the_same_place_are_no_backup() -> None:
    twice = [*snapshots("one", NOON), snapshots("one", NOON)[0]]
    assert [backup.is_finished for backup in grouped(twice)] == [False]


def test_each_installation_has_a_name_of_its_own_and_keeps_it(tmp_path: Path) -> None:
    first, second = (Places(tmp_path / name, tmp_path / "vault") for name in ("a", "b"))
    assert first.installation != second.installation
    assert first.owner.installation == first.installation
    path = first.folder / "installation"
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("a,b")  # it would be two tags
    with pytest.raises(InvalidInput, match="does not hold the name"):
        _ = first.owner


def test_what_is_too_long_ago_or_has_failed_is_told(tmp_path: Path) -> None:
    assert State.read(tmp_path).concerns() == ["No backup was made yet."]
    state.record(tmp_path, CREATE, OK, backup="abc")
    state.record(tmp_path, DRILL, OK)
    assert State.read(tmp_path).concerns() == []
    state.record(tmp_path, CREATE, FAILED, "The disk is gone.")
    assert State.read(tmp_path).last_made == "abc"
    (told,) = State.read(tmp_path).concerns()
    assert told.endswith("failed: The disk is gone.")
    later = State.read(tmp_path).concerns(datetime.now(UTC) + timedelta(days=60))
    assert [text.split(" that went well")[0] for text in later[1:]] == [
        "The last backup",
        "The last drill of a backup",
    ]
    # A clock that was wrong once hides nothing.
    state.record(tmp_path, CREATE, OK, backup="abc")
    path = tmp_path / "backup" / "state.json"
    path.write_text(path.read_text().replace(str(datetime.now(UTC).year), "2099"))
    assert "The last backup that went well is of 2099-" in " ".join(State.read(tmp_path).concerns())
    for text in ("[]", "{", '{"create": {"at": "yesterday", "result": "ok"}}', '{"create": 7}'):
        (tmp_path / "backup" / "state.json").write_text(text)
        assert State.read(tmp_path).operations == {}
