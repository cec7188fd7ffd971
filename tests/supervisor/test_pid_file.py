"""The pid file: who holds it, and how one that does not answer is ended."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.supervisor import pid_file

HOLDS = """
import signal, sys, time
from pathlib import Path
from parachute.config.settings.home import Home
from parachute.supervisor import pid_file
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with pid_file.held(Home(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(1000)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture(params=["hears", "deaf"])
def holder(home: Home, request: pytest.FixtureRequest) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", HOLDS, str(home.root), request.param]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_without_a_holder_there_is_nothing_to_end(home: Home) -> None:
    assert not pid_file.is_running(home)
    assert pid_file.process(home) is None
    with pid_file.held(home):
        pass
    assert not pid_file.is_running(home)
    pid_file.end(home, 1)


def test_its_holder_is_ended_also_if_it_is_deaf(home: Home, holder: "subprocess.Popen[str]") -> None:
    assert pid_file.process(home) == holder.pid
    with pytest.raises(ParachuteError, match="running already"), pid_file.held(home):
        pass
    pid_file.end(home, 1)
    assert not pid_file.is_running(home)
    assert holder.wait(10) < 0
