"""The library that authors of modules import; a module reaches nothing else of this computer."""

from parachute.base import documents
from parachute.base.disk_errors import disk_error, is_passing
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError, Unavailable
from parachute.base.files import remove_database
from parachute.base.steering.judging import is_told_in_vault
from parachute.core import front_matter
from parachute.core.agents import AgentConfig, SandboxConfig, agent
from parachute.core.decorators import event, mcp_tool, route
from parachute.core.errors import ModuleError
from parachute.core.event import Event
from parachute.core.module import Module
from parachute.core.para_id import ParaId
from parachute.core.preview import Preview
from parachute.core.request import Caller, Request
from parachute.core.response import Response

__all__ = [
    "AgentConfig",
    "Caller",
    "Conflict",
    "Event",
    "InvalidInput",
    "Module",
    "ModuleError",
    "NotAllowed",
    "NotFound",
    "ParaId",
    "ParachuteError",
    "Preview",
    "Request",
    "Response",
    "SandboxConfig",
    "Unavailable",
    "agent",
    "disk_error",
    "documents",
    "event",
    "front_matter",
    "is_passing",
    "is_told_in_vault",
    "mcp_tool",
    "remove_database",
    "route",
]
