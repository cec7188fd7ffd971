"""The pid file: who holds it, and how one that does not answer is ended."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from parachute.config.settings.home import Home
from parachute.supervisor import pid_file
from tests.support.errors import raises
from tests.support.waiting import SECONDS, still_running

pytestmark = pytest.mark.process

HOLDS = """
import signal, subprocess, sys, time
from pathlib import Path
from parachute.config.settings.home import Home
from parachute.supervisor import pid_file
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with pid_file.held(Home(Path(sys.argv[1]))):
    for program in sys.argv[3:]:
        subprocess.Popen([sys.executable, "-c", program, sys.argv[1]], stdout=subprocess.PIPE).stdout.readline()
    print("held", flush=True)
    time.sleep(1000)
"""

SLOW = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), sys.exit()))
print(flush=True)
time.sleep(1000)
"""
DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(flush=True)
time.sleep(1000)
"""
ABANDONS = f"""
import subprocess, sys, time
started = subprocess.Popen([sys.executable, "-c", {SLOW!r}], stdout=subprocess.PIPE, start_new_session=True)
started.stdout.readline()
print(flush=True)
time.sleep(1000)
"""
ENDS = """
import sys, time
from pathlib import Path
from parachute.config.settings.home import Home
from parachute.supervisor import pid_file
home = Home(Path(sys.argv[1]))
print(flush=True)
while not (home.root / "now").exists():
    time.sleep(0.01)
pid_file.end(home, 60)
(home.root / "went on").touch()
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@contextmanager
def holding(home: Home, kind: str, *programs: str) -> Iterator["subprocess.Popen[str]"]:
    """A holder that hears signals or is deaf, and has started these programs."""
    command = [sys.executable, "-c", HOLDS, str(home.root), kind, *programs]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        family = psutil.Process(process.pid).children(recursive=True)
        try:
            yield process
        finally:
            process.kill()
            for each in family:
                with suppress(psutil.NoSuchProcess):
                    each.kill()


def lives(process: psutil.Process) -> bool:
    """True while it runs; nobody may have waited yet for one that has ended."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_without_a_holder_there_is_nothing_to_end(home: Home) -> None:
    assert not pid_file.is_running(home)
    assert pid_file.process(home) is None
    with pid_file.held(home):
        pass
    assert not pid_file.is_running(home)
    pid_file.end(home, 1)


@pytest.mark.parametrize("kind", ["hears", "deaf"])
def test_its_holder_is_ended_also_if_it_is_deaf(home: Home, kind: str) -> None:
    with holding(home, kind) as holder:
        assert pid_file.process(home) == holder.pid
        with raises("already_running"), pid_file.held(home):
            pass
        pid_file.end(home, 1)
        assert not pid_file.is_running(home)
        assert holder.wait(SECONDS) < 0


@pytest.mark.long
@pytest.mark.parametrize("kind", ["hears", "deaf"])
def test_what_its_holder_has_started_has_ended_as_well(home: Home, kind: str) -> None:
    with holding(home, kind, SLOW, DEAF, ABANDONS) as holder:
        family = psutil.Process(holder.pid).children(recursive=True)
        assert len(family) == 4
        pid_file.end(home, 2)
        assert not [each for each in family if lives(each)]


@pytest.mark.long
def test_who_was_started_by_the_holder_goes_on_and_nobody_else(home: Home) -> None:
    with holding(home, "hears", ENDS, SLOW) as holder:
        family = psutil.Process(holder.pid).children()
        (home.root / "now").touch()
        assert not still_running(family)
    assert (home.root / "went on").exists()
