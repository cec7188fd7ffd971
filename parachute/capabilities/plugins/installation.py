"""Installing and updating a plugin: fetch it, show it, and put it in place only with the owner's word."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.clock import now
from parachute.base.errors import Conflict, InvalidInput
from parachute.base.files import private_folder
from parachute.capabilities.mcp_servers.catalog import Catalog
from parachute.capabilities.plugins import fetching
from parachute.capabilities.plugins.contents import read_contents
from parachute.capabilities.plugins.fetching import LIMITS
from parachute.capabilities.plugins.library import Library
from parachute.capabilities.plugins.models import Contents, Installed, Plugin
from parachute.capabilities.plugins.registry import RESERVED, Entries, check_free
from parachute.capabilities.plugins.shown import PluginUpdate, RightsChange, rights
from parachute.capabilities.plugins.staging import place, staging_folder
from parachute.chat.workspaces.models import is_slug, slug_of
from parachute.modules.trees.changes import FileChange, file_changes
from parachute.modules.trees.models import Limits, Progress, Silent


class Staged(Struct, frozen=True):
    """A plugin that was fetched: nothing of it is in place, and nothing has run."""

    library: Library
    installed: Installed
    contents: Contents
    files: Path
    previous: Plugin | None

    @property
    def is_unchanged(self) -> bool:
        """True if exactly this is installed already."""
        old = self.previous
        return old is not None and old.contents is not None and old.installed.hash == self.installed.hash

    def check_seen(self, seen: str | None) -> None:
        """Error: Conflict if somebody saw a hash, and this is another content."""
        if seen is not None and seen != self.installed.hash:
            raise Conflict(
                f"The plugin {self.installed.slug} has changed at its address since you looked.",
                "Check it again.",
                key="plugin_changed",
            )

    def changes(self) -> list[FileChange]:
        """The files that differ from those that are installed, for a person; error: OSError, TreeNotAllowed."""
        if self.previous is None or self.is_unchanged:
            return []
        return file_changes(self.library.places.files(self.previous.installed), self.files)

    def rights(self) -> RightsChange:
        """The rights that it adds to those of the installed one, and those that it drops."""
        before = set(rights(self.previous.contents)) if self.previous and self.previous.contents else set()
        after = set(rights(self.contents))
        return RightsChange(tuple(sorted(after - before)), tuple(sorted(before - after)))

    def update(self) -> PluginUpdate:
        """Everything that changes with it."""
        return PluginUpdate(
            hash=self.installed.hash,
            commit=self.installed.commit,
            version=self.contents.version,
            rights=self.rights(),
            files=tuple(self.changes()),
            unchanged=self.is_unchanged,
        )

    def finish(self, catalog: Catalog, *, texts: bool, programs: bool = False) -> Plugin:
        """Put it in place, with the parts approved that the owner has said yes to; programs that have not changed stay approved.

        Error: Conflict if another plugin took its name meanwhile.
        """
        library, slug, old = self.library, self.installed.slug, self.previous

        def enter(entries: Entries) -> Entries:
            if old is None and slug in entries:
                raise _taken(slug)
            check_free(entries, self.installed)
            place(library.places, self.files.parent, library.places.version(self.installed))
            before = entries.get(slug)
            new = self.installed
            if before is not None:
                new = replace(new, texts=before.texts, programs=before.programs, refused=before.refused)
            if texts:
                new = replace(new, texts=self.contents.texts_hash)
            if programs:
                new = replace(new, programs=self.contents.programs_hash, refused="")
            return {**entries, slug: new}

        if programs:
            library.check_servers(slug, self.contents, catalog)
        entries = library.registry.change(enter)
        if programs:
            library.approve_servers(entries[slug], self.contents, catalog)
        library.tidy({slug: old.installed.digest} if old else {})
        return library.get(slug)


@contextmanager
def staged_install(
    library: Library,
    url: str,
    slug: str | None,
    progress: Progress | None = None,
    *,
    local: bool = False,
    limits: Limits = LIMITS,
) -> Iterator[Staged]:
    """Fetch a plugin to install; errors: InvalidInput, Conflict, and those of fetching."""
    address = fetching.parse(url, local=local)
    name = slug if slug is not None else slug_of(address.label, ())
    if not is_slug(name) or name in RESERVED:
        raise InvalidInput(
            f"slug: {name[:60]!r} is not allowed; 1 to 40 of a-z, 0-9 and single dashes between them are.",
            "Choose another one.",
            key="invalid_slug",
        )
    if name in library.registry.load():
        raise _taken(name)
    with _fetched(library, address, name, limits, progress or Silent(), None) as staged:
        check_free(library.registry.load(), staged.installed)
        yield staged


@contextmanager
def staged_update(
    library: Library, slug: str, progress: Progress | None = None, *, limits: Limits = LIMITS
) -> Iterator[Staged]:
    """Fetch the newest commit of a plugin that is installed; errors: NotFound, and those of fetching."""
    previous = library.get(slug)
    previous.check_ours()
    address = fetching.parse(previous.installed.url, local=True)
    with _fetched(library, address, slug, limits, progress or Silent(), previous) as staged:
        yield staged


def newest_commit(library: Library, slug: str) -> tuple[Installed, str]:
    """A plugin, and the newest commit at its address; errors: NotFound, and those of fetching."""
    plugin = library.get(slug)
    plugin.check_ours()
    installed = plugin.installed
    address = fetching.parse(installed.url, local=True)
    limits = replace(LIMITS, clone_seconds=fetching.CHECK_SECONDS)
    with staging_folder(library.places) as staging:
        return installed, fetching.newest(address, staging, limits, Silent())


@contextmanager
def _fetched(
    library: Library,
    address: fetching.Address,
    slug: str,
    limits: Limits,
    progress: Progress,
    previous: Plugin | None,
) -> Iterator[Staged]:
    with staging_folder(library.places) as staging:
        files = private_folder(staging / "version") / "files"
        found = fetching.fetch(address, staging, files, limits, progress)
        contents = read_contents(files, slug, found.tree)
        installed = Installed(slug, contents.name, address.text, found.commit, found.tree.hash, now())
        yield Staged(library, installed, contents, files, previous)


def _taken(slug: str) -> Conflict:
    return Conflict(
        f"The plugin {slug} already exists.",
        f"`parachute plugins update {slug}` updates it; another slug lets both be.",
        key="slug_taken",
    )
