"""`python -m packages.machine_image BOARD [--lock] [--ssh-key FILE] [FOLDER]`: the image in `build` (`make image`), or its lock anew."""

import argparse
import sys
from pathlib import Path

from packages.machine_image import building
from packages.program import TREE

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="make image")
    parser.add_argument("board")
    parser.add_argument("folder", nargs="?", type=Path, default=TREE / "build")
    parser.add_argument("--lock", action="store_true")
    parser.add_argument("--ssh-key", action="append", type=Path, default=[])
    asked = parser.parse_args()
    building.refuse(asked.board)
    if asked.lock:
        made = building.renew(asked.board)
    else:
        made = building.build(asked.board, asked.folder, building.keys(asked.ssh_key))
    sys.stdout.write(f"{made}\n")
