"""Plugins of a computer that does not run."""

import copy
import shutil
from pathlib import Path

import pytest

from tests.capabilities.plugins.building import Installation, repository
from tests.modules.registry.building import Repository


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """A computer without plugins."""
    return Installation(tmp_path)


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The repository of a plugin with every kind of part, which no test changes."""
    return repository(tmp_path_factory.mktemp("plugins") / "demo-plugin")


@pytest.fixture
def demo(original: Repository, tmp_path: Path) -> Repository:
    """A copy of that repository."""
    made = copy.copy(original)
    made.folder = shutil.copytree(original.folder, tmp_path / "demo-plugin")
    return made


@pytest.fixture(scope="session")
def home_with_demo(original: Repository, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of a computer on which that plugin was installed, and its texts approved."""
    made = Installation(tmp_path_factory.mktemp("installed"))
    made.install(original.url)
    return made.home.root


@pytest.fixture
def with_demo(home_with_demo: Path, installation: Installation) -> Installation:
    """A computer with that plugin: an installation runs git four times, a copy of one never."""
    shutil.copytree(home_with_demo, installation.home.root, dirs_exist_ok=True)
    return installation
