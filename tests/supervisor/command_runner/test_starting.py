"""Programs started through the unit `programs`: each runs there as it would have run here, and ends when core wants it to."""

import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import parachute_runner
import psutil
import pytest

from parachute.supervisor.command_runner import children
from parachute.supervisor.command_runner.starting import SERVER, SOCKET, outside
from tests.support.errors import raises
from tests.support.waiting import still_running

pytestmark = pytest.mark.process

_PASS_ON = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.execv(sys.argv[2], sys.argv[2:])"
FOLDER = str(Path(parachute_runner.__path__[0]).parent)


class Service:
    """The unit, as its socket would start it: `listener` is there before it, and keeps who comes meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "start.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()

    def start(self, idle_seconds: float, *python: str) -> None:
        """Start it, once; `python` are arguments in the place of its path."""
        with self.listener:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-ISc", _PASS_ON, str(self.listener.fileno())),
                    *(sys.executable, "-IS", *(python or (str(SERVER),)), FOLDER, str(idle_seconds)),
                ],
                env={"LISTEN_FDS": "1", "PATH": os.defpath, "OF_THE_SERVICE": "1"},
                pass_fds=(self.listener.fileno(),),
                cwd="/",
            )

    def programs(self) -> list[psutil.Process]:
        """All that it has started and that has not ended."""
        return psutil.Process(self.process.pid).children(recursive=True)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """The unit, and a process that starts its programs there: this one."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        running = Service(Path(folder))
        running.start(60)
        monkeypatch.setenv(SOCKET, str(running.path))
        try:
            yield running
        finally:
            running.process.kill()
            running.process.wait()


def shell(script: str, **options: object) -> "subprocess.CompletedProcess[str]":
    """A script that is run outside."""
    command = outside(["/bin/sh", "-c", script])
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def test_where_nothing_is_held_back_a_command_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SOCKET, raising=False)
    assert outside(("git", "--version")) == ["git", "--version"]


def test_streams_folder_environment_and_exit_code_are_the_programs(service: Service, tmp_path: Path) -> None:
    script = (
        "cat; pwd; echo $OF_CORE; echo ${OF_THE_SERVICE:-nothing} ${PARACHUTE_PROGRAMS:-nothing}; echo told >&2; exit 7"
    )
    done = shell(script, input="hello\n", cwd=tmp_path, env={"OF_CORE": "x", SOCKET: "y", "PATH": os.defpath})
    assert (done.returncode, done.stderr) == (7, "told\n")
    assert done.stdout.splitlines() == ["hello", str(tmp_path), "x", "nothing nothing"]


def test_it_is_the_services_child_and_not_ours(service: Service) -> None:
    done = shell("cut -d ' ' -f 4 /proc/$PPID/stat")
    assert done.stdout.strip() == str(service.process.pid)


def test_a_large_output_arrives_whole(service: Service) -> None:
    assert len(shell("head --bytes=3000000 /dev/zero | tr '\\0' x").stdout) == 3_000_000


def test_it_is_told_how_a_program_ended_or_that_there_is_none(service: Service, tmp_path: Path) -> None:
    assert shell("kill -9 $$").returncode == 128 + signal.SIGKILL
    assert subprocess.run(outside(["not-there"]), check=False).returncode == 127
    (tmp_path / "plain").write_text("text")
    done = subprocess.run(outside([str(tmp_path / "plain")]), check=False, capture_output=True, text=True)
    assert (done.returncode, "Permission denied" in done.stderr) == (126, True)


def test_whoever_is_ended_here_has_ended_there_with_all_it_started(service: Service) -> None:
    script = "setsid sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' & echo started; wait"
    standing_in = subprocess.Popen(outside(["/bin/sh", "-c", script]), stdout=subprocess.PIPE, text=True)
    assert standing_in.stdout is not None
    assert standing_in.stdout.readline() == "started\n"
    there = service.programs()
    assert len(there) > 2
    standing_in.kill()
    assert not still_running(there)
    assert standing_in.stdout.read() == ""
    standing_in.stdout.close()
    standing_in.wait()
    assert shell("echo again").stdout == "again\n"


def test_what_it_leaves_behind_is_ended_unless_it_may_leave_something(service: Service) -> None:
    script = "setsid sleep 1000 >/dev/null 2>&1 & echo $!"
    for leaves in (False, True):
        command = outside(["/bin/sh", "-c", script], leaves=leaves)
        left = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        assert psutil.pid_exists(left) is leaves
    psutil.Process(left).kill()


def test_the_service_ends_when_idle_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        running = Service(Path(folder))
        monkeypatch.setenv(SOCKET, str(running.path))
        # It has come before the service is there, which therefore cannot be idle before it has been served.
        with subprocess.Popen(outside(["sleep", "0.5"])) as asking:
            assert select.select([running.listener], [], [], 60)[0]
            running.start(0.1)
            assert asking.wait(60) == 0
        assert running.process.wait(60) == 0


def test_where_there_is_no_room_for_one_more_those_that_run_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second process of three cannot be made: root has no limit of its own that could be lowered for this."""
    script = f"""
import os, runpy
fork, answers = os.fork, [True, False, True]
def limited():
    if answers.pop(0):
        return fork()
    raise BlockingIOError(11, "Resource temporarily unavailable")
os.fork = limited
runpy.run_path({str(SERVER)!r}, run_name="__main__")
"""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        running = Service(Path(folder))
        running.start(60, "-c", script)
        monkeypatch.setenv(SOCKET, str(running.path))
        try:
            first = subprocess.Popen(outside(["cat"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert first.stdin is not None
            assert first.stdout is not None
            first.stdin.write("begun\n")
            first.stdin.flush()
            assert first.stdout.readline() == "begun\n"
            refused = shell("echo never")
            assert (refused.returncode, refused.stdout) == (69, "")
            assert shell("echo again").stdout == "again\n"
            assert first.communicate("end\n", timeout=60)[0] == "end\n"
            assert first.returncode == 0
        finally:
            running.process.kill()
            running.process.wait()


def test_without_the_service_nothing_runs_and_somebody_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SOCKET, str(tmp_path / "nobody"))
    done = shell("echo never")
    assert (done.returncode, done.stdout) == (69, "")
    assert done.stderr == "The command runner does not answer: No such file or directory\n"


@pytest.mark.usefixtures("service")
def test_git_and_pip_have_their_bounds_there_too(tmp_path: Path) -> None:
    variables = {"PATH": os.environ["PATH"]}

    def run(*program: str, largest: int = 1 << 20, seconds: float = 60) -> children.Finished:
        return children.run(list(program), folder=tmp_path, variables=variables, seconds=seconds, largest=largest)

    assert run("git", "--version").output.startswith("git version")
    with raises("program_missing", names="not-there"):
        run("not-there")
    with raises("too_large"):
        run("dd", "if=/dev/zero", "of=large", "bs=64k", "count=64", largest=100_000)
    with raises("too_slow", names="sleep"):
        run("sleep", "1000", seconds=0.3)
