"""Updates of a full computer under a real systemd: real wheels, the real rehearsal, requests all the while; nothing is ever lost."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.appliance.full_vault import Contents, fill
from tests.appliance.guest import Guest
from tests.appliance.updating import Updating

VERSIONS = ("NEWER", "MIGRATES", "FAILS_AT_START", "FAILS_AFTER_MIGRATING", "SPOILS_SETTINGS", "FAILS_ON_DEMAND")
SHORT = 0.3
DISKS = {"Parachute": "160m", ".parachute": "400m"}


@pytest.fixture(scope="module")
def filled(guest: Guest) -> Iterator[Updating]:
    """A computer that runs as services and has everything in it, on two disks, and wheels of newer versions."""
    computer = Updating(guest)
    with ExitStack() as ending:
        for name, size in DISKS.items():
            ending.enter_context(computer.disk(name, size))
        computer.make_wheels(*VERSIONS)
        with computer.serving("model", "tests.appliance.scripted_model") as url:
            computer.use_model(url)
            computer.run("parachute service install")
            fill(computer)
        yield computer
        computer.run("parachute service uninstall")
        computer.run("rm -rf wheels reading notes .local/share/parachute .parachute.rehearsal")


@pytest.fixture
def computer(filled: Updating) -> Iterator[Updating]:
    """The same; after each test the version before runs, and nothing is lost."""
    columns, before = filled.columns(), Contents.of(filled)
    yield filled
    assert filled.version() == "0.1.0"
    assert filled.columns() == columns
    filled.run("parachute audit verify")
    assert [each[:500] for each in before.lost(Contents.of(filled))] == []


def test_an_update_and_the_way_back(computer: Updating) -> None:
    before = computer.columns()
    with computer.never_refused(), computer.probation(SHORT):
        found = computer.update("MIGRATES")
        assert (found["phase"], found["problem"]) == ("done", None), f"{found}\n{computer.said()}"
        assert [check["name"] for check in found["checks"]] == [
            "copies",
            "start",
            "migrations",
            "doctor",
            "modules",
            "end",
        ]
        assert computer.version() == "0.2.0"
        assert computer.columns() == [*before, "colour"]
        # From now on it is this one that a boot starts.
        units = computer.run("cat ~/.config/systemd/user/parachute-core.service")
        assert f"/versions/{found['new']['name']}/bin/python" in units
        assert computer.run("ls /run/user/1000/systemd/user.control 2>/dev/null; true") == ""
        back = computer.back()
    assert (back["phase"], back["problem"], len(back["since"])) == ("back", None, 1), back
    assert "/versions/" not in computer.run("cat ~/.config/systemd/user/parachute-core.service")


def test_one_that_does_not_start_is_refused_by_the_rehearsal(computer: Updating) -> None:
    core = computer.run("systemctl --user show parachute-core --property=MainPID --value")
    computer.stage("FAILS_AT_START")
    with computer.never_refused():
        found = computer.update("FAILS_AT_START")
    assert (found["phase"], found["since"]) == ("refused", [])
    assert "did not pass its rehearsal" in found["problem"]
    assert [check["name"] for check in found["checks"] if not check["ok"]] == ["start"]
    assert computer.run("systemctl --user show parachute-core --property=MainPID --value") == core


@pytest.mark.parametrize("name", ["FAILS_AFTER_MIGRATING", "SPOILS_SETTINGS"])
def test_one_that_does_not_come_up_goes_by_itself(computer: Updating, name: str) -> None:
    computer.stage(name)
    with computer.never_refused(), computer.unrehearsed():
        found = computer.update(name, "--unrehearsed")
    assert found["phase"] == "back", found
    assert "does not come up" in found["problem"]
    since = [sentence.partition(" is as it was")[0].rpartition("/")[2] for sentence in found["since"]]
    assert since if name == "SPOILS_SETTINGS" else since == ["sessions.db"]


def test_one_that_fails_on_probation_goes_by_itself_and_what_came_since_is_kept_though_disks_are_full(
    computer: Updating,
) -> None:
    computer.stage("FAILS_ON_DEMAND")
    with computer.never_refused(), computer.unrehearsed():
        computer.update("FAILS_ON_DEMAND", "--unrehearsed", "--no-follow")
        computer.reached("probation")
        session = computer.get("/api/chat?limit=1")["sessions"][0]["id"]
        computer.run(f"parachute sessions rename {session} Since")
        with computer.full("Parachute", ".parachute"):
            computer.run("touch Parachute/fail-now")
            found = computer.ended("back")
            assert computer.version() == "0.1.0"
        computer.run("rm Parachute/fail-now")
    assert "repeatedly" in found["problem"]
    (said,) = found["since"]
    assert "Since" in computer.selected(said.rpartition(" ")[2].rstrip("."), "SELECT title FROM sessions")


def test_a_full_disk_refuses_it(computer: Updating) -> None:
    with computer.full(".parachute"):
        done = computer.user.run("parachute update --from $(ls wheels/MIGRATES/*.whl)")
    assert (done.rc, done.stdout) == (1, "")
    assert "The disk" in done.stderr


def test_a_disk_that_becomes_full_while_it_is_staged_refuses_it(computer: Updating) -> None:
    with computer.disk(".local/share/parachute", "50m"):
        found = computer.update("NEWER")
    assert (found["phase"], found["since"]) == ("refused", [])
    assert "The disk is full" in found["problem"]


def test_who_updates_is_killed_and_goes_on_and_a_power_cut_on_the_way_back_brings_the_version_before(
    computer: Updating,
) -> None:
    computer.stage("MIGRATES")
    with computer.unrehearsed(), computer.probation(SHORT):
        computer.update("MIGRATES", "--unrehearsed", "--no-follow")
        computer.reached("probation")
        computer.run("systemctl --user kill --signal=KILL parachute-update.service")
        assert computer.ended("done")["problem"] is None
    assert computer.version() == "0.2.0"
    computer.run("parachute update back --yes --no-follow")
    computer.reached("returning")
    computer.cut_off()
    assert computer.ended("back")["problem"] is None
    assert "/versions/" not in computer.run("readlink .local/share/parachute/*/current")


@pytest.mark.parametrize(
    ("phase", "step", "name"), [("staging", "Installing what", "NEWER"), ("rehearsing", "copied", "MIGRATES")]
)
def test_a_power_cut_before_it_is_in_place_changes_nothing(
    computer: Updating, phase: str, step: str, name: str
) -> None:
    computer.update(name, "--no-follow")
    computer.reached(phase, step=step)
    computer.cut_off()
    assert "It was cut off; nothing has changed." in computer.run("parachute update status")


@pytest.mark.parametrize(("phase", "is_kept"), [("putting", False), ("probation", True)])
def test_a_power_cut_brings_the_version_before(computer: Updating, phase: str, is_kept: bool) -> None:
    """Cut before the state of before is kept, and on probation; the other guest, whose disk is cut off as well, has the rest."""
    computer.stage("FAILS_ON_DEMAND")
    with computer.unrehearsed():
        computer.fail_in(phase, "FAILS_ON_DEMAND", kept=is_kept)
        computer.cut_off()
    found = computer.ended("back")
    assert found["problem"], found
