"""A chat whose container cannot be started or is gone says so, and the next message works."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.agents import IMAGES, STORE, Agents
from tests.support.sse import text_of

ENDS = {"done", "error", "typed_error", "aborted"}


def turn(computer: Agents, command: str, session: str = "new") -> list[dict[str, Any]]:
    """The events of a turn, however it ends; there is one end."""
    return ended(computer.events(command, session))


def ended(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events of a turn, of which the last is the only end."""
    assert [event["type"] for event in events if event["type"] in ENDS] == [events[-1]["type"]], events
    return events


@pytest.fixture
def session(agents: Agents, built: dict[str, Any]) -> str:
    """A session that has been answered once."""
    return str(agents.say("echo first")[-1]["sessionId"])


@contextmanager
def without_podman(host: Host) -> Iterator[None]:
    """Nobody finds Podman meanwhile."""
    host.check_output("mv /usr/bin/podman /usr/bin/podman.away")
    try:
        yield
    finally:
        host.check_output("mv /usr/bin/podman.away /usr/bin/podman")


@contextmanager
def full_disk(host: Host) -> Iterator[None]:
    """There is no room where containers are kept."""
    host.check_output(f"mount -o remount,size=$(df --output=used --block-size=1K {STORE} | tail -n 1)k {STORE}")
    try:
        yield
    finally:
        host.check_output(f"mount -o remount,size=50% {STORE}")


@contextmanager
def without_image(computer: Agents) -> Iterator[None]:
    """Podman knows no image any more, as where somebody has removed it."""
    computer.run("podman rm --all --force --time=0")
    computer.run(f"mv {IMAGES} /tmp/hidden")
    try:
        yield
    finally:
        computer.run(f"mv /tmp/hidden {IMAGES}")


@contextmanager
def stored_with_vfs(computer: Agents) -> Iterator[None]:
    """Podman keeps everything somewhere else, and as whole copies."""
    computer.run("mkdir -p ~/.config/containers")
    settings = '[storage]\\ndriver = "vfs"\\ngraphroot = "/tmp/stored-with-vfs"\\nrunroot = "/tmp/run-with-vfs"\\n'
    computer.run(f"printf '{settings}' > ~/.config/containers/storage.conf")
    try:
        yield
    finally:
        computer.run("rm ~/.config/containers/storage.conf")
        # A Podman that core has started may still be writing there.
        emptied = "podman unshare rm -rf /tmp/stored-with-vfs /tmp/run-with-vfs"
        computer.until(lambda: computer.user.run(emptied).rc == 0, "the other storage is gone")


def test_podman_is_missing(agents: Agents, host: Host, session: str) -> None:
    with without_podman(host):
        end = turn(agents, "echo second")[-1]
    assert (end["type"], "Podman is not installed." in end["message"]) == ("typed_error", True), end
    assert text_of(turn(agents, "echo third", session)) == "third"


def test_the_disk_is_full(agents: Agents, host: Host, session: str) -> None:
    with full_disk(host):
        end = turn(agents, "echo second")[-1]
    assert (end["type"], "no space left on device" in end["message"]) == ("typed_error", True), end
    assert text_of(turn(agents, "echo third", session)) == "third"


def test_the_image_is_missing(agents: Agents, session: str) -> None:
    with without_image(agents):
        end = turn(agents, "echo second")[-1]
    assert (
        end["type"],
        "The image for containers is gone; `parachute sandbox build` makes it again." in end["message"],
    ) == ("typed_error", True), end
    assert text_of(turn(agents, "echo third", session)) == "third"


def test_the_storage_is_vfs(agents: Agents, session: str) -> None:
    with stored_with_vfs(agents):
        end = turn(agents, "echo second")[-1]
    assert (end["type"], "Podman stores images with vfs" in end["message"]) == ("typed_error", True), end
    assert text_of(turn(agents, "echo third", session)) == "third"


def test_a_container_is_killed_in_the_middle_of_a_turn(agents: Agents, user: Host, session: str) -> None:
    with agents.working("echo waits; sleep 3600", session) as events:
        agents.until(lambda: user.run("pgrep --exact --full 'sleep 3600'").rc == 0, "it waits")
        (name,) = agents.containers(session)
        agents.run(f"podman kill {name}")
        end = ended(events())[-1]
    assert (end["type"], "ended with status 137" in end["message"]) == ("typed_error", True), end
    assert text_of(turn(agents, "echo third", session)) == "third"


@pytest.mark.usefixtures("built")
def test_a_file_that_it_must_not_write_is_replaced_outside(agents: Agents, user: Host) -> None:
    project = f"{agents.home}/Parachute/Projects/replaced"
    agents.run(f"mkdir -p {project}")
    session = agents.say("echo first", workingDirectory=project)[-1]["sessionId"]
    with agents.working("echo waits; sleep 3601", session) as events:
        agents.until(lambda: user.run("pgrep --exact --full 'sleep 3601'").rc == 0, "it waits")
        agents.run(f"cd {project} && echo '{{}}' > new && mv new .mcp.json")
        end = ended(events())[-1]
    assert (end["type"], "was replaced while it ran" in end["message"]) == ("typed_error", True), end
    assert text_of(turn(agents, "echo third", session)) == "third"
    agents.run(f"rm -r {project}")
