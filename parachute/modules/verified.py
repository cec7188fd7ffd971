"""Writes the hashes of the official modules into the package: `python -m parachute.modules.verified`."""

import json
from pathlib import Path

from parachute.files import atomic_write
from parachute.modules.hashing import tree_hash
from parachute.modules.sources import NOT_INSTALLED, official_folder


def official_hashes(folder: Path) -> dict[str, list[str]]:
    """The hash of each module in a folder as it is installed, under its name."""
    return {
        path.parent.name: [tree_hash(path.parent, NOT_INSTALLED)] for path in sorted(folder.glob("*/manifest.yaml"))
    }


def main() -> None:
    """Replace the list."""
    text = json.dumps(official_hashes(official_folder()), indent=2)
    atomic_write(Path(__file__).with_name("verified.json"), f"{text}\n", 0o644)


if __name__ == "__main__":
    main()
