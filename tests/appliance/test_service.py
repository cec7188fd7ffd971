"""`parachute service install` and `uninstall`, and the computer that runs as services."""

import json
import re
import socket
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.agents import Agents
from tests.appliance.recipe import ENVIRONMENT, SOURCE, TREE
from tests.appliance.services import URL
from tests.support.sse import text_of

FOLDER = "/home/parachute/.config/systemd/user"
NAMES = ["parachute-core.service", "parachute-core.socket", "parachute-supervisor.service"]


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Host]:
    """The user of a computer that runs as services."""
    installed = json.loads(user.check_output("parachute service install --json"))
    assert installed["lingers"] is True
    assert installed["not_held_back"] is None
    assert sorted(installed["installed"]) == [f"{FOLDER}/{name}" for name in NAMES]
    yield user
    removed = json.loads(user.check_output("parachute service uninstall --json"))
    assert sorted(removed["removed"]) == [f"{FOLDER}/{name}" for name in NAMES]
    assert user.check_output(f"find {FOLDER} -type f -o -type l") == ""
    assert user.check_output("systemctl --user list-units --all --quiet 'parachute-*'") == ""
    assert user.run("pgrep --full [p]arachute.serve").rc == 1
    assert user.check_output("find $XDG_RUNTIME_DIR/systemd/user -name 'parachute-*'") == ""
    assert user.check_output("loginctl show-user parachute --property=Linger --value") == "yes", "it lingered before"
    assert "No services" in user.check_output("parachute service uninstall")
    user.check_output("rm -rf ~/.parachute ~/Parachute")


def show(user: Host, unit: str, name: str) -> str:
    """A property of a unit."""
    return str(user.check_output(f"systemctl --user show {unit} --property={name} --value"))


def test_the_computer_answers_and_survives_the_supervisor(computer: Host) -> None:
    assert json.loads(computer.check_output(f"curl -sf {URL}/api/health"))["status"] == "ok"
    core, supervisor = (show(computer, f"parachute-{name}.service", "MainPID") for name in ("core", "supervisor"))
    # tail ends when systemd has taken note of the death; a start then waits for the restart that is due, and until it is ready.
    wait = f"tail --pid={supervisor} --follow /dev/null && systemctl --user start parachute-supervisor"
    computer.check_output(f"kill -9 {supervisor} && {wait}")
    assert show(computer, "parachute-supervisor.service", "NRestarts") == "1", "it came back by itself"
    assert show(computer, "parachute-core.service", "MainPID") == core
    units = json.loads(computer.check_output("parachute status --json"))["units"]
    running = [
        (unit["name"], unit["process"])
        for unit in units
        if unit["state"] == "running" and unit["name"] not in ("programs", "meaning")
    ]
    assert running == [("core", int(core))]


def test_what_was_stopped_is_started_as_services(computer: Host) -> None:
    computer.check_output("parachute stop")
    assert computer.run(f"systemctl --user is-active {' '.join(NAMES)}").stdout.split() == ["inactive"] * 3
    computer.check_output("parachute start </dev/null")
    assert show(computer, "parachute-supervisor.service", "MainPID") == computer.check_output(
        "cat ~/.parachute/run/supervisor.pid"
    )
    assert json.loads(computer.check_output(f"curl -sf {URL}/api/health"))["status"] == "ok"


def test_a_supervisor_that_has_lost_the_bus_leaves_its_place_to_the_next(computer: Host) -> None:
    supervisor, core = (show(computer, f"parachute-{name}.service", "MainPID") for name in ("supervisor", "core"))
    computer.check_output("systemctl --user stop dbus.service && systemctl --user start dbus.service")
    wait = f"tail --pid={supervisor} --follow /dev/null && systemctl --user start parachute-supervisor"
    computer.check_output(wait)
    assert show(computer, "parachute-core.service", "MainPID") == core
    computer.check_output("parachute restart")
    assert show(computer, "parachute-core.service", "MainPID") != core
    assert "The connection to systemd is lost." in computer.check_output("cat ~/.parachute/logs/supervisor.log")


def test_systemd_has_nothing_to_say_about_the_units(computer: Host) -> None:
    done = computer.run(f"systemd-analyze --user verify {' '.join(f'{FOLDER}/{name}' for name in NAMES)}")
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")


