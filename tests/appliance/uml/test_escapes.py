"""The table of attempts where limits are enforced and the kernel is its own, in a view that lies on a disk."""

import pytest
from testinfra.host import Host

from tests.appliance import test_container_escapes as tests
from tests.appliance.uml.guest import UmlGuest

planted = tests.planted


@pytest.fixture
def impossible() -> set[str]:
    """Attempts that fail on this system everywhere, also outside of a sandbox."""
    # Its files lie in no overlay.
    return tests.IMPOSSIBLE - {"open a file by its handle"}


@pytest.fixture
def host(agents_guest: UmlGuest) -> Host:
    """The guest that has the containers, as root."""
    return agents_guest.root


@pytest.fixture
def project_mount() -> str:
    """A view, as wherever a layer of one can lie."""
    return "view"


test_every_attempt = tests.test_every_attempt_is_refused_and_succeeds_outside
