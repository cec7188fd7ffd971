"""Trees that are asked for often, and read again only when something in them has changed."""

import time
from collections.abc import Callable
from pathlib import Path

from parachute.base.signatures import Signature
from parachute.modules.trees.hashing import Tree
from parachute.modules.trees.tree import is_unchanged, signatures


class KnownTrees:
    """Remembers the tree of each folder with the signatures of all that is in it."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[dict[str, Signature], Tree]] = {}

    def tree(self, folder: Path, read: Callable[[Path], Tree]) -> Tree:
        """The tree of a folder, which `read` reads if it is not known; errors: those of `read`, TreeNotAllowed, OSError."""
        known = self._known.get(folder)
        if known is not None and is_unchanged(folder, known[0]):
            return known[1]
        self._known.pop(folder, None)
        taken, found = time.time_ns(), signatures(folder)
        tree = read(folder)
        # What is being written at this moment is read again the next time.
        if all(each.differs_later(taken) for each in found.values()) and is_unchanged(folder, found):
            self._known[folder] = found, tree
        return tree
