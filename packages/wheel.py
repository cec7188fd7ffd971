"""`python -m packages.wheel [FOLDER]`: the wheel in a folder, `dist` unless another one is named, and what it is installed with."""

import sys
import tomllib
from pathlib import Path

from packages.program import TREE, wheel

OVERRIDES = "overrides.txt"


def overrides() -> str:
    """Packages that others ask for and the computer does without, as pip's and uv's files write them."""
    settings = tomllib.loads((TREE / "pyproject.toml").read_text())["tool"]["uv"]
    return "".join(f"{each}\n" for each in settings["override-dependencies"])


def build(folder: Path) -> Path:
    """The wheel, alone of its kind in the folder, and beside it what uv is to leave out."""
    folder.mkdir(parents=True, exist_ok=True)
    for before in folder.glob("*.whl"):
        before.unlink()
    built = wheel(folder)
    (folder / OVERRIDES).write_text(overrides())
    return built


if __name__ == "__main__":
    sys.stdout.write(f"{build(Path(sys.argv[1]) if sys.argv[1:] else TREE / 'dist')}\n")
