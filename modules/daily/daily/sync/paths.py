"""Paths of the files that are synchronized between devices."""

import re

from daily.journal.names import ROOT, checked_date
from parachute.core import InvalidInput, NotAllowed, is_told_in_vault

AGENTS = ".agents"
BINARY = frozenset([".wav", ".mp3", ".m4a", ".ogg", ".opus", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"])

_LONGEST = 800
_LONGEST_NAME = 240
_SECRET_ENDINGS = (".key", ".pem", ".p12", ".pfx", ".kdbx", ".keystore", ".ppk", ".asc", ".gpg")
# No control characters, and no halves of characters (lone surrogates).
_PRINTED = re.compile(r"[^\x00-\x1f\x7f\\\ud800-\udfff]*")
_SECRET_NAME = re.compile(r"id_(rsa|dsa|ecdsa|ed25519)|(credentials|secrets)(\.|$)")


def checked_root(root: str) -> None:
    """See that the journal is meant; error: NotAllowed."""
    if root.strip("/") != ROOT:
        raise NotAllowed(f"root: only {ROOT} is synchronized, not {root[:60]!r}.", key="root_not_synchronized")


def vault_path(path: str) -> str:
    """A path below the journal's folder as one within the vault; errors: InvalidInput, NotAllowed."""
    if not path or len(path) > _LONGEST or not _PRINTED.fullmatch(path):
        raise InvalidInput(
            f"path: {path[:80]!r} is no path; write one such as journals/2024-01-15.md.", key="invalid_path"
        )
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise InvalidInput(f"path: {path[:80]!r} must be a path below {ROOT} without `..`.", key="path_leads_out")
    if any(len(part.encode(errors="replace")) > _LONGEST_NAME for part in parts):
        raise InvalidInput(f"path: {path[:80]!r} has a name that is too long.", key="name_too_long")
    if not is_shared(path):
        raise NotAllowed(
            f"path: {path[:80]!r} is not synchronized.",
            f"Hidden files and secrets are not, but {AGENTS}/.",
            key="path_not_synchronized",
        )
    return f"{ROOT}/{path}"


def written_path(path: str) -> str:
    """The same for a file that a device changes; error: NotAllowed for what agents are told, which is not the journal's."""
    place = vault_path(path)
    check_written(place)
    return place


def check_written(place: str) -> None:
    """Refuse to change what agents are told, by its path within the vault; error: NotAllowed."""
    if is_told_in_vault(place):
        raise NotAllowed(
            f"path: agents are told what is in {place[:80]!r}, and the sync of the journal does not write it.",
            "Write it on the computer itself.",
            key="told_to_agents",
        )


def is_shared(path: str) -> bool:
    """True if a file, by its path below the journal's folder, may be seen by other devices."""
    first, *rest = path.split("/")
    if first != AGENTS or not rest:
        rest = [first, *rest]
    name = rest[-1].lower()
    if not _PRINTED.fullmatch(path) or any(part.startswith(".") for part in rest) or name.endswith(_SECRET_ENDINGS):
        return False
    return not _SECRET_NAME.match(name)


def is_binary(path: str) -> bool:
    """True if a file is a recording, a picture or the like."""
    # A PurePosixPath would take most of the time of a list of thousands.
    _, dot, ending = path.rpartition(".")
    return dot + ending.lower() in BINARY


def is_about(path: str, date: str) -> bool:
    """True if a file belongs to a day; error: InvalidInput for what is no date."""
    checked_date(date)
    parts = path.split("/")
    if parts[0] == "assets":
        return len(parts) == 3 and (parts[1] == date or (parts[1] == date[:7] and parts[2].startswith(date)))
    return len(parts) == 2 and parts[0] in ("journals", "reflections", "chat-log") and parts[1].startswith(date)
