"""Crashes of core, the supervisor, a frozen module and everything at once lose nothing."""

import json
import shlex
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.recipe import USER, USER_ID
from tests.appliance.services import RUNTIME, URL, Services, service

REQUESTS = 12
CONNECTED = "grep --count --ignore-case ':0D05 0100007F:.* 01 ' /proc/net/tcp"  # to port 3333, and not closed


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Services]:
    """A computer that runs as services, with a module and something in it that must not be lost."""
    computer = Services(user)
    computer.run("parachute service install && parachute modules new reading")
    computer.install(f"{computer.home}/reading")
    yield computer
    computer.run("parachute service uninstall")
    assert user.run("pgrep --full [p]arachute.host").rc == 1
    computer.run("rm -rf ~/.parachute ~/Parachute ~/reading")


@pytest.fixture
def kept(computer: Services) -> dict[str, object]:
    """Data that is stored before the crash."""
    status, note = computer.ask("/api/reading/notes", {"text": "Buy milk"})
    assert status == 200, note
    status, made = computer.ask("/api/workspaces", {"name": f"Boat {note['path'][-20:]}"})
    assert status in (200, 201), made
    return known(computer)


def known(computer: Services) -> dict[str, object]:
    """The data as a person sees it."""
    return {path: computer.get(path) for path in ("/api/reading/notes", "/api/workspaces", "/api/chat?limit=500")}


def process(computer: Services, unit: str) -> str:
    """The main process of core or of the supervisor."""
    return computer.run(f"systemctl --user show parachute-{unit}.service --property=MainPID --value")


def healthy(computer: Services) -> None:
    """Wait until the computer answers."""
    computer.until(lambda: computer.user.run(f"curl -sf --max-time 5 {URL}/api/health").rc == 0, "it was healthy")


def test_requests_to_a_core_that_has_died_are_answered_by_the_next_one(
    computer: Services, kept: dict[str, object]
) -> None:
    core = process(computer, "core")
    # Frozen first: so they wait in its socket, and none is taken by the one that dies.
    computer.run(f"kill -STOP {core}")
    curl = f"curl --silent --fail --max-time 60 --output /dev/null --write-out '%{{http_code}} ' {URL}/api/health"
    computer.run(
        f"rm -rf asking && mkdir asking && cd asking && for i in $(seq {REQUESTS}); do (setsid {curl} > $i 2>&1 &); done"
    )
    computer.until(lambda: int(computer.user.run(CONNECTED).stdout or 0) >= REQUESTS, "all were connected")
    computer.run(f"kill -KILL {core}")
    computer.until(lambda: computer.run("cat asking/*") == "200 " * REQUESTS, "all were answered")
    computer.run("rm -r asking")
    assert process(computer, "core") not in ("0", core)
    assert known(computer) == kept


def test_the_supervisor_comes_back_and_nobody_else_notices(computer: Services, kept: dict[str, object]) -> None:
    core, module, supervisor = process(computer, "core"), computer.process("reading"), process(computer, "supervisor")
    assert "0" not in (core, module)
    computer.run(f"kill -KILL {supervisor}")
    assert computer.get("/api/reading/notes") == kept["/api/reading/notes"], "they go on without it"
    computer.until(lambda: process(computer, "supervisor") not in ("0", supervisor), "it came back")
    computer.until(lambda: computer.user.run("parachute status --json").rc == 0, "it answers")
    units = {unit["name"]: unit for unit in json.loads(computer.run("parachute status --json"))["units"]}
    assert (units["core"]["process"], units["module@reading"]["process"]) == (int(core), int(module))
    assert (process(computer, "core"), computer.process("reading")) == (core, module)


def test_a_frozen_module_is_ended_by_the_watchdog_and_the_next_one_answers(
    computer: Services, kept: dict[str, object]
) -> None:
    drop_in = f"{RUNTIME}/{service('reading')}.d/90-sooner.conf"
    computer.run(f"printf '[Service]\\nWatchdogSec=8\\n' > {drop_in} && systemctl --user daemon-reload")
    computer.run(f"systemctl --user stop {service('reading')}")
    computer.get("/api/reading/notes")
    frozen = computer.process("reading")
    computer.run(f"kill -STOP {frozen}")
    # It waits in the socket meanwhile.
    assert computer.get("/api/reading/notes") == kept["/api/reading/notes"]
    assert computer.process("reading") not in ("0", frozen)
    failure = {unit["name"]: unit["failure"] for unit in json.loads(computer.run("parachute status --json"))["units"]}
    assert failure["module@reading"] == "module@reading did not answer its watchdog and was ended."
    computer.run(f"rm {drop_in} && systemctl --user daemon-reload")


def test_when_everything_of_it_is_killed_at_once_it_comes_back_by_itself(
    computer: Services, kept: dict[str, object]
) -> None:
    before = {unit: process(computer, unit) for unit in ("core", "supervisor")}
    units = computer.run("systemctl --user list-units --plain --no-legend 'parachute-*.service' | cut -d ' ' -f 1")
    assert service("reading") in units.split()
    computer.run(f"systemctl --user kill --kill-whom=all --signal=KILL {shlex.join(units.split())}")
    computer.until(
        lambda: all(process(computer, unit) not in ("0", old) for unit, old in before.items()),
        "they were started again",
    )
    healthy(computer)
    assert known(computer) == kept


def test_what_was_acknowledged_is_there_after_all_processes_of_the_user_were_killed(
    computer: Services, host: Host, kept: dict[str, object]
) -> None:
    """Its manager, too, which no one but the system starts again: as after a power cut of the processes."""
    before = process(computer, "core")
    writing = f"""i=0; while :; do i=$((i+1)); curl --silent --fail --max-time 10 --header 'content-type: application/json' \
--header "authorization: Bearer $(cat /home/{USER}/.parachute/cli.token)" \
--data "{{\\"text\\": \\"Note $i\\"}}" {URL}/api/reading/notes >> /var/tmp/acknowledged && echo >> /var/tmp/acknowledged; done"""
    # As root, so that it survives what it checks.
    host.check_output(f"systemd-run --quiet --unit=writing sh -c {shlex.quote(writing)}")
    try:
        computer.until(lambda: int(host.check_output("wc -l < /var/tmp/acknowledged || echo 0")) > 5, "it was written")
        host.check_output(
            f"pkill -KILL --uid {USER}; while pgrep --uid {USER} > /dev/null; do pkill -KILL --uid {USER} || true; done"
        )
    finally:
        host.check_output("systemctl stop writing")
    host.check_output(f"systemctl reset-failed user@{USER_ID}; systemctl start user@{USER_ID}")
    healthy(computer)
    assert process(computer, "core") != before
    acknowledged = [json.loads(line) for line in host.check_output("grep '}$' /var/tmp/acknowledged").splitlines()]
    host.check_output("rm /var/tmp/acknowledged")
    notes = {note["path"] for note in known(computer)["/api/reading/notes"]["notes"]}  # type: ignore[index]
    assert len(acknowledged) > 5
    assert {note["path"] for note in acknowledged} <= notes
    assert known(computer)["/api/workspaces"] == kept["/api/workspaces"]
    assert computer.run("systemctl --user list-units --failed --quiet 'parachute-*'") == ""
