"""Missing resources of the machine end a program with a sentence, never with a traceback."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from parachute.base.disk_errors import machine_error
from parachute.config.settings.home import Home
from tests.support.computer import free_port

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("error", "key"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/x"), "disk_full"),
        (OSError(errno.EMFILE, "Too many open files"), "machine"),
        (RuntimeError("can't start new thread"), "no_memory"),
        (MemoryError(), "no_memory"),
        (RuntimeError("dictionary changed size during iteration"), None),
    ],
)
def test_only_the_machine_is_named_as_a_reason(error: Exception, key: str | None) -> None:
    known = machine_error(error)
    assert (known and known.key) == key


def test_a_supervisor_without_its_socket_says_so(short_path: Path) -> None:
    home = Home(short_path / ".parachute")
    home.control_socket.mkdir(exist_ok=True)
    home.root.chmod(0o700)
    ended = subprocess.run(
        [sys.executable, "-m", "parachute.supervisor", "--host", "127.0.0.1", "--port", str(free_port())],
        env={"PATH": os.environ["PATH"], "HOME": str(short_path), "PARACHUTE_HOME": str(home.root)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert str(home.control_socket) in ended.stderr
