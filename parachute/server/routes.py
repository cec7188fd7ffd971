"""Every route of the server but health, status, panic and resume: one table, of which each line is read when it is asked for."""

from collections.abc import Mapping
from functools import partial
from importlib import import_module

from fastapi import APIRouter

from parachute.web.http.late_routes import Find


def _router(place: str) -> APIRouter:
    module, _, name = place.partition(":")
    found: APIRouter = getattr(import_module(f"parachute.{module}"), name or "router")
    return found


def _table(lines: Mapping[str, str]) -> dict[str, tuple[Find, ...]]:
    return {part: tuple(partial(_router, place) for place in places.split()) for part, places in lines.items()}


# The first part of a path below /api, or of any other path, and the modules whose routers have routes there: those routes are
# added, and no others. Of two routes that fit a request, the more precise one answers.
ROUTES = _table(
    {
        "chat": (
            "files.attachments_api chat.runs.api chat.permissions.api chat.sessions.api chat.runs.changes_api"
            " chat.runs.turns_api ops.export.api:conversation_router"
        ),
        "ls": "files.api",
        "read": "files.api",
        "write": "files.api",
        "files": "files.api files.pages.api files.sync.api",
        "contexts": "chat.contexts.api automation.curator.api",
        "prompt": "chat.runs.preview_api",
        "workspaces": "chat.workspaces.api",
        "mcps": "capabilities.mcp_servers.logins.api capabilities.mcp_servers.api",
        "plugins": "capabilities.plugins.api",
        "agents": "capabilities.agents.api",
        "skills": "capabilities.skills.api",
        "network": "chat.network.api",
        "git": "chat.repositories.api",
        "claude-code": "chat.claude_code_import.api",
        "auth": "security.keys.api",
        "pairing": "web.pairing.api",
        "audit": "security.audit.api",
        "usage": "llm.gateway.api llm.gateway.costs_api",
        "ask": "llm.gateway.api",
        "provider": "llm.gateway.api",
        "hooks": "events.hooks.api",
        "inbox": "events.inbox.api",
        "push": "connectors.push.api",
        "backups": "ops.backup.api ops.backup.kit.api ops.backup.restore_api",
        "export": "ops.export.api",
        "forget": "ops.forget.api",
        "updates": "ops.updates.api",
        "doctor": "ops.doctor.api",
        "logs": "ops.logs.api",
        "config": "ops.settings.api",
        "phone": "ops.phone.api",
        "events": "events.feed.api events.bus.api",
        "agent-runs": "automation.agent_requests.api",
        "modules": (
            "automation.module_agents.api modules.registry.official_api modules.registry.staged_api modules.registry.api"
            " automation.scheduled_agents.api"
        ),
        "/mcp": "modules.mcp_endpoint.api",
        "mcp-clients": "modules.mcp_endpoint.clients_api",
        "/oauth": "web.authorization.api",
        "/.well-known": "web.authorization.api",
        "para": "modules.runtime.api",
        "scheduler": "automation.scheduled_agents.api",
        "reminders": "automation.reminders.api",
        "tasks": "automation.tasks.api",
        "suggestions": "automation.triage.api automation.suggestions.api",
        "sandbox": "sandbox.image.api chat.runs.api:sandbox_router",
        "memory": "automation.memory.api",
        "voice": "automation.transcription.api",
        "bots": "connectors.bots.api",
        "/supervisor": "server.status.supervisor_api",
        "/": "server.console.api",
        "/console": "server.console.api",
        "/setup": "server.first_run.api",
        "setup": "server.first_run.api",
        "/tls": "server.trust_page.api web.tls.api",
        "tls": "web.tls.api",
    }
)
