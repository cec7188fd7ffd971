"""Memory that a process frees is not kept for ever."""

import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

# Threads that need memory one after the other, as those do in which a module reads its files.
PROGRAM = """
import sys, threading
from pathlib import Path
if sys.argv[1] == "little":
    from parachute.base.memory import keep_little
    keep_little()
turn, together = threading.Lock(), threading.Barrier(8)
def work():
    with turn:
        pieces = [bytes(600) for _ in range(4_000)]  # larger than what Python takes from its own pools
        pieces.clear()
    together.wait()
    together.wait()
for _ in range(7):
    threading.Thread(target=work, daemon=True).start()
together.wait()
lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
print(next(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:")))
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="Other C libraries keep less, and have no such parameters."
)
def test_threads_share_what_one_of_them_has_freed() -> None:
    kept = {
        how: int(subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, check=True).stdout)
        for how in ("default", "little")
    }
    assert kept["little"] < kept["default"] - 4_000, kept
