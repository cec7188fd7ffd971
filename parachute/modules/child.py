"""Becomes a program that ends with the one that started it: `python -m parachute.modules.child PARENT BYTES PROGRAM...`.

An installation that is killed must not leave a download behind that goes on writing.
"""

import os
import resource
import sys

from parachute_runner import processes


def main() -> None:
    """Set the limits, then become the program; no file that it writes may be larger than BYTES."""
    parent, limit, *program = sys.argv[1:]
    processes.end_with_parent()
    if os.getppid() != int(parent):
        sys.exit(1)  # it ended before we asked to be told
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    try:
        os.execvp(program[0], program)  # noqa: S606 -- the point of this file
    except FileNotFoundError:
        sys.exit(127)


if __name__ == "__main__":
    main()
