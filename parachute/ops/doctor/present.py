"""Files that may go while they are looked at: logs, write-ahead logs, sockets."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path


def present(paths: Iterable[Path]) -> Iterator[tuple[Path, os.stat_result]]:
    """Those that are still there, links not followed, with what the system says of them."""
    for path in paths:
        try:
            yield path, path.lstat()
        except FileNotFoundError:
            continue
