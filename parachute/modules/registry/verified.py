"""Trust in a module's content, and the hashes of the official modules: `python -m parachute.modules.registry.verified`."""

import json
from functools import cache
from pathlib import Path

from parachute.base.files import atomic_write
from parachute.modules.registry.models import Trust
from parachute.modules.trees.hashing import tree_hash
from parachute.modules.trees.sources import NOT_INSTALLED, official_folder

_FILE = Path(__file__).with_name("verified.json")


def trust_of(name: str, digest: str, untrusted: bool) -> Trust:
    """The trust of a content that the user approves: `untrusted` is the user's wish to shut it in.

    A content is verified if its hash came with this program; there is no key that could sign another one.
    """
    if untrusted:
        return Trust.UNTRUSTED
    return Trust.VERIFIED if digest in verified_hashes(name) else Trust.TRUSTED


def verified_hashes(name: str) -> tuple[str, ...]:
    """The hashes of a module in the list that came with this program."""
    return _verified().get(name, ())


@cache
def _verified() -> dict[str, tuple[str, ...]]:
    document = json.loads(_FILE.read_text())
    return {name: tuple(hashes) for name, hashes in document.items()}


def official_hashes(folder: Path) -> dict[str, list[str]]:
    """The hash of each module in a folder as it is installed, under its name."""
    return {
        path.parent.name: [tree_hash(path.parent, NOT_INSTALLED)] for path in sorted(folder.glob("*/manifest.yaml"))
    }


def main() -> None:
    """Replace the list."""
    text = json.dumps(official_hashes(official_folder()), indent=2)
    atomic_write(_FILE, f"{text}\n", 0o644)


if __name__ == "__main__":
    main()
