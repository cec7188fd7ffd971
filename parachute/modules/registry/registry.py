"""The list of installed modules, `~/.parachute/modules.yaml`: read strictly, replaced whole, shared by programs."""

import time
from collections.abc import Callable
from pathlib import Path

from parachute.base.errors import Conflict, NotFound
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import NotPrivate, check_private_folder, read_private
from parachute.base.signatures import Signature, current_signature
from parachute.modules.registry.document import RegistryUnreadable, parse_document, render_document
from parachute.modules.registry.models import InstalledModule
from parachute.modules.trees.sources import official_names

MAXIMUM_BYTES = 4 * 1024 * 1024
MAXIMUM_MODULES = 500

Modules = dict[str, InstalledModule]


class Registry:
    """Reads and replaces the list; call it outside of an event loop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: tuple[Signature, Modules] | None = None

    def load(self) -> Modules:
        """All modules by name; no file means none, anything that is not understood is RegistryUnreadable.

        The file is read again only when it has changed: every start of a module asks, and who reads all of them asks as often.
        """
        known = self._known
        try:
            check_private_folder(self.path.parent)
            if known is not None and current_signature(self.path) == known[0]:
                return dict(known[1])
            now = time.time_ns()
            found = read_private(self.path, MAXIMUM_BYTES)
            modules = parse_document(found.data, self.path)
            self._known = (found.signature, dict(modules)) if found.signature.differs_later(now) else None
            return modules
        except FileNotFoundError:
            return {}
        except NotPrivate as error:
            raise RegistryUnreadable(error.message, error.hint) from error
        except OSError as error:
            raise RegistryUnreadable(f"{self.path} cannot be read: {error.strerror or error}.") from error

    def module(self, name: str) -> InstalledModule:
        """One module; errors: NotFound, RegistryUnreadable."""
        return entry_of(self.load(), name)

    def change(self, edit: Callable[[Modules], Modules]) -> Modules:
        """Replace the list with what `edit` makes of the one in the file now; waits for other programs that change it."""
        check_private_folder(self.path.parent)
        with locked(self.path):
            before = self.load()
            after = edit(dict(before))
            if after == before:
                return after
            text = render_document(after)
            if len(after) > MAXIMUM_MODULES or len(text.encode()) > MAXIMUM_BYTES:
                raise Conflict(
                    f"There are already {len(before)} modules.",
                    "Remove one first: parachute modules remove NAME",
                    key="too_many_modules",
                )
            # What could not be read back would stop every module at the next start.
            parse_document(text.encode(), self.path)
            atomic_write(self.path, text, 0o600)
            return after

    def put(self, module: InstalledModule) -> None:
        """Add a module, or replace the entry of that name."""
        self.change(lambda modules: {**modules, module.name: module})

    def replace(self, name: str, edit: Callable[[InstalledModule], InstalledModule]) -> InstalledModule:
        """Change one entry and return it; error: NotFound."""
        return self.change(lambda modules: {**modules, name: edit(entry_of(modules, name))})[name]

    def take(self, name: str) -> InstalledModule:
        """Remove an entry and return what it was; error: NotFound."""
        taken: list[InstalledModule] = []

        def without(modules: Modules) -> Modules:
            taken.append(entry_of(modules, name))
            return {other: module for other, module in modules.items() if other != name}

        self.change(without)
        return taken[0]


def entry_of(modules: Modules, name: str) -> InstalledModule:
    """The entry of a name; error: NotFound."""
    if name not in modules:
        raise not_installed(name)
    return modules[name]


def not_installed(name: str) -> NotFound:
    """The error for a name that is not in the list."""
    if name in official_names():
        hint = f"`parachute setup --modules {name}` installs it."
    else:
        hint = "`parachute modules list` shows what is installed."
    return NotFound(f"The module {name[:60]} is not installed.", hint, key="module_not_installed")
