"""A process and all below it: none is taken for another one that has its number later."""

import os
import shutil
import subprocess
import sys

import pytest
from parachute_runner import processes

from parachute.supervisor.children.process_tree import listed

pytestmark = pytest.mark.process

USED_AGAIN = """
import subprocess, sys, time
from pathlib import Path
from parachute.supervisor.children.process_tree import ProcessTree

first = subprocess.Popen(["sleep", "1000"])
tree = ProcessTree(first.pid)
first.kill()
first.wait()
time.sleep(0.05)  # the kernel counts when a process began in hundredths of a second
Path("/proc/sys/kernel/ns_last_pid").write_text(str(first.pid - 1))
second = subprocess.Popen(["sleep", "1000"])
assert second.pid == first.pid
assert tree.end(60) == []
assert second.poll() is None
print("lives")
"""


def test_who_has_a_number_later_is_not_ended() -> None:
    namespace = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if shutil.which("unshare") is None or subprocess.run([*namespace, "true"], capture_output=True).returncode:
        pytest.skip("no namespace of processes can be made here")
    ended = subprocess.run([*namespace, sys.executable, "-c", USED_AGAIN], capture_output=True, text=True)
    assert ended.stdout == "lives\n", ended.stderr


@pytest.mark.skipif(shutil.which("ps") is None, reason="needs the program ps")
def test_without_proc_ps_says_the_same() -> None:
    zombie = subprocess.Popen(["true"])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    found, known = listed(), processes.living()
    for process in (os.getpid(), os.getppid()):
        assert found[process][0] == known[process][0]
    assert zombie.pid not in found
    assert zombie.pid not in known
    zombie.wait()
