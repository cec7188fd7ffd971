"""The installed plugins: each read and compared with what the owner approved before anything of it is used."""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from parachute.base.answers import LeftOut
from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.base.files import remove_tree
from parachute.capabilities.mcp_servers.catalog import Catalog, ServerSource
from parachute.capabilities.mcp_servers.models import Server
from parachute.capabilities.plugins.models import Contents, Copy, Installed, Places, Plugin
from parachute.capabilities.plugins.registry import Entries, Registry, check_free, entry_of
from parachute.capabilities.skills.models import Skill
from parachute.config.settings.home import Home
from parachute.modules.trees.hashing import Tree, verify
from parachute.modules.trees.known import KnownTrees

# What reads and writes plugins is imported in functions: most computers have none, and the start of the server is short of time.
if TYPE_CHECKING:
    from parachute.capabilities.plugins.user_folder import UserFolder

log = logging.getLogger(__name__)

_FORM = 1
"""Counts how copies are written: one of another form is made anew."""

Part = Literal["texts", "programs"]


class Library(ServerSource):
    """Every method waits for the disk. `user_home` is the user's folder, if plugins of Claude Code in there count."""

    def __init__(self, home: Home, user_home: Path | None = None) -> None:
        self._user_home = user_home
        self._user: UserFolder | None = None
        self._left_out: Mapping[str, str] = {}
        self.places = Places(home.root)
        self.registry = Registry(self.places.registry)
        self._contents: dict[tuple[str, str], Contents] = {}
        # The path of each folder holds the hash that is expected of it.
        self._trees = KnownTrees()

    def list(self) -> list[Plugin]:
        """All plugins by their slugs; error: PluginsUnreadable, and then none is used."""
        entries = self._entries()
        return [self.read(entries[slug]) for slug in sorted(entries)]

    def get(self, slug: str) -> Plugin:
        """One plugin; errors: NotFound, PluginsUnreadable."""
        entries = self._entries()
        for each in () if slug in entries else self.left_out():
            if slug in (each.name, each.name.partition("@")[0]):
                raise NotFound(f"The plugin {each.name} is not used.", each.reason, key="plugin_left_out")
        return self.read(entry_of(entries, slug))

    def left_out(self) -> tuple[LeftOut, ...]:
        """The plugins in the user's folder that were left out when it was looked at last."""
        return tuple(LeftOut(name[:100], reason) for name, reason in sorted(self._left_out.items()))

    def read(self, installed: Installed) -> Plugin:
        """An entry with its contents, if nothing on the disk has changed since they came; never raises for the content."""
        from parachute.capabilities.plugins.contents import read_contents

        try:
            files, key = self.places.files(installed), (installed.slug, installed.hash)
            tree = self._verified(files, installed.hash)
            for copy in installed.copies:
                self._verified(self.places.copy(installed, copy.hash), copy.hash)
            if key not in self._contents:
                self._contents[key] = read_contents(files, installed.slug, tree)
            return Plugin(installed, self._contents[key])
        except (OSError, ParachuteError) as error:
            reason = error.message if isinstance(error, ParachuteError) else f"{error.filename}: {error.strerror}"
            return Plugin(
                installed, None, f"It has changed on the disk, so nothing of it is used: {reason.rstrip('.')}."
            )

    def servers(self) -> Sequence[Server]:
        """The MCP servers of the plugins whose programs may run."""
        found = []
        for plugin in self.list() if self.places.registry.exists() else ():
            if plugin.contents is not None and plugin.has_programs and plugin.contents.servers:
                try:
                    root = self.copy(plugin, plugin.contents.skills, programs=True)
                except (OSError, ParachuteError):
                    continue  # it says so itself
                found += [replace(each, root=str(root[0]), root_hash=root[1]) for each in plugin.contents.servers]
        return found

    def copy(self, plugin: Plugin, skills: Iterable[Skill], *, programs: bool) -> tuple[Path, str]:
        """The folder for agents with these skills of a plugin, and its hash; it is made if need be.

        Errors: InvalidInput for what is not approved, OSError.
        """
        from parachute.capabilities.plugins.copies import write_copy
        from parachute.capabilities.plugins.staging import place, staging_folder

        contents, installed = plugin.contents, plugin.installed
        if contents is None or not plugin.has_texts or (programs and not plugin.has_programs):
            raise InvalidInput(f"The plugin {plugin.slug} is not approved as it is.", key="not_approved")
        given = sorted((each for each in skills if each.problem is None), key=lambda each: each.name)
        holds = _word(programs, [each.name for each in given])
        for copy in installed.copies:
            if copy.holds == holds:
                return self.places.copy(installed, copy.hash), copy.hash
        with staging_folder(self.places) as staging:
            source, target = self.places.files(installed), staging / "copy"
            digest = write_copy(source, target, contents, given, programs=programs)
            folder = self.places.copy(installed, digest)

            def add(entry: Installed) -> Installed:
                if (entry.hash, entry.texts, entry.programs) != (installed.hash, installed.texts, installed.programs):
                    raise Conflict(
                        f"The plugin {plugin.slug} has changed since you looked at it.",
                        "Try again.",
                        key="plugin_changed",
                    )
                place(self.places, target, folder)
                kept = tuple(each for each in entry.copies if each.holds != holds)
                return replace(entry, copies=(*kept, Copy(holds, digest)))

            self.registry.replace(plugin.slug, add)
        return folder, digest

    def approve(self, slug: str, seen: str, parts: Iterable[Part], catalog: Catalog) -> Plugin:
        """Approve parts of a plugin whose hash somebody saw, and let its MCP servers run; what has changed on the disk is mended.

        Errors: NotFound, Conflict, InvalidInput if its files are damaged.
        """
        from parachute.capabilities.plugins.contents import read_contents

        installed, approved = self.registry.get(slug), tuple(parts)
        if installed.hash != seen:
            raise Conflict(
                f"The plugin {slug} has changed since you reviewed it.", "Review it again.", key="plugin_changed"
            )
        files = self.places.files(installed)
        try:
            tree = verify(files, installed.hash)
        except (OSError, ParachuteError) as error:
            raise InvalidInput(
                f"The files of the plugin {slug} are not those that were installed.",
                f"Fetch them again: parachute plugins update {slug}",
                key="plugin_damaged",
            ) from error
        contents = read_contents(files, slug, tree)
        if "programs" in approved:
            self.check_servers(slug, contents, catalog)

        def enter(entry: Installed) -> Installed:
            # Made anew when they are needed, out of what was compared with the hash above.
            remove_tree(files.parent / "copies", self.places.folder)
            entry = replace(entry, copies=())
            if "texts" in approved:
                entry = replace(entry, texts=contents.texts_hash)
            if "programs" in approved:
                entry = replace(entry, programs=contents.programs_hash, refused="")
            return entry

        changed = self.registry.replace(slug, enter)
        if "programs" in approved:
            self.approve_servers(changed, contents, catalog)
        return self.get(slug)

    def approve_servers(self, installed: Installed, contents: Contents, catalog: Catalog) -> None:
        """Let the MCP servers of programs that the owner has just approved run; never raises for one.

        Without hosts and folders, as the consent says: those that an earlier version had, or another plugin of this name, are
        not for these programs. What the plugin does not bring any more is forgotten.
        """
        catalog.withdraw_all(f"{installed.slug}-", {each.name for each in contents.servers})
        if not contents.programs_hash or installed.programs != contents.programs_hash:
            return
        for server in contents.servers:
            try:
                catalog.approve(catalog.review(server.name))
            except ParachuteError:
                continue  # such as one whose program is not there: the list of servers says why it does not run

    def refuse(self, slug: str, seen: str) -> Plugin:
        """Leave the programs of a plugin out, and ask no more about them; errors: NotFound, Conflict."""
        plugin = self.get(slug)
        if plugin.installed.hash != seen or plugin.contents is None:
            raise Conflict(
                f"The plugin {slug} has changed since you reviewed it.", "Review it again.", key="plugin_changed"
            )
        digest = plugin.contents.programs_hash
        self.registry.replace(slug, lambda entry: replace(entry, refused=digest, programs=""))
        return self.get(slug)

    def remove(self, slug: str, catalog: Catalog) -> Installed:
        """Remove a plugin with everything of it; errors: NotFound, OSError."""
        plugin = self.get(slug)
        plugin.check_ours()
        self.registry.change(lambda entries: {name: each for name, each in entries.items() if name != slug})
        catalog.withdraw_all(f"{slug}-", ())
        self._contents.pop((slug, plugin.installed.hash), None)
        self.tidy()
        return plugin.installed

    def tidy(self, kept: Mapping[str, str] | None = None) -> None:
        """Remove what no plugin needs, and what killed programs left; `kept` are digests of versions that agents may still use."""

        from parachute.capabilities.plugins.staging import clean

        def clean_up(entries: Entries) -> Entries:
            clean(self.places, entries, kept or {})
            return entries

        self.registry.change(clean_up)

    def check_servers(self, slug: str, contents: Contents, catalog: Catalog) -> None:
        """Error: Conflict if a server of somebody else has the name of one of these."""
        taken = {each.server.name.casefold() for each in catalog.listed() if each.server.plugin != slug}
        for server in contents.servers:
            if server.name.casefold() in taken:
                raise Conflict(
                    f"There is another MCP server called {server.name}.",
                    "Remove it, or install the plugin under another name.",
                    key="name_taken",
                )

    def _entries(self) -> Entries:
        """The list, with the plugins of the user's folder as they are now: a part of one that has changed waits again."""
        entries = self.registry.load()
        if self._user_home is None:
            return {slug: each for slug, each in entries.items() if each.source != "user"}
        from parachute.capabilities.plugins.user_folder import UserFolder

        self._user = self._user or UserFolder(self._user_home)
        there, left_out = self._user.look()
        for name, path in sorted(there.items()):
            entry = entries.get(name)
            if entry is not None and entry.source != "user":
                left_out[name] = "Another plugin is installed under this name."
                continue
            try:
                if entry is None or entry.hash != self._user.hash(path):
                    entries = self._taken_up(name, path)
            except (OSError, ParachuteError) as error:
                left_out[name] = str(error)
        self._left_out = left_out  # only now, since others may read it meanwhile
        return {slug: each for slug, each in entries.items() if each.source != "user" or slug in there}

    def _taken_up(self, name: str, path: Path) -> Entries:
        """Copy a plugin of the user's folder; errors: ParachuteError, OSError."""
        from parachute.capabilities.plugins.staging import place, staging_folder
        from parachute.capabilities.plugins.user_folder import stage

        with staging_folder(self.places) as staging:
            new = stage(name, path, staging / "version")

            def enter(entries: Entries) -> Entries:
                check_free(entries, new)
                before = entries.get(name)
                if before is not None and (before.source != "user" or before.hash == new.hash):
                    return entries
                place(self.places, staging / "version", self.places.version(new))
                kept = (
                    replace(new, texts=before.texts, programs=before.programs, refused=before.refused)
                    if before
                    else new
                )
                return {**entries, name: kept}

            return self.registry.change(enter)

    def _verified(self, folder: Path, expected: str) -> Tree:
        """Error: HashDiffers or OSError, unless a folder is what it was; what has not been touched since is not read again."""
        return self._trees.tree(folder, lambda path: verify(path, expected))


def _word(programs: bool, skills: Sequence[str]) -> str:
    said = json.dumps([_FORM, programs, skills])
    return hashlib.sha256(said.encode()).hexdigest()[:16]
