"""Left-overs of a restore or a drill that was killed."""

import os

from parachute.base.files import remove_tree
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.backup import restore
from parachute.ops.backup.places import Places
from parachute.ops.backup.repository import Repository


def clear(home: Home) -> None:
    """Remove it, unless another command is at work; errors: Locked, and those of restic, OSError."""
    settings = load(home)
    places = Places(home.root, settings.vault)
    if not restore.has_left_something(places) and not os.path.lexists(places.drilled):
        return
    # So the locks that it had in the repository go as well.
    with Repository.of(home, settings).alone():
        restore.forget(places)
        remove_tree(places.drilled)
