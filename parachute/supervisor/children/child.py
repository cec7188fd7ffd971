"""A child of the supervisor that runs a module or a script, and ends with the supervisor.

    python -m parachute.supervisor.children.child SUPERVISOR MODULE|SCRIPT.py [ARGUMENT...]

The second launcher has no control group to end, so each of its children has to notice by itself that it was killed.
"""

import os
import runpy
import signal
import sys

from parachute_runner import processes


def main() -> None:
    """Become the program; it gets SIGTERM when the supervisor ends, however it does."""
    processes.end_with_parent(signal.SIGTERM)
    if os.getppid() != int(sys.argv[1]):  # it ended before we could ask for the signal
        sys.exit("The supervisor has ended.")
    del sys.argv[:2]
    if sys.argv[0].endswith(".py"):
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
