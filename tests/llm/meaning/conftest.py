"""Folders whose paths are short enough for sockets."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def short_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="meaning-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)
