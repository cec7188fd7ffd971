"""Chosen places: folders of the vault, or text files in it, as apps and people write them."""

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.chat.contexts.models import NAMES, is_text
from parachute.config.vault.service import Vault
from parachute.security.permissions.vault_files import may_list

MOST = 100
"""Places of one conversation."""

DEEPEST = 32
"""Parts of a path."""

TEXTS = (".md", ".markdown", ".txt")
"""Suffixes of single files that older apps choose."""


def place_of(vault: Vault, text: str) -> str:
    """A place as it is kept: relative to the vault, the folder where AGENTS.md or CLAUDE.md is named; empty for the vault itself.

    Error: InvalidInput for what is outside of the vault, hidden, or holds secrets, and for what is no path.
    """
    path = vault.absolute(text.strip() or ".")
    for root in (vault.root, vault.root.resolve()):
        if path.is_relative_to(root):
            inside = PurePosixPath(path.relative_to(root))
            break
    else:
        raise InvalidInput(
            f"{text[:200]!r} is not in the vault.",
            "Name a folder of the vault, such as Projects/garden.",
            key="not_in_vault",
        )
    if (
        ".." in inside.parts
        or not is_text(str(inside))
        or not all(may_list(part, hidden=False) for part in inside.parts)
    ):
        raise InvalidInput(
            f"{text[:200]!r} is no place for a context.",
            "Name a visible folder of the vault.",
            key="not_a_context_folder",
        )
    if len(inside.parts) > DEEPEST:
        raise InvalidInput(f"{text[:200]!r} lies more than {DEEPEST} folders deep.", key="too_deep")
    return _kept(inside.parent if inside.name in NAMES else inside)


def places_of(vault: Vault, texts: Sequence[str]) -> list[str]:
    """The places that texts name, each once and without the vault itself, which always counts. Error: InvalidInput."""
    if len(texts) > MOST:
        raise InvalidInput(f"A conversation has no more than {MOST} context folders.", key="too_many_folders")
    return [place for place in dict.fromkeys(place_of(vault, text) for text in texts) if place]


def is_text_file(place: str) -> bool:
    """Return whether a place is named as a single file."""
    return place.lower().endswith(TEXTS)


def parents_of(place: str) -> list[str]:
    """The folders above a place, the highest first, without the vault itself."""
    return [_kept(each) for each in reversed(PurePosixPath(place).parents)][1:]


def depth_of(place: str) -> int:
    """Return the depth of a place."""
    return place.count("/")


def split(text: str, exists: Callable[[str], bool]) -> list[str]:
    """The places in a list with commas, which names of folders may have, too: the shortest that exists counts.

    What exists nowhere is taken up to the next comma.
    """
    parts = text.split(",")
    found, begin = list[str](), 0
    while begin < len(parts) and len(found) < MOST:
        ends = range(begin + 1, min(len(parts), begin + 8) + 1)
        end = next((end for end in ends if exists(",".join(parts[begin:end]))), begin + 1)
        found.append(",".join(parts[begin:end]))
        begin = end
    return [each for each in found if each.strip()]


def exists(vault: Vault, text: str) -> bool:
    """Return whether a text names a place that there is; waits for the disk."""
    try:
        place = place_of(vault, text)
        with Folder.open(vault.root) as top:
            return not place or top.status(place) is not None
    except (OSError, InvalidInput):
        return False


def _kept(path: PurePosixPath) -> str:
    return "" if str(path) == "." else str(path)
