"""Names what this machine lacks, with the one line that installs it: `check_system.py [program...]`."""

import ctypes.util
import importlib.util
import shutil
import sys

PACKAGES = {
    "bwrap": "bubblewrap",
    "git": "git",
    "libgomp": "libgomp1",
    "nix-instantiate": "nix-bin",
    "restic": "restic",
}
CONSEQUENCES = {
    "libgomp": "Without it the small model on this machine cannot start.",
    "bwrap": "Without it agents run without a sandbox, with your own rights, and each answer says so.",
    "git": "Without it some tests are skipped.",
    "restic": "Without it backups cannot be made, and their tests are skipped.",
    "nix-instantiate": "Without it the tests of the NixOS module are skipped.",
}


def main() -> int:
    """0 unless the computer cannot run at all."""
    if sys.version_info < (3, 11):
        print(
            f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}. Name another: make run PYTHON=python3.13"
        )
        return 1
    if not importlib.util.find_spec("ensurepip"):
        print("Python's venv module is missing:  sudo apt-get install python3-venv")
        return 1
    for program in sys.argv[1:]:
        present = ctypes.util.find_library("gomp") if program == "libgomp" else shutil.which(program)
        if not present and (sys.platform == "linux" or program == "git"):
            print(f"{PACKAGES[program]} is missing:  sudo apt-get install {PACKAGES[program]}\n{CONSEQUENCES[program]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
