"""Parts of plugins that wait for an approval, in the inbox."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from parachute.capabilities.plugins.library import Part
from parachute.capabilities.plugins.models import Contents, Plugin
from parachute.capabilities.plugins.service import Plugins
from parachute.capabilities.plugins.shown import consent
from parachute.events.inbox.models import APPROVE, REJECT, Answer, Item, Source, not_waiting


class PluginsSource(Source):
    """The inbox of plugins: texts and programs wait each for themselves."""

    kinds: ClassVar[frozenset[str]] = frozenset({"plugin"})

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins

    async def items(self) -> Sequence[Item]:
        """Return each part that is not approved as it is now, and every plugin that has changed on the disk."""
        return await asyncio.to_thread(lambda: [item for item, _, _ in self._waiting()])

    async def answer(self, item: Item, answer: Answer) -> None:
        """Approve a part exactly as it was shown, or leave programs out for good."""
        for found, plugin, part in await asyncio.to_thread(self._waiting):
            if found.hash != item.hash or part is None:
                continue
            seen = plugin.installed.hash
            if answer.word == APPROVE:
                await self._plugins.approve(plugin.slug, seen, (part,), answer.who)
            else:
                await self._plugins.refuse(plugin.slug, seen, answer.who)
            return
        raise not_waiting()

    def _waiting(self) -> list[tuple[Item, Plugin, Part | None]]:
        found: list[tuple[Item, Plugin, Part | None]] = []
        for plugin in self._plugins.library.list():
            if plugin.contents is None:
                found.append((_changed(plugin), plugin, None))
            for part in plugin.waiting:
                assert plugin.contents is not None
                found.append((_item(plugin, plugin.contents, part), plugin, part))
        return found


def _item(plugin: Plugin, contents: Contents, part: str) -> Item:
    what = "Skills, agents and commands" if part == "texts" else "Programs"
    details = {
        "part": part,
        "contains": consent(contents, part),
        "hash": contents.texts_hash if part == "texts" else contents.programs_hash,
        "commit": plugin.installed.commit,
        "not_run": list(contents.not_run),
    }
    return Item(
        kind="plugin",
        key=f"{plugin.slug}/{part}",
        title=f"{what} of the plugin {plugin.slug}",
        source=plugin.installed.url,
        since=plugin.installed.installed_at,
        details=details,
        answers=(APPROVE,) if part == "texts" else (APPROVE, REJECT),
        is_owners=True,
        command=f"parachute plugins approve {plugin.slug}",
    )


def _changed(plugin: Plugin) -> Item:
    return Item(
        kind="plugin",
        key=plugin.slug,
        title=f"The plugin {plugin.slug} has changed on the disk",
        source=plugin.installed.url,
        details={"problem": plugin.problem},
        is_owners=True,
        command=f"parachute plugins approve {plugin.slug}",
    )
