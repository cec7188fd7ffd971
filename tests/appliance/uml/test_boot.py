"""The guest is as the tests assume, its failures are reported, and nothing of it stays behind."""

import base64
import hashlib
import os
import signal
import subprocess
import sys
import threading

import psutil
import pytest
from testinfra.host import Host

from tests.appliance.recipe import ENVIRONMENT, TREE
from tests.appliance.uml.build import Machine
from tests.appliance.uml.guest import UmlGuest
from tests.appliance.uml.serial_line import Silence
from tests.support.waiting import still_running

KERNEL = "linux.uml"


def test_systemd_runs_and_no_unit_failed(host: Host, user: Host) -> None:
    assert host.process.get(pid=1).comm == "systemd"
    assert host.check_output("systemctl is-system-running --wait") == "running"
    assert user.check_output("id -un") == "parachute"
    assert user.check_output("systemctl --user is-system-running --wait") == "running"
    assert host.check_output("ls /sys/class/net").split() == ["lo"]


def test_both_buses_are_dbus_brokers_as_on_nixos(host: Host, user: Host) -> None:
    for manager, scope in ((host, "--system"), (user, "--user")):
        # The first who asks starts it.
        manager.check_output(f"busctl {scope} list")
        shown = manager.check_output(
            f"systemctl {scope} show dbus.service --property=Id --property=ActiveState --value"
        )
        assert sorted(shown.split()) == ["active", "dbus-broker.service"]


def test_the_kernel_is_its_own_and_has_cgroup_v2_alone(host: Host, user: Host) -> None:
    assert host.check_output("uname --kernel-release") != os.uname().release
    kinds = host.check_output("awk '$3 ~ /^cgroup/ {print $3, $2}' /proc/mounts").splitlines()
    assert kinds == ["cgroup2 /sys/fs/cgroup"]
    manager = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service"
    delegated = user.check_output(f"cat {manager}/cgroup.controllers").split()
    assert {"cpu", "memory", "pids"} <= set(delegated)


def test_commands_go_over_the_line_whole_and_side_by_side(host: Host) -> None:
    size = 300_000
    host.check_output(f"head --bytes={size} /dev/urandom > /tmp/random")
    said = base64.b64decode(host.check_output("base64 --wrap=0 /tmp/random"))
    assert len(said) == size
    assert host.check_output("sha256sum < /tmp/random").split()[0] == hashlib.sha256(said).hexdigest()
    sent = "x" * 50_000
    assert host.check_output("printf %%s %s | sha256sum", sent).split()[0] == hashlib.sha256(sent.encode()).hexdigest()
    # The second is the one that lets the first end.
    host.check_output("mkfifo /tmp/gate")
    outcomes: list[str] = []
    waiting = threading.Thread(target=lambda: outcomes.append(host.check_output("cat /tmp/gate")))
    waiting.start()
    host.check_output("echo opened > /tmp/gate")
    waiting.join()
    assert outcomes == ["opened"]
    assert host.run("rm /tmp/gate /tmp/random; exit 7").rc == 7


def test_groups_of_a_guest_are_made_and_removed_where_cgroup_v2_is_alone(host: Host) -> None:
    script = """
import os
from pathlib import Path
from tests.appliance import cgroups
(group,) = cgroups.make()
assert group in cgroups.left(os.getpid())
child = os.fork()
if child == 0:
    (group / "cgroup.procs").write_text("0")
    own = Path("/proc/self/cgroup").read_text().strip()
    os._exit(0 if own.startswith("0::/") and own.endswith(group.name) else 1)
assert os.waitpid(child, 0)[1] == 0
cgroups.remove([group])
assert not cgroups.left(os.getpid()) and not group.exists()
"""
    host.check_output(f"{ENVIRONMENT}/bin/python -c %s", script)


def test_a_boot_that_fails_tells_what_the_console_said(machine: Machine) -> None:
    with pytest.raises(AssertionError, match="The guest has ended") as failure, UmlGuest(machine, ("init=/nowhere",)):
        pass
    assert "Requested init /nowhere failed" in str(failure.value)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind_when_the_tests_are_ended(number: signal.Signals, machine: Machine) -> None:
    script = "mkdir /home/parachute/added; exec sleep 1000"
    command = [sys.executable, "-m", "tests.appliance.uml.guest", "sh", "-c", script]
    with subprocess.Popen(command, cwd=TREE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as tests:
        assert tests.stderr is not None
        assert b"It booted" in tests.stderr.readline()
        family = psutil.Process(tests.pid).children(recursive=True)
        assert any(process.name().startswith(KERNEL) for process in family)
        os.kill(tests.pid, number)
        tests.wait(60)
        assert not still_running(family)
    # All of it was in memory: the disk that the next guest boots from has none.
    listed = subprocess.run(
        ["debugfs", "-R", "ls -l /home/parachute", str(machine.image)], capture_output=True, text=True, check=True
    )
    assert ".bashrc" in listed.stdout
    assert "added" not in listed.stdout


def test_a_guest_that_ends_by_itself_leaves_nobody_waiting(machine: Machine) -> None:
    with UmlGuest(machine) as guest:
        family = guest.processes()
        with pytest.raises(Silence):
            guest.root.run("systemctl poweroff --force --force; sleep 1000")
        assert not still_running(family)
