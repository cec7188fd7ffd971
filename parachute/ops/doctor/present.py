"""Files that may go while they are read: logs, write-ahead logs, sockets."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path


def present(paths: Iterable[Path]) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the paths that are still there with their status, links not followed."""
    for path in paths:
        try:
            yield path, path.lstat()
        except FileNotFoundError:
            continue
