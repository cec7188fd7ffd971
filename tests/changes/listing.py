"""Everything in a folder; as a program, what is in the working directory, for a shell in a view.

It imports the standard library alone: a shell in a view starts it for nearly every turn of a test.
"""

import hashlib
import os
import stat
import sys
from pathlib import Path


def listed(root: Path) -> dict[str, str]:
    """Kind, permissions and content by path."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = Path(folder, name)
            status = path.lstat()
            mode = "" if stat.S_ISLNK(status.st_mode) else f"{stat.S_IMODE(status.st_mode):o}"
            content = ""
            if stat.S_ISREG(status.st_mode):
                content = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            elif stat.S_ISLNK(status.st_mode):
                content = str(path.readlink())
            kind = stat.S_IFMT(status.st_mode)
            found[str(path.relative_to(root))] = f"{kind:o} {mode} {content}"
    return found


if __name__ == "__main__":
    sys.stdout.write(repr(listed(Path.cwd())))
