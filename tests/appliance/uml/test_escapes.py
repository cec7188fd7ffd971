"""The table of attempts, and what else an agent might try, where limits are enforced and the kernel is its own."""

import pytest
from testinfra.host import Host

from tests.appliance import test_escapes as tests
from tests.appliance.uml.guest import UmlGuest

planted = tests.planted
project_mount = tests.project_mount


@pytest.fixture
def impossible() -> set[str]:
    """Attempts that fail on this system everywhere, also outside of a sandbox."""
    # Its files lie in no overlay.
    return tests.IMPOSSIBLE - {"open a file by its handle"}


@pytest.fixture
def host(agents_guest: UmlGuest) -> Host:
    """The guest that has the containers, as root."""
    return agents_guest.root


test_every_attempt = tests.test_every_attempt_is_refused_and_succeeds_outside
test_what_runs_later = tests.test_what_runs_later_outside_cannot_be_written
test_the_models_socket = tests.test_the_models_socket_is_for_answers_only
test_another_installation = tests.test_containers_of_another_installation_are_left_alone
test_nothing_outlives = tests.test_nothing_outlives_a_turn_that_was_stopped
