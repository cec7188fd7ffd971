"""Backups by the clock under a real systemd: `parachute service install` with a repository in the settings."""

import json
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from parachute.supervisor.backup_units import NAMES, TIMERS

FOLDER = "/home/parachute/.config/systemd/user"


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Host]:
    """The user of a computer whose backups go to a folder."""
    user.check_output("parachute config set backup.repository /home/parachute/usb/backup")
    installed = json.loads(user.check_output("parachute service install --json"))["installed"]
    assert {f"{FOLDER}/{name}" for name in NAMES} <= set(installed)
    yield user
    user.check_output("parachute service uninstall")
    user.check_output("rm -rf ~/.parachute ~/Parachute ~/usb")


def test_the_timers_wait_for_the_hour_of_the_settings(computer: Host) -> None:
    for timer in TIMERS:
        assert computer.check_output(f"systemctl --user is-active {timer}") == "active"
        assert computer.check_output(f"systemctl --user is-enabled {timer}") == "enabled"
    calendar = "systemctl --user show parachute-backup.timer --property=TimersCalendar --value"
    assert "*-*-* 03:30:00" in computer.check_output(calendar)
    computer.check_output("parachute config set backup.time 05:15")
    computer.check_output("parachute service install")
    assert "*-*-* 05:15:00" in computer.check_output(calendar)
    verified = computer.run(f"systemd-analyze --user verify {' '.join(f'{FOLDER}/{name}' for name in NAMES)}")
    assert (verified.rc, verified.stdout, verified.stderr) == (0, "", "")


def test_a_backup_that_cannot_be_made_is_a_failed_service_and_status_says_why(computer: Host) -> None:
    assert computer.run("systemctl --user start parachute-backup.service").rc == 1
    assert "The password of the backups is missing" in computer.check_output("cat ~/.parachute/logs/backup.log")
    assert "The password of the backups is missing" in computer.run("parachute status").stderr


def test_a_drill_as_a_service_starts_the_computer_from_the_backup(computer: Host) -> None:
    computer.check_output("mkdir ~/usb && parachute backup init")
    for name in ("parachute-backup", "parachute-backup-drill"):
        started = computer.run(f"systemctl --user start {name}.service")
        assert started.rc == 0, computer.check_output("tail -n 30 ~/.parachute/logs/backup.log")
    drill = json.loads(computer.run("parachute backup status --json").stdout)["drill"]
    assert (drill["result"], drill["started"], drill["not_started"]) == ("ok", True, None)


def test_without_a_repository_the_timers_go(computer: Host) -> None:
    computer.check_output("parachute config unset backup.repository")
    computer.check_output("parachute service install")
    assert computer.check_output(f"find {FOLDER} -name 'parachute-backup*'") == ""
    assert computer.check_output("systemctl --user list-units --all --quiet 'parachute-backup*'") == ""
