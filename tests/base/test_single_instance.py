"""A lock file that tells whether its last holder was killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from parachute.base.single_instance import Taken, single_instance

pytestmark = pytest.mark.process

_HOLDING = """
import sys, time
from pathlib import Path
from parachute.base.single_instance import single_instance
with single_instance(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_one_at_a_time_and_the_next_learns_that_the_one_before_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", _HOLDING, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Taken) as taken, single_instance(path):
            pass
        assert taken.value.process == str(holder.pid)
        holder.send_signal(signal.SIGKILL)
    with single_instance(path) as was_cut_off:
        assert was_cut_off
        assert path.read_text() == f"{os.getpid()}\n"
    with single_instance(path) as was_cut_off:
        assert not was_cut_off


def test_an_error_is_no_cut_and_ctrl_c_is_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with pytest.raises(ValueError, match="mine"), single_instance(path):
        raise ValueError("mine")
    with single_instance(path) as was_cut_off:
        assert not was_cut_off
    with pytest.raises(KeyboardInterrupt), single_instance(path):
        raise KeyboardInterrupt
    with single_instance(path) as was_cut_off:
        assert was_cut_off
