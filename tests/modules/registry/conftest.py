"""A home and a vault without any module."""

from pathlib import Path

import pytest

from parachute.config.settings.home import Home
from parachute.modules.registry.service import Modules
from parachute.modules.trees.models import Limits

from .building import write_module
from .steps import install


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A folder of trust."""
    (tmp_path / "home").mkdir(mode=0o700)
    return Home(tmp_path / "home")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault."""
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


@pytest.fixture
def modules(home: Home, vault: Path) -> Modules:
    """The modules of that computer."""
    return Modules(home, vault, Limits(wait_seconds=0))


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which pip finds packages."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with a module."""
    return write_module(tmp_path / "source")


@pytest.fixture
def hello(modules: Modules, source: Path) -> Path:
    """The folder in the vault of the installed module `hello`."""
    install(modules, source)
    return modules.places.source("hello")
