"""A state directory and its keys, for tests that need no more of a computer; a `conftest.py` names what it takes from here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.security.keys.service import Keys


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The state directory."""
    folder = tmp_path / "trust"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def keys(home: Path) -> Iterator[Keys]:
    """Its keys, of which there are none yet."""
    made = Keys(home)
    yield made
    made.close()
