"""One computer for all tests of a file."""

from collections.abc import Iterator

import pytest

from tests.modules.runtime.household import Household


@pytest.fixture(scope="module")
def household() -> Iterator[Household]:
    """A computer without modules."""
    with Household() as running:
        yield running
