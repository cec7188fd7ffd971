"""A home with a short path, because the path of a Unix socket has room for 107 characters."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.settings.home import Home

from .nursery import Nursery
from .terminal import Terminal


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Where quick processes come from."""
    found = Nursery()
    yield found
    found.close()


@pytest.fixture
def parachute(nursery: Nursery) -> Iterator[Terminal]:
    """The command, in a home where nothing was set yet."""
    folder = Path(tempfile.mkdtemp(prefix="pcli", dir="/tmp"))
    yield Terminal(folder, nursery)
    shutil.rmtree(folder)


@pytest.fixture
def home(parachute: Terminal) -> Home:
    """The folder of trust of that command."""
    parachute.home.mkdir(mode=0o700)
    return Home(parachute.home)
