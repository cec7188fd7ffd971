"""The guest is the machine that the other tests take it for, and nothing of it stays behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from testinfra.host import Host

from tests.appliance import cgroups
from tests.appliance.guest import Guest
from tests.appliance.recipe import TREE
from tests.support.waiting import still_running


def test_systemd_runs_and_no_unit_failed(host: Host) -> None:
    assert host.process.get(pid=1).comm == "systemd"
    assert host.check_output("systemctl is-system-running --wait") == "running"
    assert host.service("systemd-logind").is_running
    # Of the other kind of guest it is dbus-broker's.
    assert host.check_output("systemctl show dbus.service --property=Id --value") == "dbus.service"


def test_the_user_has_a_manager_without_having_logged_in(host: Host, user: Host) -> None:
    assert host.file("/var/lib/systemd/linger/parachute").exists
    assert user.check_output("id -un") == "parachute"
    assert user.check_output("systemctl --user is-system-running --wait") == "running"
    assert user.check_output("busctl --user get-property org.freedesktop.systemd1 /org/freedesktop/systemd1 "
                             "org.freedesktop.systemd1.Manager Version").startswith('s "257')  # fmt: skip


def test_the_project_is_installed_and_the_user_cannot_change_it(user: Host) -> None:
    assert user.check_output("parachute --version").startswith("parachute ")
    assert user.run("python3 -c 'import parachute'").rc != 0, "the system's own Python has nothing of ours"
    for place in ("/opt/parachute/source/parachute/server/app.py", "/opt/parachute/environment/bin"):
        assert user.file(place).exists
        assert user.run("test -w %s", place).rc == 1


def test_there_is_no_network(host: Host) -> None:
    assert host.check_output("ls /sys/class/net").split() == ["lo"]


def test_what_a_guest_writes_is_gone_with_it(layers: tuple[Path, ...]) -> None:
    with Guest(layers) as first:
        first.root.check_output("echo changed >> /etc/hostname && touch /usr/bin/added /home/parachute/added")
    assert not any((layer / "usr/bin/added").exists() for layer in layers)
    with Guest(layers) as second:
        assert not second.root.file("/usr/bin/added").exists
        assert not second.user.file("/home/parachute/added").exists


def test_nothing_is_left_behind_after_a_failure(layers: tuple[Path, ...]) -> None:
    before = cgroups.left(os.getpid())
    processes: list[psutil.Process] = []

    def fail_in_a_guest() -> None:
        with Guest(layers) as guest:
            processes.extend(guest.processes())
            raise RuntimeError("the test failed")

    with pytest.raises(RuntimeError, match="the test failed"):
        fail_in_a_guest()
    assert len(processes) > 3
    assert not [process for process in processes if process.is_running()]
    assert cgroups.left(os.getpid()) == before
    # Others may mount what they like meanwhile.
    assert not [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(layers[0]) in line]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind_when_the_tests_are_ended(number: signal.Signals, layers: tuple[Path, ...]) -> None:
    command = [sys.executable, "-m", "tests.appliance.guest", "sh", "-c", "echo booted; exec sleep 1000"]
    with subprocess.Popen(command, cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as tests:
        assert tests.stdout is not None
        assert tests.stdout.readline() == b"booted\n"
        family = psutil.Process(tests.pid).children(recursive=True)
        assert any(process.name() == "systemd" for process in family)
        os.kill(tests.pid, number)
        tests.wait(60)
        # The command that entered the guest is ended with the guest's namespace, like everything else in there.
        assert not still_running(family)
    cgroups.remove(cgroups.make())  # removes those of the tests that had no time to
    assert not cgroups.left(tests.pid)
