"""`python -m packages.image [FOLDER]`: the image in a folder, `build` unless another one is named (`make oci`)."""

import shutil
import sys
from pathlib import Path

from packages.image.building import build
from packages.program import TREE

if __name__ == "__main__":
    for tool in ("mmdebstrap", "bwrap"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is missing:  sudo apt-get install mmdebstrap bubblewrap uidmap")
    sys.stdout.write(f"{build(Path(sys.argv[1]) if sys.argv[1:] else TREE / 'build')}\n")
