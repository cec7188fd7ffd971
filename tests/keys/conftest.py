from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.keys.service import Keys


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "trust"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def keys(home: Path) -> Iterator[Keys]:
    made = Keys(home)
    yield made
    made.close()
