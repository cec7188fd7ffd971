"""`python -m parachute.ops.rehearsal.confined COMMAND`: runs a program that can change none of the rehearsal's mounts.

They are locked for a user namespace further down, and the program has no more rights in it than the owner has.
"""

import os
import sys

from parachute.sandbox.engines import views


def command(arguments: list[str]) -> list[str]:
    """The command line that does this."""
    return [sys.executable, "-m", "parachute.ops.rehearsal.confined", *arguments]


def main() -> None:
    """Replace this process by the program; error: OSError."""
    views.enter_namespace()
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - the arguments are a list of our own


if __name__ == "__main__":
    main()
