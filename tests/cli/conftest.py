"""What the tests of the command line share."""

import pytest

from parachute.settings.home import Home
from tests.support.terminal import Terminal


@pytest.fixture
def home(parachute: Terminal) -> Home:
    """The folder of trust of that command."""
    parachute.home.mkdir(mode=0o700)
    return Home(parachute.home)
