"""A machine directly below /tmp, because the path of a Unix socket has room for 107 characters."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .machine import Machine


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A computer where all is well."""
    folder = Path(tempfile.mkdtemp(prefix="pdoc", dir="/tmp"))
    monkeypatch.setenv("HOME", str(folder))
    yield Machine(folder)
    shutil.rmtree(folder)
