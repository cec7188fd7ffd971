"""One server or one computer for all tests of a file."""

import pytest

from tests.modules.runtime.module_computer import ModuleComputer, ModuleServer
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.server import Server


@pytest.fixture(scope="module")
def server(make_shared_server: Make[Server]) -> ModuleServer:
    """A server without modules."""
    return make_shared_server(ModuleServer)


@pytest.fixture(scope="module")
def shared_computer(make_shared_computer: Make[Computer]) -> ModuleComputer:
    """A computer without modules."""
    return make_shared_computer(ModuleComputer)
