"""An authority in a folder, made by the real program."""

import functools
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

Make = Callable[..., subprocess.CompletedProcess[str]]


def program(home: Path, *hostnames: str, **fields: Any) -> subprocess.CompletedProcess[str]:
    """Run the program that makes certificates, as the server does."""
    request = {
        "home": str(home),
        "hostnames": list(hostnames),
        "own": [],
        "now": datetime.now(UTC).timestamp(),
        **fields,
    }
    command = [sys.executable, "-m", "parachute.web.tls.issuing", json.dumps(request)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """The same in a folder of this test."""
    return functools.partial(program, tmp_path)
