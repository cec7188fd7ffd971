"""Writes the files that follow from the recipe and the layout: `python -m parachute.sandbox.image.derived`."""

import json
from pathlib import Path

from parachute.base.files import atomic_write
from parachute.sandbox.image.contents import nix_attributes
from parachute.sandbox.image.recipe import EMPTIED, MARK, PACKAGES, STARTED, STEPS, SUITE
from parachute.sandbox.layout import image_files, image_folders, image_memory

_USE = """\
# The image of agents' containers for people with a registry; `parachute sandbox build` needs none. To use it:
#   podman build --tag agents --file sandbox/Containerfile
#   podman export --output root.tar "$(podman create agents)"
#   parachute sandbox build --from-tar root.tar
# Written by `python -m parachute.sandbox.image.derived` from parachute/sandbox/image/recipe.py.
"""


def derived() -> dict[str, str]:
    """The text of each file, by its path in the source tree."""
    recipe = {
        "programs": nix_attributes(),
        "folders": image_folders(),
        "files": image_files(),
        "memory": image_memory(),
    }
    return {
        "nixos/sandbox-image.json": f"{json.dumps(recipe, indent=2)}\n",
        "sandbox/Containerfile": _containerfile(),
    }


def _containerfile() -> str:
    install = f"apt-get update && apt-get install --yes --no-install-recommends {' '.join(PACKAGES)}"
    steps = (install, *STEPS, f"rm -rf {EMPTIED}", f"echo containerfile > {MARK}")
    starts = "\n".join(f"{name} {value}" for name, value in STARTED)
    run = " \\\n && ".join(steps)
    return f"{_USE}FROM debian:{SUITE}-slim\n\nRUN {run}\n\n{starts}\n"


def main() -> None:
    """Replace the files."""
    tree = Path(__file__).parents[3]
    for path, text in derived().items():
        atomic_write(tree / path, text, 0o644)


if __name__ == "__main__":
    main()
