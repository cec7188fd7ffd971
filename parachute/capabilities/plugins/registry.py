"""The list of installed plugins, `~/.parachute/plugins.json`: read strictly, replaced whole, shared by programs."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct, to_builtins

from parachute.base.errors import Conflict, InvalidInput, NotFound
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import NotPrivate, check_private_folder, read_private
from parachute.base.signatures import Signature, current_signature
from parachute.capabilities.plugins.models import PART_NAME, Installed
from parachute.chat.workspaces.models import is_slug

MOST = 1_000

RESERVED = frozenset(("parachute", "vault", "user", "skills"))
"""Names that the agent's program knows for what is no plugin of anybody else."""
_LIMIT = 4 * 1024 * 1024
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_NAME = re.compile(PART_NAME)

Entries = dict[str, Installed]


class PluginsUnreadable(InvalidInput):
    """The list of plugins is not what this program wrote, so that none of them is used."""

    key = "plugins_unreadable"


class Registry:
    """Reads and replaces the list; every method waits for the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[Signature, Entries] | None = None

    def load(self) -> Entries:
        """All plugins by their slugs; error: PluginsUnreadable."""
        known = self._known
        try:
            if known is not None and current_signature(self._path) == known[0]:
                return dict(known[1])
            check_private_folder(self._path.parent)
            now = time.time_ns()
            found = read_private(self._path, _LIMIT)
            entries = _parse(found.data)
        except FileNotFoundError:
            return {}
        except NotPrivate as error:
            raise PluginsUnreadable(error.message, error.hint) from error
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise PluginsUnreadable(
                f"{self._path} cannot be read, so no plugin is used: {error}.",
                "Remove it, and install your plugins again.",
            ) from error
        self._known = (found.signature, dict(entries)) if found.signature.differs_later(now) else None
        return entries

    def get(self, slug: str) -> Installed:
        """One plugin; errors: NotFound, PluginsUnreadable."""
        return entry_of(self.load(), slug)

    def change(self, edit: Callable[[Entries], Entries]) -> Entries:
        """Replace the list with what `edit` makes of the one in the file now; waits for other programs that change it."""
        with locked(self._path):
            before = self.load()
            after = edit(dict(before))
            if len(after) > MOST:
                raise Conflict(
                    f"There are {MOST} plugins already.",
                    "Remove one: parachute plugins remove SLUG",
                    key="too_many_plugins",
                )
            if after != before:
                atomic_write(
                    self._path, json.dumps({"plugins": [to_builtins(each) for each in after.values()]}, indent=1)
                )
            return after

    def replace(self, slug: str, edit: Callable[[Installed], Installed]) -> Installed:
        """Change one entry and return it; error: NotFound."""
        return self.change(lambda entries: {**entries, slug: edit(entry_of(entries, slug))})[slug]


def entry_of(entries: Entries, slug: str) -> Installed:
    """The entry of a slug; error: NotFound."""
    if slug not in entries:
        raise NotFound(
            f"There is no plugin {slug[:64]!r}.", "`parachute plugins list` shows all.", key="no_such_plugin"
        )
    return entries[slug]


def check_free(entries: Entries, new: Installed) -> None:
    """Error: Conflict if another plugin has the name of this one, InvalidInput for one that no plugin can have."""
    for other in entries.values():
        names = (other.name.casefold(), other.slug)
        if other.slug != new.slug and (new.name.casefold() in names or new.slug in names):
            raise Conflict(
                f"The plugin {other.slug} is called {new.name}, too, and their commands would conflict.",
                f"Remove it first: parachute plugins remove {other.slug}",
                key="name_taken",
            )
    if new.name.casefold() in RESERVED:
        raise InvalidInput(f"A plugin cannot be called {new.name} here.", key="reserved_name")


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    plugins: tuple[Installed, ...]


def _parse(data: bytes) -> Entries:
    entries: Entries = {}
    for each in msgspec.json.decode(data, type=_File).plugins:
        hashes = (each.hash, *(copy.hash for copy in each.copies))
        # They are parts of paths.
        if not is_slug(each.slug) or not _NAME.fullmatch(each.name) or not all(map(_HASH.fullmatch, hashes)):
            raise ValueError(f"the entry {each.slug[:64]!r} is not understood")
        entries[each.slug] = each
    return entries
