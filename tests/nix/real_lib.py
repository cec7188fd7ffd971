"""The lib of nixpkgs, where the environment names one: `NIXPKGS_LIB=/path/to/nixpkgs/lib`."""

import os
from pathlib import Path

REAL_LIB = Path(os.environ["NIXPKGS_LIB"]) if os.environ.get("NIXPKGS_LIB") else None
