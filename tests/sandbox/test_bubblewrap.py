"""Attempts to get out of a box, each beside the proof that the same attempt succeeds outside."""

import os
import resource
import socket
import subprocess
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from parachute.sandbox import bubblewrap
from tests.sandbox.boxes import marker, outside
from tests.sandbox.conftest import Boxes, needs_bubblewrap
from tests.supervisor.launching import wait_until, with_argument

pytestmark = needs_bubblewrap

CONNECT = """
import json, socket, sys
kind, address = sys.argv[1:]
family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
connection = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
connection.settimeout(5)
try:
    if kind == "unix":
        connection.connect(address.replace("@", "\\0"))
    else:
        connection.connect(("127.0.0.1", int(address)))
    connection.send(b"x")
    print(json.dumps(connection.recv(1) == b"y"))
except OSError:
    print("false")
"""

OPEN = """
import json, os, sys
found = {}
for path in sys.argv[1:]:
    try:
        os.close(os.open(path, os.O_WRONLY))
        found[path] = "open"
    except OSError as error:
        found[path] = error.strerror
print(json.dumps(found))
"""


@pytest.fixture
def host_services() -> Iterator[dict[str, str]]:
    """Services of this machine on TCP, UDP and an abstract Unix socket, each answering y."""
    tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(type=socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    name = f"parachute-{marker()}"
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(f"\0{name}")
    unix.listen()

    def stream(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(1)
                connection.send(b"y")

    def datagrams() -> None:
        while True:
            data, sender = udp.recvfrom(1)
            if data == b"!":
                return
            udp.sendto(b"y", sender)

    threads = [threading.Thread(target=stream, args=(listener,)) for listener in (tcp, unix)]
    threads.append(threading.Thread(target=datagrams))
    for thread in threads:
        thread.start()
    yield {"tcp": str(tcp.getsockname()[1]), "udp": str(udp.getsockname()[1]), "unix": f"@{name}"}
    for listener in (tcp, unix):
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
    with socket.socket(type=socket.SOCK_DGRAM) as stopper:
        stopper.sendto(b"!", udp.getsockname())
    for thread in threads:
        thread.join()
    udp.close()


async def test_no_network_and_no_abstract_socket_of_the_machine(boxes: Boxes, host_services: dict[str, str]) -> None:
    box = await boxes.make()
    for kind, address in host_services.items():
        assert outside(CONNECT, kind, address) is True
        assert box.python(CONNECT, kind, address) is False
    assert box.shell("cat /proc/net/dev").count(":") == 1  # its own loopback
    assert box.shell("cat /proc/net/route").count("\n") == 1


async def test_processes_of_the_machine_are_invisible_and_out_of_reach(boxes: Boxes) -> None:
    box = await boxes.make()
    pids = "import json, os; print(json.dumps([int(name) for name in os.listdir('/proc') if name.isdigit()]))"
    assert os.getpid() in outside(pids)
    assert max(box.python(pids)) < 100
    with subprocess.Popen(["sleep", "60"]) as victim:
        box.run("sh", "-c", f"kill -9 {victim.pid}; kill -9 -- -1; true")
        assert victim.poll() is None
        victim.kill()
    assert box.shell("hostname 2>/dev/null || cat /proc/sys/kernel/hostname") == "parachute\n"


async def test_the_environment_of_the_machine_is_invisible(boxes: Boxes) -> None:
    box = await boxes.make()
    environ = Path(f"/proc/{boxes.launcher.process.pid}/environ").read_bytes()
    assert b"host-environment" in environ
    found = box.shell("cat /proc/*/environ 2>/dev/null; true")
    assert "HOME=/home/agent" in found
    assert "host-environment" not in found
    assert str(boxes.launcher.folder) not in found


async def test_no_descriptor_leads_outside(boxes: Boxes) -> None:
    box = await boxes.make(boxes.vault.root / "Projects/one")
    code = """
import json, os
found = []
for process in os.listdir("/proc"):
    if process.isdigit():
        try:
            for number in os.listdir(f"/proc/{process}/fd"):
                found.append(os.readlink(f"/proc/{process}/fd/{number}"))
        except OSError:
            pass
print(json.dumps(found))
"""
    assert outside(code)
    found = box.python(code)
    assert any(name.startswith("pipe:") for name in found)
    assert all(name.startswith(("pipe:", "/dev/null", "/proc/")) for name in found), found
    assert box.run("sh", "-c", "cat /proc/1/fd/2 || echo x > /proc/1/fd/2").returncode != 0


async def test_the_root_is_read_only_and_has_no_devices(boxes: Boxes) -> None:
    box = await boxes.make()
    for folder in ("/", "/usr", "/etc", "/home", "/opt/parachute", "/scratch", "/dev", "/vault", "/lib", "/bin"):
        assert box.run("sh", "-c", f"echo x > {folder}/file").returncode != 0, folder
    devices = box.shell("find /dev -type c -o -type b | sort").split()
    harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts/ptmx", "console"}
    assert {device.removeprefix("/dev/") for device in devices} <= harmless
    assert box.run("mknod", "/tmp/disk", "b", "8", "0").returncode != 0


async def test_no_privileges_can_be_gained(boxes: Boxes) -> None:
    box = await boxes.make()
    status = dict(line.split(":\t", 1) for line in box.shell("cat /proc/self/status").splitlines() if ":\t" in line)
    assert status["NoNewPrivs"] == "1"
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[kind], 16) == 0
    assert box.shell("id -u; id -un; id -gn") == "1000\nagent\nagent\n"
    for attempt in ("unshare -U true", "unshare -rm true", "unshare -n true", "mount -t tmpfs x /tmp", "chroot / true"):
        assert box.run("sh", "-c", attempt).returncode != 0, attempt


async def test_settings_of_the_kernel_cannot_be_changed(boxes: Boxes) -> None:
    box = await boxes.make()
    paths = [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/vm/swappiness",
        "/proc/sysrq-trigger",
        "/proc/irq",
        "/proc/kmsg",
    ]
    found = box.python(OPEN, *paths, "/dev/null")
    assert found.pop("/dev/null") == "open"
    assert "open" not in found.values()


async def test_memory_file_systems_have_their_sizes(boxes: Boxes) -> None:
    box = await boxes.make()
    session = box.unit.partition("@")[2]
    fill = "head -c {}M /dev/zero > {}/fill; echo $?; wc -c < {}/fill; rm {}/fill"
    for folder, megabytes in ((f"/scratch/{session}", 16), ("/run", 16), ("/dev/shm", 64), ("/tmp", 256)):
        code, size = box.shell(fill.format(megabytes + 1, folder, folder, folder)).split()
        assert code != "0", folder
        assert (megabytes - 1) << 20 < int(size) <= megabytes << 20, folder


async def test_limits_of_the_agent(boxes: Boxes) -> None:
    box = await boxes.make()
    code = """
import json, resource
names = ("CORE", "NOFILE", "FSIZE", "NPROC")
print(json.dumps({name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names}))
"""
    found = box.python(code)
    assert found["CORE"] == [0, 0]
    assert found["NOFILE"][1] <= 10_000
    assert found["FSIZE"] == [4 << 30, 4 << 30]
    assert found["NPROC"] == [1024, 1024]
    assert resource.getrlimit(resource.RLIMIT_NPROC)[1] != 1024


async def test_a_fork_bomb_ends_with_the_connection(boxes: Boxes) -> None:
    box, mark = await boxes.make(), marker()
    # Bounded by itself too: root's processes are exempt from the limit, and tests may run as root.
    script = f"echo started; i=0; while [ $i -lt 1500 ]; do i=$((i+1)); setsid sleep {mark} & done; wait"
    with box.start("sh", "-c", script) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        wait_until(lambda: len(with_argument(mark)) > 300, "there are many")
        process.kill()
        process.communicate()
    wait_until(lambda: not with_argument(mark), "all are gone", 30)
    assert box.shell("echo again") == "again\n"


async def test_an_agent_that_kills_all_it_can_reaches_no_other_box(boxes: Boxes) -> None:
    box, other = await boxes.make(), await boxes.make()
    with other.start("cat") as process:
        box.run("sh", "-c", "kill -9 -1")
        output, _ = process.communicate(b"alive")
        assert output == b"alive"


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to run as somebody whom the limit binds")
def test_the_limit_of_processes_counts_those_of_the_box_only() -> None:
    """For a user who is not root: with more processes outside than the limit, inside begins at nought."""
    user = 23_000 + os.getpid() % 1000
    who = {"user": user, "group": user, "extra_groups": []}
    crowd = [subprocess.Popen(["sleep", "60"], **who) for _ in range(30)]  # type: ignore[call-overload]
    count = "ulimit -u 20; i=0; while [ $i -lt 25 ]; do i=$((i+1)); sleep 1 & done; wait; echo through"
    try:
        box = [
            "bwrap",
            *bubblewrap.ISOLATION,
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--",
            "/bin/bash",
            "-c",
        ]
        few = subprocess.run([*box, "ulimit -u 20; sleep 0 & wait; echo through"], capture_output=True, **who)  # type: ignore[call-overload]
        many = subprocess.run([*box, count], capture_output=True, **who)  # type: ignore[call-overload]
    finally:
        for process in crowd:
            process.kill()
            process.wait()
    assert b"unavailable" not in few.stderr
    assert few.stdout == b"through\n"
    assert b"Resource temporarily unavailable" in many.stderr


async def test_the_usual_programs_work(boxes: Boxes, box_programs: dict[str, str]) -> None:
    box = await boxes.make()
    for name, script in box_programs.items():
        assert box.shell(script).strip().endswith("works"), name


@pytest.fixture
def box_programs() -> dict[str, str]:
    """Scripts for the programs that this machine has in its system folders."""
    scripts = {
        "git": "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --format=tformat:works",
        "python3": "python3 -c 'import getpass, ssl, multiprocessing as m; m.Lock(); getpass.getuser(); print(\"works\")'",
        "node": 'node -e \'require("os").userInfo(); console.log("works")\'',
        "bash": "bash -c 'cat <(echo works)'",
    }
    return {name: script for name, script in scripts.items() if Path(f"/usr/bin/{name}").exists()}


def test_why_bubblewrap_cannot_be_used_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bubblewrap.unavailable() is None
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert "Permission denied" in (bubblewrap.unavailable() or "")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert bubblewrap.unavailable() == "bubblewrap is not installed."


async def test_closing_a_box_ends_all_of_it(boxes: Boxes) -> None:
    session, mark = str(uuid.uuid4()), marker()
    box = await boxes.make(session=session)
    with box.start("sh", "-c", f"(setsid sleep {mark} &); echo started; sleep {mark}") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        await boxes.sandboxes.close(session)
        assert process.wait(20) == 70
        process.communicate()
    assert not with_argument(mark)
    assert not box.socket.exists()
    assert not (boxes.launcher.home.sandboxes / f"{session}.json").exists()
    assert psutil.Process(boxes.launcher.process.pid).children() == []
