"""`python -m packages.debian [FOLDER]`: the package in a folder, `build` unless another one is named (`make deb`)."""

import sys
from pathlib import Path

from packages.debian.building import build
from packages.program import TREE

if __name__ == "__main__":
    sys.stdout.write(f"{build(Path(sys.argv[1]) if sys.argv[1:] else TREE / 'build')}\n")
