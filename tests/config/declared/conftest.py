"""The command in a home of its own with a declaration, and computers that have one."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.config.declared.file import VARIABLE
from tests.support.terminal import Terminal

from .declaring import DeclaredComputer, write


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting from the environment of the tests."""
    for name in list(os.environ):
        if name.upper().startswith("PARACHUTE_"):
            monkeypatch.delenv(name)


@pytest.fixture
def parachute(parachute: Terminal) -> Terminal:
    """The command, with a declaration that says nothing."""
    folder = Path(parachute.environment["HOME"])
    parachute.environment[VARIABLE] = str(write(folder / "declared.json"))
    return parachute


@pytest.fixture
def declared(parachute: Terminal) -> Path:
    """The file that the command reads."""
    return Path(parachute.environment[VARIABLE])


@pytest.fixture
def declaring() -> Iterator[DeclaredComputer]:
    """A computer with a declaration, not started yet."""
    made = DeclaredComputer()
    try:
        yield made
    finally:
        made.__exit__(None, None, None)
