"""Every route of core but those of `/api/health` and `/api/status`: one table, which is read once core has started."""

from parachute.claude_code.api import router as claude_code
from parachute.events.api import router as events
from parachute.gateway.api import router as gateway
from parachute.hooks.api import router as hooks
from parachute.hosts.api import router as hosts
from parachute.image.api import router as image
from parachute.keys.api import router as keys
from parachute.mcp_servers.api import router as mcp_servers
from parachute.module_agents.api import router as module_prompts
from parachute.modules.api import router as modules
from parachute.modules.official_api import router as official_modules
from parachute.orchestrator.api import router as orchestrator
from parachute.runs.api import router as runs
from parachute.runs.sandbox_api import router as looks
from parachute.scheduled_agents.api import router as scheduled_agents
from parachute.sessions.api import router as sessions
from parachute.setup_page.api import router as setup_page
from parachute.status.panic_api import router as panic
from parachute.status.supervisor_api import router as supervisor
from parachute.suggestions.api import router as suggestions
from parachute.workspaces.api import router as workspaces

# Of two routes that fit a request, the first one answers.
ROUTERS = (
    runs,
    sessions,
    workspaces,
    mcp_servers,
    claude_code,
    keys,
    gateway,
    hooks,
    events,
    module_prompts,
    official_modules,
    modules,
    hosts,
    scheduled_agents,
    orchestrator,
    image,
    looks,
    suggestions,
    supervisor,
    panic,
    setup_page,
)
