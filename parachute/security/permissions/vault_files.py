"""Files of the vault that the routes of files open: neither hidden files nor secrets, and nothing outside."""

import os
import unicodedata

from parachute.base.errors import InvalidInput, NotAllowed
from parachute.base.opening import Relative, parts_of
from parachute.security.permissions.models import Access
from parachute.security.permissions.paths import CONTROL, is_secret

_NAME_LIMIT, _PATH_LIMIT = 255, 4096  # bytes: linux/limits.h


def is_hidden(name: str) -> bool:
    """Return whether a name begins with a dot, also behind letters that nobody sees and some file systems drop."""
    if not name.isascii():
        name = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    return name.startswith(".")


def may_list(name: str, *, hidden: bool) -> bool:
    """Return whether a folder shows an entry of this name: secrets never, hidden ones if that is wanted."""
    return not is_secret(name) and (hidden or not is_hidden(name))


def vault_path(path: Relative, access: Access, *, hidden: bool = False) -> tuple[str, ...]:
    """The parts of a path of the vault that may be used so; with `hidden` those of a hidden folder, to list it.

    Hidden files are what programs obey (`.mcp.json`, `.claude`, `.git`) or what the computer keeps (`.parachute`): whatever
    raises a right is among them. Errors: NotAllowed for hidden files and secrets, InvalidInput for what no path can be.
    """
    parts = parts_of(path)
    for part in parts:
        if is_secret(part):
            raise NotAllowed(
                f"path: {part[:80]!r} may hold secrets, which are not opened here.",
                "Use it on the computer itself.",
                key="secret_path",
            )
        if not hidden and is_hidden(part):
            raise NotAllowed(
                f"path: {part[:80]!r} is hidden, and what is hidden is not opened here.",
                "Use it on the computer itself.",
                key="hidden_path",
            )
    encoded = [os.fsencode(part) for part in parts]
    if any(len(part) > _NAME_LIMIT for part in encoded) or len(b"/".join(encoded)) >= _PATH_LIMIT:
        raise InvalidInput(f"path: {str(path)[:80]!r}… is longer than the names of files can be.", key="path_too_long")
    if access is Access.WRITE:
        if not parts:
            raise InvalidInput(
                "path: a file or a folder in the vault is expected, not the vault itself.", key="no_path"
            )
        if CONTROL.search("/".join(parts)):
            raise InvalidInput(f"path: {str(path)[:80]!r} has characters that no name should have.", key="unsafe_path")
    return parts
