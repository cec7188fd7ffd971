"""Backups that expire, and records of their results."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from parachute.ops.backup import create, state
from parachute.ops.backup.backups import Backup, Retention, chosen, grouped, tags
from parachute.ops.backup.places import Places
from parachute.ops.backup.repository import Snapshot
from parachute.ops.backup.state import CREATE, DRILL, FAILED, OK, State
from tests.support.errors import raises

from .installation import Installation

pytestmark = pytest.mark.long

NOON = datetime(2026, 6, 30, 12, tzinfo=UTC)
FOLDERS = {"vault": "/x/Parachute", "trust": "/x/.parachute"}


def whole(run: str, moment: datetime, made_by: str = "aa") -> Snapshot:
    """Return a backup as `create` stores it."""
    names = frozenset(("parachute", *tags(run, made_by, FOLDERS)))
    return Snapshot(f"{run}-id", moment, "pi", tuple(sorted(FOLDERS.values())), names)


def store(installation: Installation, ago: int, made_by: str | None = None) -> None:
    """A backup of so many days before NOON, which is named by that."""
    moment = f"{NOON.replace(tzinfo=None) - timedelta(days=ago):%Y-%m-%d %H:%M:%S}"
    names = ("parachute", *tags(f"d{ago}", made_by or installation.places.installation, FOLDERS))
    installation.restic("backup", "--time", moment, "--tag", ",".join(names), str(installation.home / "config.yaml"))


def removable(installation: Installation, retention: Retention) -> set[str]:
    """Return the backups that would be removed."""
    return {backup.id for backup in create.prune(installation.places, installation.repository, retention, really=False)}


def test_days_weeks_and_months_keep_their_newest_backup(installation: Installation) -> None:
    days = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 16, 17, 30, 31, 61, 62)
    for ago in days:
        store(installation, ago)
    store(installation, 900, made_by="bb")
    # Tuesday 30 June: seven days; Sundays 28, 21, 14 June; the last of June, May and April.
    assert removable(installation, Retention(7, 4, 3)) == {"d7", "d10", "d17", "d31", "d62"}
    # The newest three stay, and what others have made.
    assert removable(installation, Retention(1, 0, 0)) == {f"d{ago}" for ago in days[3:]}
    state.record(installation.home, CREATE, OK, backup="d62")
    assert "d62" not in removable(installation, Retention(1, 0, 0)), "it was just made, by a clock that was set back"
    gone = create.prune(installation.places, installation.repository, Retention(1, 0, 0))
    assert len(gone) == len(days) - 4
    assert [backup.id for backup in installation.backups()] == ["d900", "d62", "d2", "d1", "d0"]


def test_the_newest_is_that_of_the_installation_where_it_has_one() -> None:
    mine = whole("mine", NOON - timedelta(days=1))
    theirs = [whole(f"t{hour}", NOON - timedelta(hours=hour), "bb") for hour in range(6)]
    found = grouped([mine, *theirs])
    assert chosen(found, "latest", "aa").id == "mine"
    assert chosen(found, "t3", "aa").id == "t3"
    # A new computer has none of its own, and is restored from what is there.
    assert chosen(found, "latest", "cc").id == "t0"


def test_what_was_just_made_by_a_wrong_clock_is_the_latest() -> None:
    good = [whole(f"d{ago}", NOON - timedelta(days=ago)) for ago in range(30)]
    just_made = whole("just-made", datetime(1970, 1, 1, tzinfo=UTC))
    of_the_future = whole("future", datetime(2099, 1, 1, tzinfo=UTC))
    found = grouped([*good, just_made, of_the_future])
    assert chosen(found, "latest", "aa", "just-made").id == "just-made"
    assert chosen(found, "latest", "aa", "d0").id == "d0"
    # What was made last may be in another repository.
    assert chosen(grouped(good), "latest", "aa", "elsewhere").id == "d0"


def test_two_snapshots_that_claim_the_same_place_are_no_backup() -> None:
    found: list[Backup] = grouped([whole("one", NOON), whole("one", NOON)])
    assert [backup.is_finished for backup in found] == [False]


def test_each_installation_has_a_name_of_its_own_and_keeps_it(tmp_path: Path) -> None:
    first, second = (Places(tmp_path / name, tmp_path / "vault") for name in ("a", "b"))
    assert first.installation != second.installation
    path = first.folder / "installation"
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("a,b")  # it would be two tags
    with raises("no_installation"):
        _ = first.installation


def test_what_is_too_long_ago_or_has_failed_is_told(tmp_path: Path) -> None:
    assert State.read(tmp_path).concerns() == ["No backup was made yet."]
    state.record(tmp_path, CREATE, OK, backup="abc")
    state.record(tmp_path, DRILL, OK)
    assert State.read(tmp_path).concerns() == []
    state.record(tmp_path, CREATE, FAILED, "The disk is gone.")
    assert State.read(tmp_path).last_made == "abc"
    (concern,) = State.read(tmp_path).concerns()
    assert concern.endswith("failed: The disk is gone.")
    later = State.read(tmp_path).concerns(datetime.now(UTC) + timedelta(days=60))
    assert [text.split(" that went well")[0] for text in later[1:]] == [
        "The last backup",
        "The last drill of a backup",
    ]
    # A clock that was wrong once hides nothing.
    state.record(tmp_path, CREATE, OK, backup="abc")
    path = tmp_path / "backup" / "state.json"
    path.write_text(re.sub(r"\d{4}-(?=\d\d-)", "2099-", path.read_text()))
    assert "The last backup that went well is of 2099-" in " ".join(State.read(tmp_path).concerns())
    for text in ("[]", "{", '{"create": {"at": "yesterday", "result": "ok"}}', '{"create": 7}'):
        (tmp_path / "backup" / "state.json").write_text(text)
        assert State.read(tmp_path).operations == {}
