"""What authors of modules import; everything else of this computer is out of a module's reach."""

from parachute.base import documents
from parachute.core.agents import AgentConfig, SandboxConfig, agent
from parachute.core.decorators import event, mcp_tool, route
from parachute.core.errors import ModuleError
from parachute.core.event import Event
from parachute.core.module import Module
from parachute.core.para_id import ParaId
from parachute.core.request import Caller, Request
from parachute.core.response import Response
from parachute.disk_errors import disk_error
from parachute.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError, Unavailable

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
    "Request",
    "Response",
    "SandboxConfig",
    "Unavailable",
    "agent",
    "disk_error",
    "documents",
    "event",
    "mcp_tool",
    "route",
]
