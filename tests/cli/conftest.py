"""Fixtures of the tests of the command line."""

import pytest

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal


@pytest.fixture
def home(parachute: Terminal) -> Home:
    """The state directory of that command."""
    parachute.home.mkdir(mode=0o700)
    return Home(parachute.home)
