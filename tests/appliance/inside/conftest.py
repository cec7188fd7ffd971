"""Tests that change the units of the user manager: nothing outside of a guest runs them."""

from pathlib import Path

from tests.appliance.recipe import SOURCE, TREE


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave them out where this tree is not the guest's."""
    return None if Path(SOURCE) == TREE else True
