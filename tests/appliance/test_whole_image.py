"""The image of the whole computer under rootless Podman: refused where agents cannot be shut in, used, stopped, started again."""

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from packages import program
from packages.image import building
from tests.appliance import recipe
from tests.appliance.agents import STORE, Agents
from tests.appliance.build_root import locked
from tests.appliance.guest import Guest
from tests.appliance.recipe import USER, USER_ID
from tests.appliance.services import URL

pytestmark = pytest.mark.downloads

IMAGE = f"{building.NAME}:{program.VERSION}"
FILE = "opt/images/computer.tar"
# The guest has no network and no groups that limit: its own loopback is what the container has.
HERE = ("--network=host", "--pids-limit=0")
FLAGS = ("--security-opt=seccomp=unconfined", "--security-opt=unmask=ALL")
"""Flags for Podman that the page names."""


def debian() -> Path:
    """The layer of Debian, from the cache or made in a minute."""
    digest = sha256("\0".join(building.recipe_of_debian()).encode()).hexdigest()[:16]
    path = recipe.cache() / f"whole-{digest}.tar"
    recipe.cache().mkdir(parents=True, exist_ok=True)
    with locked():
        if not path.exists():
            with tempfile.TemporaryDirectory(prefix="building-", dir=recipe.cache()) as place:
                made = Path(place) / "debian.tar"
                building.write_debian(made)
                made.rename(path)
    os.utime(path)
    return path


@pytest.fixture(scope="module")
def agents(layers: tuple[Path, ...]) -> Iterator[Agents]:
    """The user of a guest whose Podman has the image."""
    folder = Path(tempfile.mkdtemp(prefix="image-", dir="/tmp"))
    try:
        (folder / FILE).parent.mkdir(parents=True)
        building.put_together(debian(), folder).rename(folder / FILE)
        folder.chmod(0o755)
        with Guest((folder, *layers)) as booted:
            booted.root.check_output(f"install -d -o {USER} -g {USER} {Path(STORE).parent} {STORE}")
            booted.root.check_output(f"mount -t tmpfs -o uid={USER_ID},gid={USER_ID},mode=700 tmpfs {STORE}")
            user = Agents(booted.user)
            assert IMAGE in user.run(f"podman load --quiet --input /{FILE}")
            yield user
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def computer(agents: Agents) -> Iterator[Agents]:
    """A container that is healthy, with a scripted model."""
    with agents.serving("model", "tests.appliance.scripted_model") as url:
        model = {"PROVIDER": "compatible", "BASE_URL": url, "MODEL": "claude-opus-5-5"}
        variables = [f"--env=PARACHUTE_{name}={value}" for name, value in model.items()]
        confined = ("--cap-drop=all", "--security-opt=no-new-privileges")
        volumes = ("--volume=parachute-state:/state", "--volume=parachute-vault:/vault")
        command = [
            "podman",
            "run",
            "--detach",
            "--name=computer",
            *HERE,
            *FLAGS,
            *confined,
            *volumes,
            *variables,
            IMAGE,
        ]
        agents.run(shlex.join(command))
        healthy(agents)
        yield agents
        agents.run("podman rm --force --time 60 computer")


def healthy(agents: Agents) -> None:
    """Wait until the container's own check finds it well."""
    agents.until(lambda: agents.user.run("podman healthcheck run computer").rc == 0, "it is healthy")


def inside(agents: Agents, command: str) -> str:
    """The output of a command in the container, as its user."""
    return agents.run(f"podman exec computer {command}")


def test_it_refuses_where_agents_cannot_be_shut_in(agents: Agents) -> None:
    refused = agents.user.run(shlex.join(["podman", "run", "--rm", *HERE, IMAGE]))
    assert refused.rc == 1
    assert "cannot be shut in here, so nothing was started" in refused.stderr
    assert "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL" in refused.stderr


def test_it_runs_as_an_ordinary_user_without_any_rights(computer: Agents) -> None:
    status = inside(computer, "cat /proc/1/status")
    for line in ("Uid:\t1000\t1000\t1000\t1000", "CapEff:\t0000000000000000", "NoNewPrivs:\t1"):
        assert line in status
    assert json.loads(computer.run(f"curl -sf {URL}/api/health"))["status"] == "ok"
    assert inside(computer, "parachute version") == f"parachute {program.VERSION}"


def test_nobody_gets_in_without_the_key_of_the_first_boot(computer: Agents) -> None:
    assert computer.ask("/api/chat")[0] == 401, "also from this machine"
    key = json.loads(inside(computer, "parachute first-boot --json"))["key"]
    status = f"curl -s -o /dev/null -w '%{{http_code}}' {URL}/api/auth/keys -H 'Authorization: Bearer {key}'"
    assert computer.run(status) == "200"
    assert key not in computer.run("podman logs computer 2>&1")


def test_an_agent_is_shut_in_and_what_was_said_and_written_outlives_the_container(computer: Agents) -> None:
    inside(computer, "parachute setup --yes")
    inside(computer, "parachute daily add 'Tea with Kevin'")
    asked = "hostname; id -un; ls -d /state; wc -l < /proc/net/dev; readlink /proc/self/ns/net"
    said = inside(computer, shlex.join(["parachute", "chat", f"run: {asked}"]))
    assert "parachute\nagent\n" in said
    assert "cannot access '/state'" in said
    assert inside(computer, "readlink /proc/self/ns/net") not in said
    computer.run("podman stop --time 60 computer")
    assert computer.run("podman inspect --format '{{.State.ExitCode}}' computer") == "0"
    # Another container with the same volumes, as after an update of the image.
    command = computer.run("podman inspect --format '{{json .Config.CreateCommand}}' computer")
    computer.run("podman rm computer")
    computer.run(shlex.join(json.loads(command)))
    healthy(computer)
    assert "Tea with Kevin" in inside(computer, "parachute daily today")
    (conversation,) = json.loads(inside(computer, "parachute sessions list --json"))
    assert conversation["title"].startswith("run: hostname")
