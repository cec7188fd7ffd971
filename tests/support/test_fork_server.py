"""Commands that run in forks of one process."""

import os
from pathlib import Path

import pytest

from tests.support.fork_server import ForkServer
from tests.support.waiting import SECONDS

pytestmark = pytest.mark.process


def test_a_command_that_takes_too_long_keeps_no_other_from_its_answer(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    forks = ForkServer()
    try:
        with pytest.raises(TimeoutError):
            forks.run(("no-such-command",), environment, str(tmp_path), "", 0.01)
        code, out, _ = forks.run(("--version",), environment, str(tmp_path), "", SECONDS)
        assert (code, out.startswith("parachute ")) == (0, True)
        assert forks.run(("no-such-command",), environment, str(tmp_path), "", SECONDS)[0] == 2
    finally:
        forks.close()
