"""Routes of MCP servers (contract, section 5); how they are approved is shown at the computer, with `parachute mcp approve`."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.services import provided
from parachute.capabilities.mcp_servers.catalog import Listed
from parachute.capabilities.mcp_servers.models import BUILT_IN, NeedsLogin
from parachute.capabilities.mcp_servers.service import McpServers
from parachute.capabilities.mcp_servers.statuses import Status

router = APIRouter(prefix="/api/mcps", tags=["mcps"])


ServersDependency = Annotated[McpServers, Depends(provided(McpServers))]


@router.get("")
async def list_servers(service: ServersDependency) -> dict[str, Any]:
    """The servers of `.mcp.json`, and the computer's own."""
    running = service.running()
    servers = [
        as_json(each, is_running=each.server.name in running, status=service.statuses.of(each))
        for each in await service.listed()
    ]
    return {"servers": [_own(), *servers], "problem": service.catalog.problem()}


@router.post("")
async def add_server(service: ServersDependency, body: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
    """Add a server, `{name, command, args, env}`, `{name, url, type, headers}` or `{name, config: {…}}`; so typed it is approved."""
    fields = dict(body)
    name = fields.pop("name", None)
    if not isinstance(name, str):
        raise InvalidInput("name: expected text.", key="server_name_expected")
    if "config" in fields:
        if len(fields) > 1 or not isinstance(fields["config"], dict):
            raise InvalidInput(
                "config: expected an object, and nothing else but the name.", key="server_config_expected"
            )
        fields = fields["config"]
    added = await service.add(name, fields)
    return {"success": True, "server": as_json(added, is_running=False, status=service.statuses.of(added))}


@router.delete("/{name:path}")
async def remove_server(name: str, service: ServersDependency) -> dict[str, bool]:
    """Remove a server; what it has written stays in the owner's folder."""
    await service.remove(name)
    return {"success": True}


@router.post("/{name:path}/test")
async def test_server(name: str, service: ServersDependency) -> dict[str, Any]:
    """Start or call a server that is approved, and see whether it says what it offers."""
    try:
        tools = await service.tools(name)
    except ParachuteError as error:
        if error.status == 404:
            raise
        status = "needs_login" if isinstance(error, NeedsLogin) else "error"
        return {"status": status, "error": error.message, "message": error.hint or "", "key": error.key}
    names = [tool.name for tool in tools]
    return {"status": "ok", "tools_count": len(names), "tools": names, "message": f"It offers {len(names)} tools."}


@router.get("/{name:path}/tools")
async def server_tools(name: str, service: ServersDependency) -> dict[str, Any]:
    """List the tools that an approved server offers to agents."""
    try:
        tools = await service.tools(name)
    except ParachuteError as error:
        if error.status == 404:
            raise
        return {"tools": [], "error": str(error)}
    return {"tools": [{"name": tool.name, "description": tool.description} for tool in tools]}


def as_json(listed: Listed, *, is_running: bool, status: tuple[Status, str | None]) -> dict[str, Any]:
    """A server as the app reads it, with our own additions; never what its environment and its headers hold."""
    server = listed.server
    return {
        "name": server.label,
        "displayType": server.kind,
        "displayCommand": server.shown,
        "builtin": False,
        "validationErrors": list(listed.problems) or None,
        "state": listed.state,
        "running": is_running,
        "status": status[0],
        "problem": status[1],
        "signed_in": listed.is_signed_in,
        "environment": [name for name, _ in server.env],
        "headers": [name for name, _ in server.headers],
        "hosts": list(listed.approval.hosts) if listed.runnable and listed.approval else [],
        "folders": list(listed.approval.folders) if listed.runnable and listed.approval else [],
    }


def _own() -> dict[str, Any]:
    return {
        "name": BUILT_IN,
        "displayType": "builtin",
        "displayCommand": "The tools of your modules",
        "builtin": True,
        "validationErrors": None,
        "state": "approved",
        "running": True,
        "status": "connected",
        "problem": None,
        "signed_in": False,
        "environment": [],
        "headers": [],
        "hosts": [],
        "folders": [],
    }
