"""One booted guest for all tests of a run; they are left out of runs that do not name this folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from testinfra.host import Host
from xdist.remote import Producer

from tests.appliance.agents import Agents, Image
from tests.appliance.build_root import build, missing
from tests.appliance.guest import Guest
from tests.appliance.scheduling import ByGuest
from tests.support.naming import is_named

FOLDER = Path(__file__).parent
SECONDS = 900  # the first of a file starts a computer, or builds an image; a machine may have others to serve


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Booting needs root and a large download at first: whoever wants it says so, as `make appliance` does."""
    return None if is_named(config, FOLDER) else True


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByGuest | None:
    """Only this folder's tests are shared out by guest."""
    return ByGuest(config, log) if is_named(config, FOLDER) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give these tests more time than others."""
    for item in items:
        if item.path.is_relative_to(FOLDER):
            item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.fixture(scope="session")
def layers() -> tuple[Path, ...]:
    """The guest's root, built if need be."""
    if reason := missing():
        pytest.fail(reason, pytrace=False)
    return build()


@pytest.fixture(scope="session")
def guest(layers: tuple[Path, ...]) -> Iterator[Guest]:
    """The booted guest; tests clean up after themselves in it."""
    with Guest(layers) as booted:
        yield booted


@pytest.fixture(scope="session")
def host(guest: Guest) -> Host:
    """The guest as root, in testinfra's words."""
    return guest.root


@pytest.fixture(scope="session")
def user(guest: Guest) -> Host:
    """The guest as the user that Parachute runs as."""
    return guest.user


@pytest.fixture(scope="session")
def image(guest: Guest) -> Image:
    """The image of agents, for all files whose agents run in containers."""
    return Image(guest)


@pytest.fixture(scope="module")
def spare() -> str:
    """No agent is kept ready."""
    return "false"


@pytest.fixture(scope="module")
def agents(user: Host, image: Image, spare: str) -> Iterator[Agents]:
    """A computer with a scripted model, and with the root of an image that can be built."""
    computer = Agents(user)
    with image.root():
        with computer.with_model(sandbox__limits="unavailable", sandbox__required="true", agents__spare=spare):
            yield computer
        left = computer.containers(), user.run("pgrep --exact conmon").stdout
        computer.run("podman rm --all --force --time=0; rm -rf ~/.parachute ~/Parachute")
    assert left == ([], "")


@pytest.fixture(scope="module")
def built(agents: Agents, image: Image) -> dict[str, Any]:
    """The output of `parachute sandbox build`; from now on the computer runs as services."""
    made = image.of(agents)
    agents.run("parachute service install")
    return made
