"""Runs a program that ends with the one that started it: `python -m parachute.modules.child PARENT BYTES PROGRAM...`.

An installation that is killed must not leave a download behind that goes on writing; neither may what git starts itself.
"""

import os
import resource
import signal
import subprocess
import sys
from typing import NoReturn

from parachute_runner import processes

NOT_FOUND = 127


def main() -> NoReturn:
    """Set the limits, run the program and exit as it does; no file that it writes may be larger than BYTES."""
    parent, limit, *program = sys.argv[1:]
    signal.signal(signal.SIGTERM, _end)
    processes.adopt_orphans()
    processes.end_with_parent(signal.SIGTERM)
    if os.getppid() != int(parent):
        sys.exit(1)  # it ended before we asked to be told
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    # Python ignores SIGXFSZ, and so do our children: a write that is too large fails with a message then.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        code = subprocess.Popen(program, restore_signals=False).wait()
    except FileNotFoundError:
        code = NOT_FOUND
    finally:
        processes.end_all(whole_namespace=False)
    # As a shell says it.
    sys.exit(code if code >= 0 else 128 - code)


def _end(*_: object) -> NoReturn:
    # A parent with threads is told of once for each of them: the second time must not interrupt what the first began.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


if __name__ == "__main__":
    main()
