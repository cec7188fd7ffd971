"""Containers of agents where limits are really enforced, with the settings that everybody has."""

import json
import re
import shlex
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.agents import Agents
from tests.appliance.recipe import ENVIRONMENT, SOURCE
from tests.appliance.uml.guest import UmlGuest
from tests.support.sse import text_of

MEMORY_BOMB = 'python3 -c "bytearray(1700 << 20)"; echo ended with $?'
TAKE_ALL = "head -c 430M /dev/zero > $PWD/file; echo $?"  # in memory, which nobody gives back
FORK_BOMB = "i=0; while [ $i -lt 400 ]; do i=$((i+1)); sleep 20 & done; wait"
FILL = (
    "head -c {megabytes}M /dev/zero > {folder}/fill 2> /dev/null; code=$?; size=$(wc -c < {folder}/fill); "
    "rm {folder}/fill; echo $code $size"
)
FORKS = (
    "import json, os, signal\n"
    "n = 0\n"
    "try:\n"
    "    while n < 2000:\n"
    "        if os.fork() == 0: signal.pause()\n"
    "        n += 1\n"
    "except BlockingIOError: pass\n"
    "print(n)"
)


@pytest.fixture
def user(agents_guest: UmlGuest, built: dict[str, Any]) -> Host:
    """The user whose image has been built."""
    return agents_guest.user


def test_an_image_is_taken_when_its_limits_are_held(user: Host) -> None:
    found = json.loads(user.check_output("parachute sandbox status --json"))
    assert (found["engine"], found["limits"]) == ("podman", "enforced")


def test_a_memory_bomb_and_a_fork_bomb_end_at_their_limits(user: Host) -> None:
    bombs = f"{MEMORY_BOMB}; ({FORK_BOMB}) 2>&1 | head -1; echo alive"
    said = user.check_output("echo %s | parachute sandbox shell 2>&1", bombs)
    assert "ended with 137" in said
    assert "fork" in said
    assert said.endswith("alive")


def test_limits_are_those_that_were_asked_for_from_all_sides(user: Host) -> None:
    found = json.loads(
        user.check_output(f"cd {SOURCE} && {ENVIRONMENT}/bin/python -m tests.appliance.inspect_containers")
    )
    rows = {row["name"]: row for row in found["undisturbed"]["rows"]}
    assert [row["problem"] for row in rows.values() if row["differs"]] == []
    said = [
        [rows[name][side] for side in ("asked", "engine", "inside")] for name in ("memory", "processors", "processes")
    ]
    assert said == [["1536 MB"] * 3, ["2"] * 3, ["200"] * 3]
    assert found["bubblewrap"]["differs"] is False
    assert "network" in {row["name"] for row in found["networked"]["rows"] if row["differs"]}


def test_limits_of_a_workspace_are_those_of_its_containers_and_an_agent_that_meets_them_is_told(agents: Agents) -> None:
    limits = {"memory_megabytes": 512, "cpus": 0.5, "processes": 160}
    status, made = agents.ask("/api/workspaces", {"name": "Small", **limits})
    assert status in (200, 201), made
    files = ("memory.max", "memory.swap.max", "pids.max", "cpu.max")
    look = f"cat {' '.join(f'/sys/fs/cgroup/{name}' for name in files)}"
    said = agents.say(look, workspaceId=made["workspace"]["slug"])
    assert text_of(said).split() == [str(512 << 20), "0", "160", "50000", "100000"]
    events = agents.events(TAKE_ALL, str(said[-1]["sessionId"]))
    assert events[-1]["type"] == "typed_error"
    # Its counters may have gone with it: then the sentence supposes what it knows otherwise.
    assert re.search("needed more memory than its sandbox may use|512 MB of memory", events[-1]["message"])
    # The files that filled it went with its container.
    assert text_of(agents.say("ls; echo again", events[-1]["sessionId"])) == "again"
    assert agents.output(look).split() == [str(1536 << 20), "0", "200", "200000", "100000"]


def test_all_sandboxes_together_keep_their_bound(agents: Agents) -> None:
    agents.run("parachute config set sandbox.total_memory_megabytes 350")
    agents.restart_core()
    sessions = []
    for number in range(2):
        fill = f"head -c 100M /dev/zero > $PWD/file; echo {number}"
        sessions.append(agents.say(fill)[-1]["sessionId"])
        # Its files are in memory, and count.
        assert agents.containers(sessions[-1]) != []
    agents.until(lambda: agents.containers(sessions[0]) == [], "the first one has ended")
    assert agents.containers(sessions[1]) != []
    agents.run("parachute config unset sandbox.total_memory_megabytes")


def test_files_in_memory_and_processes_of_a_chat_end_at_their_limits(agents: Agents) -> None:
    session = str(agents.say("echo first")[-1]["sessionId"])
    sizes = {f"/scratch/{session}": 512, "/tmp": 256, "/run": 16, "/dev/shm": 64}
    fill = "; ".join(FILL.format(folder=folder, megabytes=megabytes + 8) for folder, megabytes in sizes.items())
    said = [line.split() for line in text_of(agents.say(fill, session)).splitlines()]
    assert len(said) == len(sizes), said
    for (folder, megabytes), (code, size) in zip(sizes.items(), said, strict=True):
        assert code != "0", folder
        assert (megabytes - 1) << 20 < int(size) <= megabytes << 20, (folder, said)
    forked = text_of(agents.say(f"python3 -c {shlex.quote(FORKS)}", session))
    assert 100 < int(forked.split()[-1]) < 200, forked
    assert text_of(agents.say("echo alive", session)) == "alive"


def test_a_gigabyte_of_output_harms_nobody(agents: Agents) -> None:
    session = str(agents.say("head -c 1G /dev/zero | tr '\\0' x; echo; echo written")[-1]["sessionId"])
    assert text_of(agents.say("echo alive", session)) == "alive"
