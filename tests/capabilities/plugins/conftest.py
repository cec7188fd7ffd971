"""Plugins of a computer that does not run."""

from pathlib import Path

import pytest

from tests.capabilities.plugins.building import Installation, repository
from tests.modules.registry.building import Repository


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """A computer without plugins."""
    return Installation(tmp_path)


@pytest.fixture
def demo(tmp_path: Path) -> Repository:
    """The repository of a plugin with every kind of part."""
    return repository(tmp_path / "demo-plugin")
