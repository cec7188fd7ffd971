"""`python -m parachute.ops.updates.keeping`: keep the state of the version that has ended, before the next one opens it."""

import sys

from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import Phase
from parachute.ops.updates.state import State


def main() -> int:
    """Keep it once; every later start of the version on probation finds it kept."""
    home = Home.named()
    journal = Journal(home.root)
    update = journal.read()
    if update is not None and update.phase is Phase.PUTTING:
        State(journal.folder, home.root, load(home).vault / ".parachute").keep()
    return 0


if __name__ == "__main__":
    sys.exit(main())
