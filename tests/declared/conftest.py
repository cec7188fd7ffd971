"""The command in a home of its own with a declaration, and computers that have one."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.declared.file import VARIABLE
from tests.cli.nursery import Nursery
from tests.cli.terminal import Terminal

from .declaring import DeclaredHousehold, write


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting from the environment of the tests."""
    for name in list(os.environ):
        if name.upper().startswith("PARACHUTE_"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Where quick processes come from."""
    found = Nursery()
    yield found
    found.close()


@pytest.fixture
def parachute(nursery: Nursery) -> Iterator[Terminal]:
    """The command, with a declaration that says nothing."""
    folder = Path(tempfile.mkdtemp(prefix="pdec", dir="/tmp"))
    terminal = Terminal(folder, nursery)
    terminal.environment[VARIABLE] = str(write(folder / "declared.json"))
    yield terminal
    shutil.rmtree(folder)


@pytest.fixture
def declared(parachute: Terminal) -> Path:
    """The file that the command reads."""
    return Path(parachute.environment[VARIABLE])


@pytest.fixture
def household() -> Iterator[DeclaredHousehold]:
    """A computer with a declaration, not started yet."""
    made = DeclaredHousehold()
    try:
        yield made
    finally:
        made.__exit__(None, None, None)
