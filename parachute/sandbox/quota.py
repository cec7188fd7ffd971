"""How much of the disk the folder of a session's transcript may take: anything in its sandbox can write there."""

import os
from pathlib import Path

_ENTRIES = 10_000
"""Files and folders; so many count as too much, since only looking at them takes long."""


def is_over(folder: Path, limit: int) -> bool:
    """Whether what lies in a folder takes more than so many bytes; links are not followed."""
    left, entries = limit, 0
    folders: list[str | Path] = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as found:
                for entry in found:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        # What is really on the disk: a file may say that it is long and hold nothing.
                        left -= entry.stat(follow_symlinks=False).st_blocks * 512
                    if left < 0 or entries > _ENTRIES:
                        return True
        except OSError:
            continue  # removed meanwhile, or shut to us: what cannot be read cannot be measured
    return False
