"""`parachute doctor` where agents run in rootless Podman: what Podman itself answers."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from testinfra.host import Host

from parachute.sandbox.engines.podman import LABEL
from tests.appliance.agents import Agents, Image

CHECKS = "bubblewrap container-image containers storage-driver subordinate-ids"


@pytest.fixture(scope="module")
def computer(user: Host, image: Image) -> Iterator[Agents]:
    """A computer that is down, and has an image."""
    computer = Agents(user)
    computer.run("parachute config set sandbox.limits unavailable")
    with image.root():
        image.of(computer)
        yield computer
        computer.run("rm -rf ~/.parachute ~/Parachute")


def doctor(computer: Agents, arguments: str, code: int = 0) -> dict[str, dict[str, Any]]:
    """The results by check."""
    done = computer.user.run(f"parachute doctor --json {arguments}")
    assert done.rc == code, done
    return {each["id"]: each for each in json.loads(done.stdout)["checks"]}


def test_all_is_well_where_an_image_was_built(computer: Agents) -> None:
    found = doctor(computer, CHECKS)
    assert {name: each["message"] for name, each in found.items() if each["result"] != "ok"} == {}
    assert "the program of agents in them" in found["container-image"]["message"]
    assert found["storage-driver"]["message"] == "Podman stores images with overlay."


def test_a_container_that_nothing_uses_is_removed_and_another_installation_s_stays(
    computer: Agents, image: Image
) -> None:
    installation = computer.run(
        "python3 -c 'import hashlib, os; print(hashlib.sha256(os.path.expanduser(\"~/.parachute\").encode()).hexdigest()[:8])'"
    ).strip()
    for owner in (installation, "0123abcd"):
        name = f"parachute-{owner}-6f0f4c1e-0000-4000-8000-000000000001"
        options = f"--name={name} --label={LABEL}={owner} --network=none --pids-limit=0"
        computer.run(f"podman create {options} {image.of(computer)['id']} /bin/true")
    try:
        assert doctor(computer, "containers")["containers"]["result"] == "warning"
        assert doctor(computer, "containers --fix --yes")["containers"]["result"] == "ok"
        assert [name.split("-")[1] for name in computer.containers()] == ["0123abcd"]
    finally:
        computer.run("podman rm --force --all")


def test_an_image_that_was_removed_is_missed(computer: Agents, image: Image) -> None:
    computer.run(f"podman image rm --force {image.of(computer)['id']}")
    image.gone()
    assert "is gone" in doctor(computer, "container-image", code=1)["container-image"]["message"]
