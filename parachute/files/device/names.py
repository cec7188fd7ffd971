"""Names that a computer may send: none leads out of the folder, and none stands for the file of another name."""

import re
import sys
import unicodedata
from collections.abc import Iterable

from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.security.permissions.models import Access
from parachute.security.permissions.vault_files import vault_path

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?|.*[<>:\"|?*\\].*|.*[. ]", re.IGNORECASE)
_PROBE = ".parachute-Probe"


def distinguishes_cases(folder: Folder) -> bool:
    """Return whether `a.md` and `A.md` are two files there; macOS and Windows mostly take them for one. Error: OSError."""
    folder.write(_PROBE, b"")
    try:
        return folder.status(_PROBE.lower()) is None
    finally:
        folder.remove(_PROBE)


def refused(paths: Iterable[str], local: Iterable[str], *, distinguishes: bool) -> dict[str, str]:
    """Return the paths that cannot be files here, each with its reason; of two that are the same here, the local one stays."""
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    own = set(local)
    for path in sorted(paths, key=lambda each: (each not in own, each)):
        reason = _reason(path, distinguishes=distinguishes)
        if reason is None and not distinguishes:
            parts = path.split("/")
            names = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
            other = next((taken[_folded(name)] for name in names if taken.get(_folded(name), name) != name), None)
            if other is not None:
                reason = f"this disk takes it for {other}"
            else:
                taken.update({_folded(name): name for name in names})
        if reason is not None:
            found[path] = reason
    return found


def _reason(path: str, *, distinguishes: bool) -> str | None:
    try:
        if "/".join(vault_path(path, Access.WRITE)) != path:
            return "it is no path below the vault"
    except ParachuteError as error:
        return error.message
    if (not distinguishes or sys.platform == "win32") and any(_RESERVED.fullmatch(part) for part in path.split("/")):
        return "this system reserves its name"
    return None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
