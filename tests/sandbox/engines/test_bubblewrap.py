"""Sandboxes of bubblewrap: their limits, their end, and what works in them; `test_escapes` has what must not."""

import os
import resource
import subprocess
import uuid
from pathlib import Path

import psutil
import pytest

from parachute.sandbox.engines import bubblewrap
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.sandbox.engines.sandboxes import marker
from tests.supervisor.launching import with_argument
from tests.support.waiting import still_running, wait_until

pytestmark = [needs_bubblewrap, pytest.mark.process]


async def test_memory_file_systems_have_their_sizes(sandboxes: SandboxFactory) -> None:
    sandbox = await sandboxes.make()
    session = sandbox.unit.partition("@")[2]
    fill = "head -c {}M /dev/zero > {}/fill; echo $?; wc -c < {}/fill; rm {}/fill"
    for folder, megabytes in ((f"/scratch/{session}", 16), ("/run", 16), ("/dev/shm", 64), ("/tmp", 256)):
        code, size = sandbox.shell(fill.format(megabytes + 1, folder, folder, folder)).split()
        assert code != "0", folder
        assert (megabytes - 1) << 20 < int(size) <= megabytes << 20, folder


async def test_who_and_where_an_agent_is_and_its_limits(sandboxes: SandboxFactory) -> None:
    sandbox = await sandboxes.make()
    assert sandbox.shell("id -u; id -un; id -gn; cat /proc/sys/kernel/hostname") == "1000\nagent\nagent\nparachute\n"
    code = """
import json, resource
names = ("CORE", "NOFILE", "FSIZE", "NPROC")
print(json.dumps({name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names}))
"""
    found = sandbox.python(code)
    assert found["CORE"] == [0, 0]
    assert found["NOFILE"][1] <= 10_000
    assert found["FSIZE"] == [4 << 30, 4 << 30]
    assert found["NPROC"] == [1024, 1024]
    assert resource.getrlimit(resource.RLIMIT_NPROC)[1] != 1024


@pytest.mark.long
async def test_a_fork_bomb_ends_with_the_connection(sandboxes: SandboxFactory) -> None:
    sandbox, mark = await sandboxes.make(), marker()
    # Bounded by itself too: root's processes are exempt from the limit, and tests may run as root.
    script = f"echo started; i=0; while [ $i -lt 1500 ]; do i=$((i+1)); setsid sleep {mark} & done; wait"
    with sandbox.start("sh", "-c", script) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        wait_until(lambda: len(with_argument(mark)) > 300, "there are many")
        process.kill()
        process.communicate()
    wait_until(lambda: not with_argument(mark), "all are gone")
    assert sandbox.shell("echo again") == "again\n"


async def test_an_agent_that_kills_all_it_can_reaches_no_other_sandbox(sandboxes: SandboxFactory) -> None:
    sandbox, other = await sandboxes.make(), await sandboxes.make()
    with other.start("cat") as process:
        sandbox.run("sh", "-c", "kill -9 -1")
        output, _ = process.communicate(b"alive")
        assert output == b"alive"


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to run as somebody whom the limit binds")
def test_the_limit_of_processes_counts_those_of_the_sandbox_only() -> None:
    """For a user who is not root: with more processes outside than the limit, inside begins at nought."""
    user = 23_000 + os.getpid() % 1000
    who = {"user": user, "group": user, "extra_groups": []}
    crowd = [subprocess.Popen(["sleep", "600"], **who) for _ in range(30)]  # type: ignore[call-overload]
    fork = "ulimit -u 20; i=0; while [ $i -lt {} ]; do i=$((i+1)); sleep 600 & done; echo through >&2; wait"
    sandbox = ["bwrap", *bubblewrap.ISOLATION, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--"]
    said = []
    try:
        for number in (1, 25):
            command = [*sandbox, "/bin/bash", "-c", fork.format(number)]
            with subprocess.Popen(command, stderr=subprocess.PIPE, **who) as process:  # type: ignore[call-overload]
                said.append(process.stderr.readline())
                process.kill()
    finally:
        for process in crowd:
            process.kill()
            process.wait()
    assert said[0] == b"through\n"
    assert b"Resource temporarily unavailable" in said[1]


async def test_the_usual_programs_work(sandboxes: SandboxFactory, sandbox_programs: dict[str, str]) -> None:
    sandbox = await sandboxes.make()
    for name, script in sandbox_programs.items():
        assert sandbox.shell(script).strip().endswith("works"), name


@pytest.fixture
def sandbox_programs() -> dict[str, str]:
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


async def test_closing_a_sandbox_ends_all_of_it(sandboxes: SandboxFactory) -> None:
    session, mark = str(uuid.uuid4()), marker()
    sandbox = await sandboxes.make(session=session)
    with sandbox.start("sh", "-c", f"(setsid sleep {mark} &); echo started; sleep {mark}") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        await sandboxes.service.opened.close(session)
        assert process.wait(60) == 70
        process.communicate()
    # The kernel ends what is left in the sandbox, and takes a moment where many others want the processor.
    assert not still_running(with_argument(mark))
    assert not sandbox.socket.exists()
    assert not (sandboxes.launcher.home.sandboxes / f"{session}.json").exists()
    assert not still_running(psutil.Process(sandboxes.launcher.process.pid).children())
