"""Plugins for conversations, and for the apps that manage them."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

from msgspec import field

from parachute.base.answers import Answer
from parachute.base.errors import NotFound, ParachuteError
from parachute.capabilities.agents.models import Agent
from parachute.capabilities.mcp_servers.catalog import Catalog
from parachute.capabilities.plugins.library import Library, Part
from parachute.capabilities.plugins.models import Plugin
from parachute.capabilities.plugins.shown import PluginUpdate
from parachute.capabilities.skills.models import Skill
from parachute.security.audit.service import Audit

log = logging.getLogger(__name__)

_AT_ONCE = 2
"""Plugins that are fetched at a time; each takes a thread, and may wait for a host that says nothing."""


class UpdateCheck(Answer, frozen=True):
    """The newest commit at the address of a plugin; the app reads `updateAvailable`."""

    update_available: bool
    is_new: bool = field(name="updateAvailable")
    current: str
    latest: str
    url: str


class Plugins:
    """`changed` is called when what waits for the owner changes; `catalog` holds the MCP servers."""

    def __init__(self, library: Library, catalog: Catalog, audit: Audit, changed: Callable[[], None]) -> None:
        self.library = library
        self._catalog = catalog
        self._audit = audit
        self._changed = changed
        self._fetching = asyncio.Semaphore(_AT_ONCE)
        self._tidying: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to remove what an installation left that was killed, and to read the plugins, so that no turn waits for that."""
        if self.library.places.folder.is_dir():
            self._tidying = asyncio.create_task(self._tidy(), name="plugins")

    async def close(self) -> None:
        """Wait for that."""
        if self._tidying is not None:
            await asyncio.gather(self._tidying, return_exceptions=True)

    async def list(self) -> list[Plugin]:
        """All plugins; error: PluginsUnreadable."""
        return await asyncio.to_thread(self.library.list)

    async def get(self, slug: str) -> Plugin:
        """One plugin; error: NotFound."""
        return await asyncio.to_thread(self.library.get, slug)

    async def skill(self, slug: str, name: str) -> Skill:
        """A skill of a plugin; error: NotFound."""
        plugin = await self.get(slug)
        for skill in plugin.contents.skills if plugin.contents else ():
            if skill.name == name:
                return skill
        raise NotFound(f"The plugin {slug} has no skill {name[:64]!r}.", key="no_such_skill")

    async def agent(self, slug: str, name: str) -> Agent:
        """An agent of a plugin; error: NotFound."""
        plugin = await self.get(slug)
        for agent in plugin.contents.agents if plugin.contents else ():
            if agent.name == name:
                return agent
        raise NotFound(f"The plugin {slug} has no agent {name[:64]!r}.", key="no_such_agent")

    async def install(self, url: str, slug: str | None, who: str) -> Plugin:
        """Install a plugin, and approve its texts: that the owner asks for it is the word for those; errors: ParachuteError."""

        from parachute.capabilities.plugins.installation import staged_install

        def install() -> Plugin:
            with staged_install(self.library, url, slug) as staged:
                return staged.finish(self._catalog, texts=True)

        async with self._fetching:
            plugin = await asyncio.to_thread(install)
        self._record("plugin_installed", plugin, who)
        return plugin

    async def update(self, slug: str, who: str, seen: str | None = None) -> tuple[Plugin, PluginUpdate | None]:
        """Take the newest commit, and what changed with it, None if nothing did; with `seen`, the hash that was shown, no other.

        Its texts are approved with it, programs that differ wait. Errors: NotFound, Conflict, and those of fetching.
        """

        from parachute.capabilities.plugins.installation import staged_update

        def update() -> tuple[Plugin, PluginUpdate | None]:
            with staged_update(self.library, slug) as staged:
                staged.check_seen(seen)
                if staged.is_unchanged:
                    return self.library.get(slug), None
                changes = staged.update()
                return staged.finish(self._catalog, texts=True), changes

        async with self._fetching:
            plugin, changes = await asyncio.to_thread(update)
        self._record("plugin_updated", plugin, who)
        return plugin, changes

    async def check(self, slug: str) -> UpdateCheck:
        """Return whether there is a newer commit; errors: NotFound, and those of fetching."""
        from parachute.capabilities.plugins.installation import newest_commit

        async with self._fetching:
            installed, newest = await asyncio.to_thread(newest_commit, self.library, slug)
        is_new = newest != installed.commit
        return UpdateCheck(is_new, is_new, installed.commit, newest, installed.url)

    async def changes(self, slug: str) -> PluginUpdate:
        """Return the changes of the newest commit, fetched and not installed; errors as for `update`."""

        from parachute.capabilities.plugins.installation import staged_update

        def look() -> PluginUpdate:
            with staged_update(self.library, slug) as staged:
                return staged.update()

        async with self._fetching:
            return await asyncio.to_thread(look)

    async def remove(self, slug: str, who: str) -> None:
        """Remove a plugin with everything of it; errors: NotFound, NotAllowed for one of the user's own folder."""
        plugin = await self.get(slug)
        plugin.check_ours()
        await asyncio.to_thread(self.library.remove, slug, self._catalog)
        self._record("plugin_removed", plugin, who)

    async def approve(self, slug: str, seen: str, parts: Sequence[Part], who: str) -> Plugin:
        """Approve parts of a plugin; errors: NotFound, Conflict."""
        plugin = await asyncio.to_thread(self.library.approve, slug, seen, parts, self._catalog)
        self._record("plugin_approved", plugin, who, " ".join(parts))
        return plugin

    async def refuse(self, slug: str, seen: str, who: str) -> Plugin:
        """Leave the programs of a plugin out; errors: NotFound, Conflict."""
        plugin = await asyncio.to_thread(self.library.refuse, slug, seen)
        self._record("plugin_refused", plugin, who)
        return plugin

    def _record(self, event: str, plugin: Plugin, who: str, what: str = "") -> None:
        installed = plugin.installed
        said = " ".join(filter(None, (installed.slug, what, installed.commit[:12], installed.hash)))
        self._audit.append(
            event_type=event, source_type="user", source_id=who, target_module="plugins", target_endpoint=said
        )
        self._changed()

    async def _tidy(self) -> None:
        with contextlib.suppress(ParachuteError, OSError):
            await asyncio.to_thread(self.library.tidy)
            await asyncio.to_thread(self.library.list)
