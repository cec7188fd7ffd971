"""The owner of one hook's command: whatever the command started is ended with it.

    keeper.py FOLDER PARENT PROGRAM [ARGUMENT...]

FOLDER holds the package parachute_runner, PARENT is the process that waits for us. The exit code is the command's, 126
when it cannot be started, 128 and the number of the signal that ended it.
"""

import os
import signal
import subprocess
import sys

if not __package__:  # started by path, with -IS, to save the start-up time of the site module
    sys.path.insert(0, sys.argv[1])
from parachute_runner import processes


def _stop(*_: object) -> None:
    processes.end_all(whole_namespace=False)
    os._exit(128 + signal.SIGTERM)


def main() -> None:
    """Run the command, then end what it left behind."""
    processes.adopt_orphans()
    signal.signal(signal.SIGTERM, _stop)
    processes.end_with_parent(signal.SIGTERM)
    if os.getppid() != int(sys.argv[2]):  # it ended before we could ask to be told of that
        os._exit(1)
    try:
        child = subprocess.Popen(
            sys.argv[3:],
            start_new_session=True,
            preexec_fn=processes.end_with_parent,
        )
    except OSError as error:
        sys.stderr.write(f"It cannot be started: {error}\n")
        sys.stderr.flush()
        os._exit(126)
    code = child.wait()
    processes.end_all(whole_namespace=False)
    os._exit(128 - code if code < 0 else code)


if __name__ == "__main__":
    main()
