"""Agents and skills of plugins, under their full names: `PLUGIN:NAME`."""

import logging
from collections.abc import Callable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.capabilities.agents.models import Agent
from parachute.capabilities.plugins.library import Library
from parachute.capabilities.plugins.models import Contents
from parachute.capabilities.skills.models import Skill

log = logging.getLogger(__name__)

Part = TypeVar("Part", Agent, Skill)


def brought_agents(library: Library) -> tuple[Agent, ...]:
    """The agents of all plugins; none while the list of plugins cannot be read, which their own list tells."""
    return tuple(_named(library, lambda contents: contents.agents))


def brought_skills(library: Library) -> tuple[Skill, ...]:
    """The skills of all plugins, as agents."""
    return tuple(_named(library, lambda contents: contents.skills))


def _named(library: Library, parts: Callable[[Contents], tuple[Part, ...]]) -> Iterator[Part]:
    try:
        found = library.list()
    except ParachuteError as error:
        log.warning("%s", error.message)
        return
    for plugin in found:
        if plugin.contents is None:
            continue
        waits = None if plugin.has_texts else f"The texts of the plugin {plugin.slug} are not approved."
        for part in parts(plugin.contents):
            name, path = f"{plugin.contents.name}:{part.name}", f"{plugin.slug}/{part.path}"
            yield replace(part, name=name, path=path, source="plugin", problem=part.problem or waits)
