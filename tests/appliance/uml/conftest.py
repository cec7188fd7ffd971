"""One booted guest with a kernel of its own for all tests of this folder, in the place of the other one."""

from collections.abc import Iterator
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.agent_root import SMALL, tarball
from tests.appliance.agents import TARBALL, Agents
from tests.appliance.uml.build import Machine, build, missing
from tests.appliance.uml.disk import Disk, File
from tests.appliance.uml.guest import UmlGuest
from tests.appliance.uml.powered import Powered


@pytest.fixture(scope="session")
def machine() -> Machine:
    """The kernel and its disk, built if need be."""
    if reason := missing():
        pytest.fail(reason, pytrace=False)
    return build()


@pytest.fixture(scope="session")
def guest(machine: Machine) -> Iterator[UmlGuest]:
    """The booted guest; tests clean up after themselves in it."""
    with UmlGuest(machine) as booted:
        yield booted


@pytest.fixture(scope="session")
def host(guest: UmlGuest) -> Host:
    """The guest as root, in testinfra's words."""
    return guest.root


@pytest.fixture(scope="session")
def user(guest: UmlGuest) -> Host:
    """The guest as the user that Parachute runs as."""
    return guest.user


@pytest.fixture(scope="session")
def agents_guest(machine: Machine) -> Iterator[UmlGuest]:
    """A guest for containers alone, which has a further disk: the root of the agents' image."""
    with File(machine, "agent") as disk:
        disk.path.hardlink_to(tarball(SMALL))
        with UmlGuest(machine, (f"ubd2r={disk.inside}",)) as booted:
            booted.root.check_output(f"cat /dev/ubdc > {TARBALL}; chmod 644 {TARBALL}")
            yield booted


@pytest.fixture(scope="session")
def built(agents_guest: UmlGuest) -> dict[str, Any]:
    """The output of `parachute sandbox build`."""
    return Agents(agents_guest.user).build()


@pytest.fixture(scope="session")
def agents(agents_guest: UmlGuest, built: dict[str, Any]) -> Iterator[Agents]:
    """A computer that runs as services, with a scripted model."""
    computer = Agents(agents_guest.user)
    with computer.with_model():
        computer.run("parachute service install")
        yield computer


@pytest.fixture(scope="session")
def installed(machine: Machine) -> Iterator[Powered]:
    """A computer with the three modules, on a disk that stays; for all tests that cut its power."""
    with Disk(machine) as disk:
        powered = Powered(machine, disk)
        try:
            powered.on("parachute service install && parachute setup --yes")
            yield powered
        finally:
            powered.close()


@pytest.fixture
def powered(installed: Powered) -> Powered:
    """The same, after a boot if a test before has left it without power."""
    if not installed.is_on:
        installed.on()
    return installed
