"""One server or one computer for all tests of a file."""

from collections.abc import Iterator

import pytest

from tests.modules.runtime.module_computer import ModuleComputer, ModuleServer


@pytest.fixture(scope="module")
def server() -> Iterator[ModuleServer]:
    """A server without modules."""
    with ModuleServer() as running:
        yield running


@pytest.fixture(scope="module")
def computer() -> Iterator[ModuleComputer]:
    """A computer without modules."""
    with ModuleComputer() as running:
        yield running
