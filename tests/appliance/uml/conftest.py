"""One booted guest with a kernel of its own for all tests of this folder, in the place of the other one."""

from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.uml.build import Machine, build, missing
from tests.appliance.uml.guest import UmlGuest


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
