"""The plugins of a conversation: which parts it gets, after the filters of trust, workspace and agent."""

import asyncio

from msgspec import Struct

from parachute.base.errors import ParachuteError
from parachute.capabilities.agents.models import Agent
from parachute.capabilities.plugins.library import Library
from parachute.capabilities.plugins.models import Contents, Plugin
from parachute.capabilities.skills.models import Skill
from parachute.capabilities.skills.service import TOOL
from parachute.chat.agent_processes.models import Helper
from parachute.chat.agent_processes.models import Plugin as Given
from parachute.chat.runs.capabilities import CapabilityRequest
from parachute.chat.workspaces.models import allowed
from parachute.security.permissions.actions import tool_listed


class OfferedPlugins(Struct, frozen=True):
    """The plugins of a turn; `skills` and `agents` are named as the agent's program names them: `plugin:name`."""

    plugins: tuple[Given, ...] = ()
    skills: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    helpers: tuple[Helper, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()


async def offered(library: Library, request: CapabilityRequest) -> OfferedPlugins:
    """The parts of plugins that a turn gets; never raises for one of them: the conversation goes on without it."""
    if request.choice.plugins == "none":
        return OfferedPlugins()
    return await asyncio.to_thread(_offered, library, request)


def _offered(library: Library, request: CapabilityRequest) -> OfferedPlugins:
    if not library.places.registry.exists():
        return OfferedPlugins()
    plugins: list[Given] = []
    skills: list[str] = []
    helpers: list[Helper] = []
    warnings: list[tuple[str, str]] = []
    try:
        found = library.list()
    except ParachuteError as error:
        return OfferedPlugins(warnings=(("Plugins", str(error)),))
    for plugin in found:
        if not allowed(request.choice.plugins, (plugin.slug, plugin.installed.name)):
            continue
        if plugin.contents is None or not plugin.has_texts:
            why = plugin.problem or "It waits for your approval."
            warnings.append(("Plugin", f"{plugin.slug} is left out. {why} `parachute plugins approve {plugin.slug}`."))
            continue
        chosen = _skills(plugin, plugin.contents, request)
        # Whatever of a plugin runs has a sandbox around it: in a direct conversation it would have the owner's rights.
        programs = plugin.has_programs and request.level == "sandboxed"
        try:
            given = _given(library, plugin, plugin.contents, chosen, programs)
        except (OSError, ParachuteError) as error:
            warnings.append(("Plugin", f"{plugin.slug} is left out. {error}"))
            continue
        plugins += given
        skills += (f"{plugin.installed.name}:{each.name}" for each in chosen)
        helpers += (_helper(plugin, each) for each in _agents(plugin, plugin.contents, request))
    names = tuple(helper.name for helper in helpers)
    return OfferedPlugins(tuple(plugins), tuple(skills), names, tuple(helpers), tuple(warnings[:5]))


def _given(library: Library, plugin: Plugin, contents: Contents, skills: list[Skill], programs: bool) -> list[Given]:
    has_commands = any(each.problem is None for each in contents.commands)
    if not (skills or has_commands or programs):
        return []
    folder, digest = library.copy(plugin, skills, programs=programs)
    return [Given(plugin.installed.name, folder, digest)]


def _skills(plugin: Plugin, contents: Contents, request: CapabilityRequest) -> list[Skill]:
    if request.allowed_tools is not None and not tool_listed(TOOL, request.allowed_tools):
        return []
    own = request.agent.skills if request.agent else None
    found = []
    for skill in contents.skills:
        names = (skill.name, f"{plugin.installed.name}:{skill.name}")
        is_own = own is None or any(name in own for name in names)
        if skill.problem is None and is_own and allowed(request.choice.skills, names):
            found.append(skill)
    return found


def _agents(plugin: Plugin, contents: Contents, request: CapabilityRequest) -> list[Agent]:
    return [
        agent
        for agent in contents.agents
        if agent.problem is None
        and allowed(request.choice.agents, (agent.name, f"{plugin.installed.name}:{agent.name}"))
    ]


def _helper(plugin: Plugin, agent: Agent) -> Helper:
    name = f"{plugin.installed.name}:{agent.name}"
    return Helper(name, agent.description, agent.prompt, agent.tools, agent.model, agent.commands is None)
