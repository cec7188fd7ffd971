"""Containers of agents where limits are really enforced, with the settings that everybody has."""

import json
import os
import time
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.agent_root import tarball
from tests.appliance.uml.build import Machine
from tests.appliance.uml.guest import UmlGuest

pytestmark = pytest.mark.timeout(900)
BUILD_SECONDS = 600
MEMORY_BOMB = 'python3 -c "bytearray(1700 << 20)"; echo ended with $?'
FORK_BOMB = "i=0; while [ $i -lt 400 ]; do i=$((i+1)); sleep 20 & done; wait"


@pytest.fixture(scope="module")
def user(machine: Machine) -> Iterator[Host]:
    """The user of a guest of its own, which has a further disk: the root of the agents' image."""
    disk = machine.kernel_folder / "usr" / f"agent-{os.getpid()}.tar"
    disk.hardlink_to(tarball())
    try:
        with UmlGuest(machine, (f"ubd2r=/usr/{disk.name}",)) as guest:
            guest.root.check_output("cat /dev/ubdc > /var/agent.tar; chmod 644 /var/agent.tar")
            yield guest.user
    finally:
        disk.unlink()


@pytest.fixture(scope="module")
def built(user: Host) -> Host:
    """The user, with the image built; a command over the line may not take as long."""
    build = "cd; parachute sandbox build --from-tar /var/agent.tar > build.log 2>&1; echo $? > build.code"
    user.check_output("systemd-run --user --quiet --unit=building sh -c %s", build)
    deadline = time.monotonic() + BUILD_SECONDS
    while user.run("test -s ~/build.code").rc != 0:
        assert time.monotonic() < deadline, user.run("cat ~/build.log").stdout
        time.sleep(1)
    assert user.check_output("cat ~/build.code") == "0", user.run("cat ~/build.log").stdout
    return user


def test_an_image_is_taken_when_its_limits_are_held(built: Host) -> None:
    found = json.loads(built.check_output("parachute sandbox status --json"))
    assert (found["engine"], found["limits"]) == ("podman", "enforced")


def test_a_memory_bomb_and_a_fork_bomb_end_at_their_limits(built: Host) -> None:
    said = built.check_output("echo %s | parachute sandbox shell 2>&1", MEMORY_BOMB)
    assert "ended with 137" in said
    said = built.check_output("echo %s | parachute sandbox shell 2>&1", f"({FORK_BOMB}) 2>&1 | head -1; echo alive")
    assert "fork" in said
    assert said.endswith("alive")
    assert built.check_output("echo 'echo again' | parachute sandbox shell") == "again"
