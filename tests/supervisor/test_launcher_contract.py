"""The launcher that holds the sockets itself does what every launcher does."""

from collections.abc import Iterator

import pytest

from tests.supervisor.launcher_contract import *  # noqa: F403 - the tests
from tests.supervisor.launching import Launcher, launcher


@pytest.fixture
def units() -> Iterator[Launcher]:
    """A supervisor without core."""
    with launcher("process") as running:
        yield running
