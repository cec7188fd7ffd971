"""`parachute doctor` on a machine that systemd runs: what the programs really answer, and units that are written anew."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from testinfra.host import Host

from parachute.ops.doctor.checks import all_checks

UNIT = "/home/parachute/.config/systemd/user/parachute-core.service"


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Host]:
    """The user of a computer that runs as services."""
    user.check_output("parachute service install --json")
    yield user
    user.check_output("parachute service uninstall --json")
    user.check_output("rm -rf ~/.parachute ~/Parachute")


def doctor(user: Host, arguments: str = "") -> dict[str, dict[str, Any]]:
    """The results by check; it may find problems."""
    done = user.run(f"parachute doctor --json {arguments}")
    assert done.rc in (0, 1), done
    assert done.stderr == ""
    return {each["id"]: each for each in json.loads(done.stdout)["checks"]}


def test_no_check_fails_on_a_whole_machine(computer: Host) -> None:
    found = doctor(computer)
    assert set(found) == set(all_checks())
    assert {name: each["message"] for name, each in found.items() if "check" in each["message"]} == {}
    assert {name: each["message"] for name, each in found.items() if each["result"] == "problem"} == {}
    messages = {name: each["message"] for name, each in found.items()}
    assert messages["systemd-version"] == "systemd is 257."
    assert messages["linger"] == "Services of parachute keep running after logout."
    assert messages["units"].startswith("The installed units are those of this version")
    assert messages["running"].startswith("The computer runs")
    assert messages["clock"] in (
        "The clock is synchronised with a time server.",
        "The clock is not synchronised with a time server.",
    )
    # The host keeps the controllers for itself: see tests/appliance/uml for a machine that has them.
    assert found["control-groups"]["result"] == "warning"


def test_units_that_were_changed_are_written_anew_and_the_services_run(computer: Host) -> None:
    before = computer.check_output(f"cat {UNIT}")
    computer.check_output(f"sed -i /^LimitCORE/d {UNIT}")
    assert doctor(computer, "units")["units"]["result"] == "warning"
    assert doctor(computer, "units --fix --yes")["units"]["result"] == "ok"
    assert computer.check_output(f"cat {UNIT}") == before
    assert computer.check_output("systemctl --user is-active parachute-core parachute-supervisor") == "active\nactive"


def test_a_computer_that_was_stopped_is_told_from_one_that_is_not_installed(computer: Host) -> None:
    computer.check_output("parachute stop")
    assert "does not run" in doctor(computer, "running")["running"]["message"]
    computer.check_output("systemctl --user start parachute-core.socket")
    assert doctor(computer, "port")["port"]["message"] == "systemd holds port 3333 for the computer."
    assert computer.run("systemctl --user is-active parachute-core.service").stdout.strip() == "inactive", (
        "nothing was woken"
    )
    computer.check_output("systemctl --user start parachute-supervisor")
    computer.check_output("curl -sf --max-time 60 http://127.0.0.1:3333/api/health")
    assert doctor(computer, "running")["running"]["result"] == "ok"
