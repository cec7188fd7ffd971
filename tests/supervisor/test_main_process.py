"""Notice of a process to systemd, which then looks for its parent again; the appliance tests that it waits for it."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from parachute.supervisor.systemd.main_process import ANNOUNCED

pytestmark = pytest.mark.process

PROGRAM = """
import os, sys
from parachute.supervisor.systemd.main_process import announce
announce(os.environ)
print(os.getpid(), "PARACHUTE_ANNOUNCED_MAIN_PROCESS" in os.environ, len(os.listdir("/proc/self/fd")), flush=True)
"""


def process_of(descriptor: int) -> int:
    """The process that a descriptor of one means; -1 when it has ended."""
    lines = Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("Pid:")))


def started(environment: dict[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
    )


def test_it_names_another_process_then_itself_and_waits_until_both_were_read(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
        notified.bind(str(tmp_path / "notify"))
        notified.settimeout(60)
        process = started({"NOTIFY_SOCKET": str(tmp_path / "notify"), ANNOUNCED: "1"})
        said = []
        for _ in range(3):
            message, (descriptor,), _, _ = socket.recv_fds(notified, 100, 2)
            said.append((message, descriptor))
        assert [message for message, _ in said] == [b"MAINPIDFD=1", b"MAINPIDFD=1", b"BARRIER=1"]
        other, own = (process_of(descriptor) for _, descriptor in said[:2])
        assert own == process.pid
        assert int(Path(f"/proc/{other}/stat").read_text().rsplit(")", 1)[1].split()[1]) == process.pid
        assert process.poll() is None, "it waits"
        for _, descriptor in said:
            os.close(descriptor)
        text, _ = process.communicate(timeout=60)
    assert text == f"{process.pid} False 4\n", (
        "nothing of it is left: the standard streams, and the folder that was listed"
    )
    assert not Path(f"/proc/{other}").exists()


def test_nobody_is_told_where_the_unit_does_not_ask_for_it(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
        notified.bind(str(tmp_path / "notify"))
        notified.setblocking(False)
        text, _ = started({"NOTIFY_SOCKET": str(tmp_path / "notify")}).communicate(timeout=60)
        assert text.split()[1:] == ["False", "4"]
        with pytest.raises(BlockingIOError):
            notified.recv(100)
    text, _ = started({ANNOUNCED: "1"}).communicate(timeout=60)
    assert text.split()[1:] == ["False", "4"]
