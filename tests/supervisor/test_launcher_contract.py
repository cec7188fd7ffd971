"""The launcher that holds the sockets itself does what every launcher does."""

import pytest

from tests.supervisor.launcher_contract import *  # noqa: F403 - the tests

pytestmark = pytest.mark.long
