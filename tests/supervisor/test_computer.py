"""The whole computer as real processes: what its parts do when one of them is killed, and what they show to others."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import httpx2
import pytest

from tests.conftest import needs_bubblewrap
from tests.support.computer import Computer, free_port
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI, text
from tests.support.waiting import still_running

pytestmark = pytest.mark.long

SECRET = "sk-ant-api03-real"


def supervise(home: Path, port: int, host: str = "127.0.0.1", **environment: str) -> subprocess.CompletedProcess[str]:
    """A supervisor that is expected to end by itself."""
    return subprocess.run(
        [sys.executable, "-m", "parachute.supervisor", "--host", host, "--port", str(port)],
        env={"HOME": str(home.parent), "PATH": os.environ["PATH"], "PARACHUTE_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=180,
    )


def chat(computer: Computer, message: str = "Hello") -> str:
    """The raw events of one message in a new session."""
    body = {"message": message, "sessionId": "new", "module": "chat"}
    return httpx2.post(f"{computer.url}/api/chat", json=body, timeout=180, **PLAIN).text


def open_connection(computer: Computer, name: str, folder: str) -> socket.socket:
    """Open a unit and connect to it, which starts it."""
    computer.ask_supervisor("open", unit=name)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(computer.home.run / folder))
    return connection


@needs_bubblewrap
def test_a_killed_supervisor_takes_everything_with_it_and_can_be_started_again(
    computer: Computer, api: MessagesAPI
) -> None:
    api.script(text("Hello."))
    assert '"done"' in chat(computer)
    with open_connection(computer, "direct", "direct/agent.sock"):
        computer.find_process("bwrap")
        computer.find_process("wrapper.py")
        computer.find_process("/runner.py")
        model = None
        if find_spec("xllamacpp"):
            model = open_connection(computer, "model", "model/model.sock")
            computer.find_process("parachute.llm.offline")
        family = computer.processes()
        assert len(family) >= 7
        os.kill(family[0].pid, signal.SIGKILL)
        assert not still_running(family)
        if model:
            model.close()
    assert computer.home.pid_file.read_text() != ""  # stale, and in nobody's way
    assert computer._process is not None
    computer._process.wait()
    computer.start()
    api.script(text("Hello again."))
    assert "Hello again." in chat(computer)


def test_requests_that_wait_while_core_is_down_are_answered_by_the_next(computer: Computer) -> None:
    core = computer.find_process("parachute.server")
    core.suspend()
    answers: list[int] = []

    def ask() -> None:
        with httpx2.Client(timeout=180, **PLAIN) as client:
            answers.append(client.get(f"{computer.url}/api/health").status_code)

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    computer.wait_until(lambda: _in_backlog(computer.port) >= 5, "five requests wait")
    core.kill()
    for thread in threads:
        thread.join()
    assert answers == [200] * 5
    assert computer.find_process("parachute.server").pid != core.pid


def _in_backlog(port: int) -> int:
    """Connections that nobody has accepted yet: the receive queue of a listening socket."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[1].endswith(f":{port:04X}"):
            return int(fields[4].partition(":")[2], 16)
    return 0


def test_a_second_supervisor_on_the_same_home_refuses(computer: Computer) -> None:
    done = supervise(computer.home.root, free_port())
    assert done.returncode == 1
    assert "running already" in done.stderr
    assert computer.ask_supervisor("status")["main_server_healthy"] is True


def test_credentials_are_in_no_environment_and_on_no_command_line(computer: Computer, api: MessagesAPI) -> None:
    api.script(text("Hello."))
    chat(computer)
    assert api.conversation[-1].headers["x-api-key"] == SECRET
    with open_connection(computer, "direct", "direct/agent.sock"):
        computer.find_process("/runner.py")
        family = computer.processes()
        assert len(family) >= 4
        for process in family:
            for name in ("environ", "cmdline"):
                try:
                    shown = Path(f"/proc/{process.pid}/{name}").read_bytes()
                except (FileNotFoundError, ProcessLookupError):
                    continue
                assert SECRET.encode() not in shown, (name, process)
                assert b"PARACHUTE_HOME" in shown or name == "cmdline" or b"PATH" in shown


@pytest.mark.skipif(
    os.getuid() == 0 and not Path("/usr/bin/python3").exists(), reason="needs a Python that other users may run"
)
def test_a_private_process_is_closed_to_others_of_its_user() -> None:
    """The kernel gives the files in /proc of such a process to root."""
    code = """
import os
from parachute.supervisor.credentials import keep_private
print(os.stat("/proc/self/environ").st_uid)
keep_private()
print(os.stat("/proc/self/environ").st_uid)
"""
    user = os.getuid() or 23_000
    who = {"user": user, "group": user, "extra_groups": []} if os.getuid() == 0 else {}
    done = subprocess.run(
        ["/usr/bin/python3" if who else sys.executable, "-c", code],
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        **who,  # type: ignore[call-overload]
    )
    assert done.stdout.split() == [str(user), "0"], done.stderr


def test_the_control_socket_stops_and_starts_core(computer: Computer) -> None:
    first = computer.find_process("parachute.server").pid
    computer.ask_supervisor("stop")
    summary = computer.ask_supervisor("status")
    assert (summary["main_server_healthy"], summary["main_server_status"]) == (False, "stopped")
    computer.ask_supervisor("start")
    second = computer.find_process("parachute.server").pid
    computer.ask_supervisor("restart")
    third = computer.find_process("parachute.server").pid
    assert len({first, second, third}) == 3
    assert httpx2.get(f"{computer.url}/api/health", timeout=60, **PLAIN).status_code == 200


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of trust with a short path."""
    with tempfile.TemporaryDirectory(prefix="ph-", dir="/tmp") as folder:
        yield Path(folder) / ".parachute"


def test_a_port_that_is_taken_is_a_sentence(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = supervise(home, port)
    assert done.returncode == 1
    assert f"Port {port} on 127.0.0.1 cannot be used" in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (home / "run/supervisor.sock").exists()


def test_a_home_whose_path_is_too_long_is_a_sentence(home: Path) -> None:
    done = supervise(home / ("x" * 60), free_port())
    assert done.returncode == 1
    assert "PARACHUTE_HOME" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("environment", [{}, {"LISTEN_FDS": "0"}, {"LISTEN_FDS": "x"}, {"LISTEN_FDS": "1"}])
def test_core_refuses_to_start_without_its_sockets(home: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "parachute.server"],
        env={"HOME": str(home.parent), "PATH": os.environ["PATH"], "PARACHUTE_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 1
    assert "started" in done.stderr
    assert "Traceback" not in done.stderr
