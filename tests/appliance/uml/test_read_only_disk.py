"""D6: all agents are stopped while nobody can write to the disk, as after an error of it; Podman can note nothing down either."""

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from testinfra.host import Host

from tests.appliance.agents import Agents
from tests.appliance.uml.guest import UmlGuest
from tests.support.sse import text_of

WORK = "sleep 7201"
GROUPS = (
    r"find /sys/fs/cgroup \( -path '*/parachute-sandbox@*' -o -path '*/parachute-direct.service*' \) -name cgroup.procs"
)
SOCKETS = "find ~/.parachute/run/sandbox ~/.parachute/run/direct -type s"
CONNECT = """
import socket, sys
for path in sys.argv[1:]:
    with socket.socket(socket.AF_UNIX) as connection:
        print(path, connection.connect_ex(path))
"""
UNANSWERED = {"2", "111"}  # ENOENT, of one that was closed while the disk could be written, and ECONNREFUSED


@pytest.fixture
def host(agents_guest: UmlGuest) -> Host:
    """The guest with the containers, as root."""
    return agents_guest.root


@contextmanager
def read_only_disk(computer: Agents, host: Host) -> Iterator[None]:
    """The kernel takes nothing for the disk any more, also from those who have files open."""
    write = "touch ~/written && rm ~/written"
    host.check_output("echo u > /proc/sysrq-trigger")
    computer.until(lambda: computer.user.run(write).rc != 0, "the disk can only be read")
    try:
        yield
    finally:
        host.check_output("mount -o remount,rw /")
        computer.run(write)


def processes(host: Host) -> list[str]:
    """The command lines of all that runs in the control groups of agents."""
    # Not check_output: a group may go between its finding and its reading.
    found = host.run(f"{GROUPS} -exec cat {{}} +").stdout.split()
    return host.run(f"ps -o args= -p {','.join(found)}").stdout.splitlines() if found else []


def test_panic_on_a_read_only_disk_ends_all_agents_and_is_saved_later(agents: Agents, host: Host) -> None:
    file = "~/.parachute/panic.json"
    direct = str(agents.say("echo first", trustLevel="direct")[-1]["sessionId"])
    idle, busy = (str(agents.say("echo first")[-1]["sessionId"]) for _ in range(2))
    message = {"message": "run: echo x", "sessionId": busy, "module": "chat"}
    try:
        with agents.working(f"echo waits; {WORK}", busy) as events:
            agents.until(lambda: WORK in processes(host), "it works")
            running, sockets = processes(host), agents.run(SOCKETS).split()
            assert sum("conmon" in each for each in running) >= 2, running
            assert sum("runner.py" in each for each in running) >= 3, running
            assert len(sockets) >= 5, sockets
            # When nothing has used it for a while, it would have to be started, and cannot be.
            agents.run("systemctl --user stop parachute-programs.service")
            with read_only_disk(agents, host):
                status, said = agents.ask("/api/panic", {})
                assert (status, said["panic"]["saved"]) == (200, False), said
                assert "until the computer is restarted" in said["warning"]
                assert events()[-1]["type"] == "aborted"
                assert processes(host) == []
                assert host.run(f"pgrep --exact 'conmon|agent' || pgrep --exact --full '{WORK}'").stdout == ""
                asked = agents.run(shlex.join(["python3", "-c", CONNECT, *sockets])).splitlines()
                assert {each.split()[-1] for each in asked} <= UNANSWERED, asked
                assert agents.ask("/api/chat", message)[1]["key"] == "panic"
                assert agents.user.run(f"test -e {file}").rc == 1
                check_what_is_said(agents)
        agents.until(lambda: agents.user.run(f"test -s {file}").rc == 0, "it is saved by itself")
    finally:
        resumed = agents.run("parachute resume")
    assert "stopped since" in resumed
    assert agents.user.run(f"test -e {file}").rc == 1
    agents.until(lambda: agents.containers() == [], "Podman lists them no more")
    assert agents.run("systemctl --user is-active parachute-programs.socket") == "active"
    assert [text_of(agents.say("echo again", session)) for session in (direct, idle, busy)] == ["again"] * 3


def check_what_is_said(agents: Agents) -> None:
    """See that the command line answers with the reason."""
    panic = json.loads(agents.run("parachute panic --json"))
    assert (panic["running"], panic["panic"]["saved"]) == (True, False)
    shown = json.loads(agents.run("parachute status --json"))
    assert (shown["running"], shown["problem"], shown["panic"]["saved"]) == (True, None, False)
    assert "all agents, since" in agents.run("parachute status")
    refused = agents.user.run("parachute resume")
    assert refused.rc == 1
    assert "All agents stay stopped. The disk is read-only" in refused.stderr
    assert "Make it writable again" in refused.stderr
    examined = agents.user.run("parachute doctor disk-writable panic containers")
    assert examined.rc == 1
    assert "The disk is read-only" in examined.stdout
    assert "All agents are stopped since" in examined.stdout
    assert "Traceback" not in examined.stdout + examined.stderr + refused.stderr
