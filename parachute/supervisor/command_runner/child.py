"""The owner of one program: whatever the program started is ended with it, and it ends with the process that waits for it.

    child.py FOLDER PARENT BYTES PROGRAM [ARGUMENT...]

FOLDER holds the package parachute_runner, PARENT is the process that waits, and no file that the program writes may be larger
than BYTES (-1: any). The exit code is the program's, 128 and the number of the signal that ended it, 127 when it is not there,
126 when it cannot be started. An installation that is killed must not leave a download behind that goes on writing.
"""

import os
import resource
import signal
import subprocess
import sys
from typing import NoReturn

if not __package__:  # started by path, with -IS, to save the start-up time of the site module
    sys.path.insert(0, sys.argv[1])
from parachute_runner import processes

CANNOT, NOT_FOUND = 126, 127


def main() -> NoReturn:
    """Set the limits, run the program, end what it left behind, and exit as it does."""
    parent, limit, *program = sys.argv[2:]
    processes.adopt_orphans()
    signal.signal(signal.SIGTERM, _end)
    processes.end_with_parent(signal.SIGTERM)
    if os.getppid() != int(parent):
        sys.exit(1)  # it ended before we asked for the signal
    if limit != "-1":
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    # Python ignores SIGXFSZ, and so do our children: a write that is too large fails with a message then.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        child = subprocess.Popen(program, restore_signals=False, preexec_fn=processes.end_with_parent)
        code = child.wait()
    except FileNotFoundError:
        code = NOT_FOUND
    except OSError as error:
        sys.stderr.write(f"Cannot start: {error}\n")
        code = CANNOT
    finally:
        processes.end_all(whole_namespace=False)
    # As a shell says it.
    sys.exit(code if code >= 0 else 128 - code)


def _end(*_: object) -> NoReturn:
    # The signal comes once for each thread of the parent: the second time must not interrupt what the first began.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    processes.end_all(whole_namespace=False)
    os._exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    main()
