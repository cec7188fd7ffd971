"""One computer for all tests of a file."""

from collections.abc import Iterator

import pytest

from tests.modules.runtime.module_computer import ModuleComputer


@pytest.fixture(scope="module")
def computer() -> Iterator[ModuleComputer]:
    """A computer without modules."""
    with ModuleComputer() as running:
        yield running
