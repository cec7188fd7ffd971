"""A supervisor without core, which the tests of a file share; each test leaves no unit behind."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.supervisor.launching import Launcher, launcher


@pytest.fixture(scope="module")
def shared_launcher() -> Iterator[Launcher]:
    """The process of a file's tests."""
    with launcher() as running:
        yield running


@pytest.fixture
async def units(shared_launcher: Launcher) -> AsyncIterator[Launcher]:
    """The process, without any unit."""
    yield shared_launcher
    for unit in (await shared_launcher.ask("status"))["units"]:
        await shared_launcher.ask("close_unit", name=unit["name"])


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder in which a socket's path fits."""
    with tempfile.TemporaryDirectory(prefix="pr-", dir="/tmp") as folder:
        yield Path(folder)
