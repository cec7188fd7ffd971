"""Which backups go, and what is known of how they ended."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from parachute.backup import state
from parachute.backup.backups import CLOSED, FILES, Backup, Retention, chosen, grouped, tags
from parachute.backup.models import PARTS, Owner
from parachute.backup.repository import Snapshot
from parachute.backup.state import CREATE, DRILL, FAILED, OK, State

NOON = datetime(2026, 6, 30, 12, tzinfo=UTC)
MINE = Owner("mine", frozenset({"/x"}))


def snapshots(
    run: str, moment: datetime, *, computer: str = "mine", parts: tuple[str, ...] = PARTS, path: str = "/x"
) -> list[Snapshot]:
    """What one `create` stores."""
    return [
        Snapshot(f"{run}-{part}-{kind}", moment, computer, path, frozenset(("parachute", *tags(part, kind, run))))
        for part in parts
        for kind in (FILES, CLOSED)
    ]


def nightly(days: int, **options: str) -> list[Backup]:
    """A backup for each of so many nights up to NOON, named by how long ago it is."""
    found = [each for ago in range(days) for each in snapshots(f"d{ago}", NOON - timedelta(days=ago), **options)]
    return grouped(found)


def test_days_weeks_and_months_keep_their_newest_backup() -> None:
    found = nightly(100)
    gone = {backup.run for backup in Retention(7, 4, 3).removable(found, MINE)}
    kept = [backup.run for backup in found if backup.run not in gone]
    # Tuesday 30 June: seven days; Sundays 28, 21, 14, 7 June; the last of June, May and April.
    assert kept == ["d61", "d30", "d16", "d9", "d6", "d5", "d4", "d3", "d2", "d1", "d0"]


def test_the_newest_three_and_those_of_other_computers_stay() -> None:
    mine = [each for hour in range(6) for each in snapshots(f"h{hour}", NOON - timedelta(hours=hour))]
    others = snapshots("other", NOON - timedelta(days=900), computer="theirs")
    gone = Retention(1, 0, 0).removable(grouped([*mine, *others]), MINE)
    assert {backup.run for backup in gone} == {"h3", "h4", "h5"}


def test_another_installation_of_this_computer_keeps_its_backups_and_is_not_taken_for_ours() -> None:
    mine = snapshots("mine", NOON - timedelta(days=1))
    theirs = [each for hour in range(6) for each in snapshots(f"t{hour}", NOON - timedelta(hours=hour), path="/theirs")]
    under_way = snapshots("under-way", NOON - timedelta(hours=9), parts=("vault",), path="/theirs")
    found = grouped([*mine, *theirs, *under_way])
    assert Retention(1, 0, 0).removable(found, MINE) == []
    assert chosen(found, "latest", MINE).run == "mine"
    # A new computer has none of its own, and is restored from what is there.
    assert chosen(found, "latest", Owner("new", frozenset({"/x"}))).run == "t0"


def test_an_unfinished_backup_goes_when_there_is_a_newer_finished_one() -> None:
    old = snapshots("old", NOON - timedelta(hours=3), parts=("vault",))
    finished = snapshots("finished", NOON - timedelta(hours=2))
    under_way = snapshots("now", NOON, parts=("vault",))
    gone = Retention(1, 0, 0).removable(grouped([*old, *finished, *under_way]), MINE)
    assert [backup.run for backup in gone] == ["old"]


def test_two_snapshots_that_claim_the_same_place_are_no_backup() -> None:
    twice = [*snapshots("one", NOON), snapshots("one", NOON)[0]]
    assert [backup.is_finished for backup in grouped(twice)] == [False]


def test_what_is_too_long_ago_or_has_failed_is_told(tmp_path: Path) -> None:
    assert State.read(tmp_path).concerns() == ["No backup was made yet."]
    state.record(tmp_path, CREATE, OK, backup="abc")
    state.record(tmp_path, DRILL, OK)
    assert State.read(tmp_path).concerns() == []
    state.record(tmp_path, CREATE, FAILED, "The disk is gone.")
    (told,) = State.read(tmp_path).concerns()
    assert told.endswith("failed: The disk is gone.")
    later = State.read(tmp_path).concerns(datetime.now(UTC) + timedelta(days=60))
    assert [text.split(" that went well")[0] for text in later[1:]] == [
        "The last backup",
        "The last drill of a backup",
    ]
    for text in ("[]", "{", '{"create": {"at": "yesterday", "result": "ok"}}', '{"create": 7}'):
        (tmp_path / "backup" / "state.json").write_text(text)
        assert State.read(tmp_path).operations == {}
