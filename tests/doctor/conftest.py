"""A machine directly below /tmp, because the path of a Unix socket has room for 107 characters."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.nursery import Nursery
from tests.cli.terminal import Terminal

from .machine import Machine


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A computer where all is well."""
    folder = Path(tempfile.mkdtemp(prefix="pdoc", dir="/tmp"))
    monkeypatch.setenv("HOME", str(folder))
    yield Machine(folder)
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Where quick processes come from."""
    found = Nursery()
    yield found
    found.close()


@pytest.fixture
def parachute(nursery: Nursery) -> Iterator[Terminal]:
    """The command, in a home where nothing was set yet."""
    folder = Path(tempfile.mkdtemp(prefix="pdoc", dir="/tmp"))
    yield Terminal(folder, nursery)
    shutil.rmtree(folder)