def test_a_chat_starts_the_sandbox_as_a_service(host: Host, computer: Host) -> None:
    events = Agents(computer).answered("What is a journal good for?")
    assert events[-1]["type"] == "done", events[-1]
    assert len(text_of(events)) > 20
    running = computer.check_output(
        "systemctl --user list-units --state=active --plain --no-legend 'parachute-*.service'"
    )
    kinds = sorted({line.split()[0].split("@")[0].removesuffix(".service") for line in running.splitlines()})
    # Core prewarms another agent, and `programs` ends when core has no use for it.
    assert [kind for kind in kinds if kind != "parachute-programs"] == [
        "parachute-core",
        "parachute-model",
        "parachute-sandbox",
        "parachute-supervisor",
    ]


def test_a_restart_keeps_the_address_and_a_stop_holds(computer: Host) -> None:
    before = show(computer, "parachute-core.service", "MainPID")
    assert "is running" in computer.check_output("parachute restart")
    assert show(computer, "parachute-core.service", "MainPID") != before
    computer.check_output("parachute stop")
    assert computer.run(f"curl -s --max-time 5 {URL}/api/health").rc == 7, "refused"
    assert computer.run("systemctl --user is-active 'parachute-*'").stdout == ""
    computer.check_output("systemctl --user start parachute-supervisor")
    assert computer.run(f"curl -s --max-time 60 {URL}/api/health").rc == 0


def test_installing_again_renews_the_units(computer: Host) -> None:
    computer.check_output(f"echo '# old' >> {FOLDER}/parachute-core.service")
    computer.check_output("parachute service install")
    assert "# old" not in computer.file(f"{FOLDER}/parachute-core.service").content_string
    assert computer.run(f"curl -s --max-time 60 {URL}/api/health").rc == 0


LISTEN_ON = """
import asyncio, sys
from parachute.config.settings.home import Home
from parachute.config.settings.store import set_value
from parachute.supervisor import control
home = Home.find()
set_value(home, "host", sys.argv[1])
asyncio.run(control.ask(home, "listen_on", host=sys.argv[1]))
"""


def test_another_address_stands_in_the_units_and_is_listened_on(computer: Host) -> None:
    computer.check_output("parachute keys create phone")
    for host in ("0.0.0.0", "127.0.0.1"):
        core = show(computer, "parachute-core.service", "MainPID")
        computer.check_output(f"cd {SOURCE} && {ENVIRONMENT}/bin/python -c '{LISTEN_ON}' {host}")
        # What moves it is a service of its own, which is gone when all of it is done.
        listed = "systemctl --user list-units --all --quiet 'parachute-restart*'"
        computer.check_output(f'for i in $(seq 600); do test -z "$({listed})" && break; sleep 0.2; done; true')
        assert show(computer, "parachute-core.service", "MainPID") != core
        for name in ("core.socket", "supervisor.service"):
            assert host in computer.file(f"{FOLDER}/parachute-{name}").content_string
        # As the kernel has it: in its own order of bytes, and 0A for listening.
        heard = re.findall(r" (\w{8}):0D05 \w{8}:0000 0A ", computer.check_output("cat /proc/net/tcp"))
        assert heard == [socket.inet_aton(host)[::-1].hex().upper()]
        assert json.loads(computer.check_output(f"curl -sf {URL}/api/health"))["status"] == "ok"
    # One that is not this machine's leaves everything as it was.
    computer.check_output(f"cd {SOURCE} && {ENVIRONMENT}/bin/python -c '{LISTEN_ON}' 203.0.113.9")
    computer.check_output(f'for i in $(seq 600); do test -z "$({listed})" && break; sleep 0.2; done; true')
    assert "127.0.0.1" in computer.file(f"{FOLDER}/parachute-core.socket").content_string
    assert computer.run(f"curl -s --max-time 60 {URL}/api/health").rc == 0
    computer.check_output("parachute config unset host; parachute keys revoke phone --yes")


def test_what_getting_started_says_is_followed_word_by_word(computer: Host) -> None:
    page = (TREE / "docs" / "getting-started.md").read_text()
    chapter = page.partition("## As a service\n")[2].partition("\n## ")[0]
    starting, ending = (block.strip().splitlines() for block in re.findall(r"```\n(.*?)```", chapter, re.DOTALL))
    assert starting[1] == "parachute service install"
    for line in ending:
        computer.check_output(line)
    assert computer.check_output("systemctl --user list-units --all --quiet 'parachute-*'") == ""
    computer.run("rm -rf ~/.parachute ~/Parachute")
    # As it is before: a computer that somebody has started.
    computer.check_output("parachute start")
    said = [computer.check_output(line) for line in starting]
    assert "starts with the machine" in said[1]
    assert "active (running)" in said[2]
    assert "The computer is running on http://127.0.0.1:3333" in said[3]
