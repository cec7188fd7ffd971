"""The launcher that holds the sockets itself does what every launcher does."""

from tests.supervisor.launcher_contract import *  # noqa: F403 - the tests
