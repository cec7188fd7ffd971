"""Every route of the server but health, status, panic and resume: one table, which is read once the server has started."""

from parachute.automation.agent_requests.api import router as agent_runs
from parachute.automation.curator.api import router as curator
from parachute.automation.memory.api import router as memory
from parachute.automation.module_agents.api import router as module_prompts
from parachute.automation.scheduled_agents.api import router as scheduled_agents
from parachute.automation.suggestions.api import router as suggestions
from parachute.automation.transcription.api import router as voice
from parachute.automation.triage.api import router as orchestrator
from parachute.capabilities.agents.api import router as own_agents
from parachute.capabilities.mcp_servers.api import router as mcp_servers
from parachute.capabilities.mcp_servers.logins.api import router as mcp_logins
from parachute.capabilities.plugins.api import router as plugins
from parachute.capabilities.skills.api import router as skills
from parachute.chat.changes.api import router as changes
from parachute.chat.claude_code_import.api import router as claude_code
from parachute.chat.contexts.api import router as contexts
from parachute.chat.imports.api import router as imports
from parachute.chat.network.api import router as network
from parachute.chat.permissions.api import router as permissions
from parachute.chat.repositories.api import router as repositories
from parachute.chat.runs.api import router as runs
from parachute.chat.runs.api import sandbox_router as sandboxes
from parachute.chat.runs.preview_api import router as prompt_preview
from parachute.chat.sessions.api import router as sessions
from parachute.chat.workspaces.api import router as workspaces
from parachute.connectors.bots.api import router as bots
from parachute.events.bus.api import router as events
from parachute.events.feed.api import router as feed
from parachute.events.hooks.api import router as hooks
from parachute.events.inbox.api import router as inbox
from parachute.files.api import router as files
from parachute.llm.gateway.api import router as gateway
from parachute.llm.gateway.costs_api import router as costs
from parachute.modules.mcp_endpoint.api import router as mcp_endpoint
from parachute.modules.registry.api import router as modules
from parachute.modules.registry.official_api import router as official_modules
from parachute.modules.registry.staged_api import router as staged_modules
from parachute.modules.runtime.api import router as hosts
from parachute.ops.backup.api import router as backups
from parachute.ops.backup.kit.api import router as emergency_kit
from parachute.ops.backup.restore_api import router as restores
from parachute.ops.doctor.api import router as doctor
from parachute.ops.export.api import router as export
from parachute.ops.logs.api import router as logs
from parachute.ops.settings.api import router as config
from parachute.ops.updates.api import router as updates
from parachute.sandbox.image.api import router as image
from parachute.security.audit.api import router as audit
from parachute.security.keys.api import router as keys
from parachute.server.console.api import router as console
from parachute.server.first_run.api import router as first_run
from parachute.server.status.supervisor_api import router as supervisor
from parachute.server.trust_page.api import router as trust_page
from parachute.web.pairing.api import router as pairing
from parachute.web.tls.api import router as tls

# Of two routes that fit a request, the first one answers.
ROUTERS = (
    runs,
    # Before the session of any name.
    permissions,
    sessions,
    changes,
    files,
    contexts,
    curator,
    prompt_preview,
    workspaces,
    # Before the next one, in whose paths the name of a server may have a slash.
    mcp_logins,
    mcp_servers,
    plugins,
    own_agents,
    skills,
    network,
    repositories,
    claude_code,
    imports,
    keys,
    pairing,
    audit,
    gateway,
    costs,
    hooks,
    inbox,
    backups,
    emergency_kit,
    export,
    restores,
    updates,
    doctor,
    logs,
    config,
    feed,
    events,
    agent_runs,
    module_prompts,
    official_modules,
    staged_modules,
    modules,
    mcp_endpoint,
    hosts,
    scheduled_agents,
    orchestrator,
    image,
    sandboxes,
    suggestions,
    memory,
    voice,
    bots,
    supervisor,
    console,
    first_run,
    trust_page,
    tls,
)
