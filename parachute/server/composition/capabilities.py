"""The wing `capabilities`: agents, skills, plugins and MCP servers that conversations have."""

from functools import partial
from pathlib import Path

from msgspec import Struct

from parachute.capabilities.agents.inbox import AgentsSource
from parachute.capabilities.agents.service import Agents
from parachute.capabilities.agents.store import AgentStore
from parachute.capabilities.mcp_servers.inbox import McpServersSource
from parachute.capabilities.mcp_servers.service import McpServers
from parachute.capabilities.offered.service import ConversationCapabilities
from parachute.capabilities.plugins.brought import brought_agents, brought_skills
from parachute.capabilities.plugins.inbox import PluginsSource
from parachute.capabilities.plugins.library import Library
from parachute.capabilities.plugins.service import Plugins
from parachute.capabilities.skills.inbox import SkillsSource
from parachute.capabilities.skills.runtime_plugin import RuntimePlugins
from parachute.capabilities.skills.service import Skills
from parachute.capabilities.skills.store import SkillStore
from parachute.chat.agent_processes.models import ModuleTools
from parachute.chat.prompts.inbox import PromptsSource
from parachute.chat.prompts.service import Prompts
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.modules import ModuleServices
from parachute.server.composition.sandbox import SandboxServices
from parachute.server.composition.sessions import SessionServices
from parachute.server.composition.storage import Installation, Storage


class CapabilityServices(Struct, frozen=True, kw_only=True):
    """The owner's own agents, skills, plugins and servers, and the prompts that name agents."""

    mcp_servers: McpServers
    plugins: Plugins
    own_agents: Agents
    skills: Skills
    offered: ConversationCapabilities
    prompts: Prompts


async def build_capabilities(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    sandbox: SandboxServices,
    sessions: SessionServices,
    modules: ModuleServices,
    tools: ModuleTools,
    lifecycle: Lifecycle,
) -> CapabilityServices:
    """Start the MCP servers and plugins; `tools` are those of modules, whose names no server may take."""
    home, settings, vault, clock = installation.home, installation.settings, storage.vault, installation.clock
    user_home = Path.home() if settings.capabilities.read_home else None
    library = Library(home, user_home)
    mcp_servers = await lifecycle.start(
        McpServers(
            home,
            settings,
            sandbox.egress,
            tools,
            storage.audit,
            events.inbox.changed,
            partial(events.feed.changed, "mcps"),
            library,
            clock,
        )
    )
    plugins = await lifecycle.start(Plugins(library, mcp_servers.catalog, storage.audit, events.inbox.changed))
    found_agents = AgentStore(vault, modules.approved_prompts, user_home, sandbox.sandboxes.check_directory)
    found_skills = SkillStore(vault, home.root, user_home, clock)
    runtime_plugins = RuntimePlugins(home.runtime_plugins, found_skills.read, sandbox.sandboxes.opened.mounted, clock)
    own_agents = Agents(found_agents, storage.audit, events.inbox.changed, partial(brought_agents, library))
    skills = Skills(
        found_skills, runtime_plugins, storage.audit, events.inbox.changed, partial(brought_skills, library)
    )
    events.inbox.add(
        McpServersSource(mcp_servers, sessions.sessions.find),
        PluginsSource(plugins),
        AgentsSource(own_agents),
        SkillsSource(skills),
    )
    events.inbox.add(PromptsSource(vault, modules.approved_prompts))
    return CapabilityServices(
        mcp_servers=mcp_servers,
        plugins=plugins,
        own_agents=own_agents,
        skills=skills,
        offered=ConversationCapabilities(mcp_servers, own_agents, skills, plugins),
        prompts=Prompts(vault, modules.prompts.kind, modules.approved_prompts.is_approved, found_agents),
    )
