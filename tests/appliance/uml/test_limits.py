"""A module that takes all the memory or all the processes that it can get is held to its limits, and nobody else notices."""

import shlex
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.services import MODULES, Services, service

MEMORY, PROCESSES = 128 << 20, 32  # those of the prober's manifest
TAKE = "python3 -c 'print(len(bytearray(160 << 20)))'"
FORK = 'python3 -c \'import subprocess; print(len([subprocess.Popen(["sleep", "9"]) for _ in range(40)]))\''
FEW, LITTLE = "--property=TasksMax=32", "--property=MemoryMax=128M --property=MemorySwapMax=0"


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Services]:
    """A computer that runs as services, with two modules: one that takes what it can get, and one of use."""
    computer = Services(user)
    computer.run("parachute service install && parachute modules new reading")
    # What its control group has counted is gone when it falls asleep.
    computer.run(f"cp -r {MODULES}/prober . && sed -i 's/idle_seconds: .*/idle_seconds: 600/' prober/manifest.yaml")
    for name in ("prober", "reading"):
        computer.install(f"{computer.home}/{name}")
    yield computer
    computer.run("parachute service uninstall")
    assert user.run("pgrep --full [p]arachute.host").rc == 1
    computer.run("rm -rf ~/.parachute ~/Parachute ~/reading ~/prober")


class Group:
    """The control group of the prober's service, as root sees it."""

    def __init__(self, host: Host, computer: Services) -> None:
        computer.get("/api/prober/process")
        self._host = host
        self._path = "/sys/fs/cgroup" + computer.show("prober", "ControlGroup")["ControlGroup"]

    def __getitem__(self, name: str) -> int:
        """The number in one of its files, or after a word in it: `memory.events oom_kill`."""
        file, _, word = name.partition(" ")
        lines = [line.split() for line in self._host.check_output("cat %s", f"{self._path}/{file}").splitlines()]
        return int(dict(lines)[word] if word else lines[0][0])


@pytest.fixture
def group(host: Host, computer: Services) -> Group:
    """The group of a prober that has done nothing yet."""
    computer.put_to_sleep("prober")
    return Group(host, computer)


@pytest.mark.parametrize(("command", "limit", "free"), [(TAKE, LITTLE, str(160 << 20)), (FORK, FEW, "40")])
def test_the_user_manager_holds_what_it_starts_to_its_limits(user: Host, command: str, limit: str, free: str) -> None:
    run = "systemd-run --user --quiet --wait --pipe --collect"
    assert user.check_output(f"{run} {command}") == free, "without a limit it works"
    assert user.run(f"{run} {limit} {command}").rc != 0


def test_processes_that_fill_their_memory_together_are_ended_at_the_limit(computer: Services, group: Group) -> None:
    process = computer.process("prober")
    status, filled = computer.ask("/api/prober/memory", {"processes": 4, "mebibytes": 60})
    assert (status, filled["filled"] < 3) == (200, True), filled
    assert group["memory.max"] == MEMORY
    assert group["memory.swap.max"] == 0
    assert group["memory.peak"] <= MEMORY
    assert group["memory.events oom_kill"] >= 1
    # What was ended are its children: the module itself answers, as the same process.
    computer.get("/api/prober/process")
    assert computer.process("prober") == process
    assert computer.get("/api/reading/notes") == {"notes": []}
    assert "Not enforced" not in computer.run("parachute modules status prober")


def test_a_fork_bomb_ends_at_the_limit_and_with_the_module(user: Host, computer: Services, group: Group) -> None:
    status, answer = computer.ask("/api/prober/bomb", {})
    assert status == 200, answer
    computer.until(lambda: group["pids.events max"] > 0, "a fork was refused")
    assert group["pids.max"] == PROCESSES
    assert group["pids.peak"] <= PROCESSES
    assert group["pids.current"] > PROCESSES // 2, "it is still there"
    # It takes what the processor gives; the others get their share of it.
    assert computer.get("/api/reading/notes") == {"notes": []}
    assert computer.status("reading") == "running"
    computer.put_to_sleep("prober")
    assert user.run(f"pgrep --full {shlex.quote('[p]arachute.host --unit prober')}").rc == 1
    assert computer.get("/api/prober/process")["seen"] == [1]
    assert computer.run(f"systemctl --user is-failed {service('reading')} || true") == "active"
