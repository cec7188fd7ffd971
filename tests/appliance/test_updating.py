"""Updates under a real systemd: real wheels, the real rehearsal, requests all the while, and the version before after a boot."""

import json
import shlex
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.recipe import ENVIRONMENT, SOURCE
from tests.appliance.services import URL

BUILD = """
import sys
from pathlib import Path
from tests.ops.updates.versions import FAILS_ON_DEMAND, MIGRATES
from tests.ops.updates.wheels import built, changed
folder = Path.home() / "wheels"
folder.mkdir()
wheel = built(folder)
for name, changes in (("newer", MIGRATES), ("fails", FAILS_ON_DEMAND)):
    (folder / name).mkdir()
    changed(wheel, folder / name, changes)
"""
ASKING = f"""
while test -e ~/asking; do
  curl -s -o /dev/null --max-time 120 {URL}/api/health; test $? != 7 || echo refused >> ~/refused
  echo >> ~/asked
done
"""
_SECONDS = 300


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Host]:
    """The user of a computer that runs as services, and wheels of newer versions."""
    user.check_output(f"cd {SOURCE} && {ENVIRONMENT}/bin/python -c {shlex.quote(BUILD)}")
    user.check_output("parachute service install && parachute config set updates.probation_minutes 0.3")
    yield user
    user.check_output("parachute service uninstall")
    user.check_output("rm -rf ~/.parachute* ~/Parachute* ~/wheels ~/.local/share/parachute")


@pytest.fixture
def asked(computer: Host) -> Iterator[None]:
    """Somebody asks all the while, over a connection each; none is refused."""
    computer.check_output("rm -f ~/refused ~/asked; touch ~/asking")
    computer.check_output(f"systemd-run --user --quiet --unit=asking sh -c {shlex.quote(ASKING)}")
    try:
        yield
        assert int(computer.check_output("wc -l < ~/asked")) > 10
        assert not computer.file("/home/parachute/refused").exists
    finally:
        computer.check_output("rm -f ~/asking; systemctl --user stop asking.service; true")


def health(computer: Host) -> str:
    """The version that answers."""
    return str(json.loads(computer.check_output(f"curl -sf --max-time 60 {URL}/api/health"))["version"])


def columns(computer: Host) -> str:
    """The columns of the table of conversations."""
    look = "import sqlite3, sys; print(*(row[1] for row in sqlite3.connect(sys.argv[1]).execute('PRAGMA table_info(sessions)')))"
    return str(computer.check_output(f"python3 -c {shlex.quote(look)} ~/Parachute/.parachute/sessions.db"))


def update(computer: Host, name: str, *options: str) -> dict[str, Any]:
    """Update to a version, and how it ended."""
    done = computer.run(f"parachute update --json {' '.join(options)} --from $(ls ~/wheels/{name}/*.whl)")
    assert done.stdout.startswith("{"), done
    found: dict[str, Any] = json.loads(done.stdout).get("update", {})
    return found


def until(computer: Host, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until the update is as it should be."""
    deadline = time.monotonic() + _SECONDS
    while True:
        situation = json.loads(computer.check_output("parachute update status --json"))
        if situation["update"] and condition(situation):
            found: dict[str, Any] = situation["update"]
            return found
        said = computer.run("tail -n 20 ~/.parachute/logs/update.log ~/.parachute/logs/core.log").stdout
        assert time.monotonic() < deadline, (situation, said)
        time.sleep(0.3)


def test_an_update_and_the_way_back(computer: Host, asked: None) -> None:
    before = columns(computer)
    found = update(computer, "newer")
    said = computer.run(
        "tail -n 20 ~/.parachute/logs/update.log ~/.parachute/logs/core.log; journalctl --user -n 40 --no-pager"
    ).stdout
    assert (found["phase"], found["problem"]) == ("done", None), f"{found}\n{said}"
    assert len(found["checks"]) > 8
    assert health(computer) == "0.2.0"
    assert columns(computer) == f"{before} colour"
    # From now on it is this one that a boot starts.
    units = computer.check_output("cat ~/.config/systemd/user/parachute-core.service")
    assert f"/versions/{found['new']['name']}/bin/python" in units
    assert computer.check_output("ls /run/user/1000/systemd/user.control 2>/dev/null; true") == ""
    back = json.loads(computer.run("parachute update back --yes --json").stdout)["update"]
    assert (back["phase"], back["problem"]) == ("back", None), back
    assert health(computer) == "0.1.0"
    assert columns(computer) == before
    assert len(back["since"]) == 1
    assert "/versions/" not in computer.check_output("cat ~/.config/systemd/user/parachute-core.service")


def test_a_version_that_fails_on_probation_goes_by_itself(computer: Host, asked: None) -> None:
    before = columns(computer)
    computer.check_output("parachute config set updates.probation_minutes 30")
    update(computer, "fails", "--no-follow")
    until(computer, lambda situation: situation["update"]["phase"] == "probation")
    assert health(computer) == "0.2.0"
    computer.check_output("touch ~/Parachute/fail-now")
    found = until(computer, lambda situation: situation["update"]["phase"] == "back" and not situation["is_under_way"])
    computer.check_output("rm ~/Parachute/fail-now")
    assert "again and again" in found["problem"]
    assert health(computer) == "0.1.0"
    assert columns(computer) == before


def test_who_updates_is_killed_and_goes_on(computer: Host) -> None:
    computer.check_output("parachute config set updates.probation_minutes 0.5")
    update(computer, "newer", "--no-follow")
    until(computer, lambda situation: situation["update"]["phase"] == "probation")
    computer.check_output("systemctl --user kill --signal=KILL parachute-update.service")
    found = until(computer, lambda situation: situation["update"]["phase"] == "done" and not situation["is_under_way"])
    assert found["problem"] is None
    assert health(computer) == "0.2.0"
    computer.check_output("parachute update back --yes")


def test_a_boot_during_the_probation_starts_the_version_before(computer: Host, host: Host) -> None:
    before = columns(computer)
    computer.check_output("parachute config set updates.probation_minutes 30")
    update(computer, "newer", "--no-follow")
    until(computer, lambda situation: situation["update"]["phase"] == "probation")
    # As a boot does: nothing of the user's runs, and what is below /run is gone.
    host.check_output("systemctl kill --signal=KILL user@1000.service; systemctl stop user@1000.service")
    host.check_output("systemctl stop user-runtime-dir@1000.service; systemctl start user@1000.service")
    found = until(computer, lambda situation: situation["update"]["phase"] == "back")
    assert "before the new version had proven itself" in found["problem"]
    assert health(computer) == "0.1.0"
    assert columns(computer) == before
