"""Routes of MCP servers (contract, section 5); how they are approved is shown at the computer, with `parachute mcp approve`."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends
from msgspec import field

from parachute.base.answers import Answer, Done, LeftOut
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.services import provided
from parachute.capabilities.mcp_servers.catalog import Listed
from parachute.capabilities.mcp_servers.models import BUILT_IN, NeedsLogin
from parachute.capabilities.mcp_servers.service import McpServers
from parachute.capabilities.mcp_servers.statuses import Status

router = APIRouter(prefix="/api/mcps", tags=["mcps"])


ServersDependency = Annotated[McpServers, Depends(provided(McpServers))]


TestStatus = Literal["ok", "needs_login", "error"]


class ServerRow(Answer, frozen=True):
    """A server; `environment` and `headers` hold names alone."""

    name: str
    kind: str = field(name="displayType")
    command: str = field(name="displayCommand")
    builtin: bool
    errors: tuple[str, ...] | None = field(name="validationErrors")
    state: str
    running: bool
    status: Status
    problem: str | None = None
    signed_in: bool = False
    environment: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


class ServerList(Answer, frozen=True):
    """Servers, and the `problem` of their file."""

    servers: tuple[ServerRow, ...]
    problem: str | None


class AddedServer(Answer, frozen=True):
    """The server that was added."""

    server: ServerRow
    success: bool = True


class ServerTest(Answer, frozen=True):
    """The result of calling a server; without `tools` the `error` says why."""

    status: TestStatus
    message: str
    tools_count: int | None = None
    tools: tuple[str, ...] | None = None
    error: str | None = None
    key: str | None = None
    left_out: tuple[LeftOut, ...] = ()


class ToolRow(Answer, frozen=True):
    """A tool of a server."""

    name: str
    description: str


class ToolList(Answer, frozen=True):
    """The tools of a server, or the `error` for which there are none."""

    tools: tuple[ToolRow, ...]
    error: str | None = None
    left_out: tuple[LeftOut, ...] = ()


@router.get("")
async def list_servers(service: ServersDependency) -> ServerList:
    """The servers of `.mcp.json`, and the computer's own."""
    running = service.running()
    servers = (
        row_of(each, is_running=each.server.name in running, status=service.statuses.of(each))
        for each in await service.listed()
    )
    return ServerList((_OWN, *servers), service.catalog.problem())


@router.post("")
async def add_server(service: ServersDependency, body: Annotated[dict[str, Any], Body()]) -> AddedServer:
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
    return AddedServer(row_of(added, is_running=False, status=service.statuses.of(added)))


@router.delete("/{name:path}")
async def remove_server(name: str, service: ServersDependency) -> Done:
    """Remove a server; what it has written stays in the owner's folder."""
    await service.remove(name)
    return Done()


@router.post("/{name:path}/test")
async def test_server(name: str, service: ServersDependency) -> ServerTest:
    """Start or call a server that is approved, and see whether it says what it offers."""
    try:
        offer = await service.offer(name)
    except ParachuteError as error:
        if error.status == 404:
            raise
        status: TestStatus = "needs_login" if isinstance(error, NeedsLogin) else "error"
        return ServerTest(status, error.hint or "", error=error.message, key=error.key)
    names = tuple(tool.name for tool in offer.tools)
    message = f"It offers {len(names)} tools{f', and {len(offer.left_out)} are left out' if offer.left_out else ''}."
    return ServerTest("ok", message, len(names), names, left_out=offer.left_out)


@router.get("/{name:path}/tools")
async def server_tools(name: str, service: ServersDependency) -> ToolList:
    """List the tools that an approved server offers to agents."""
    try:
        offer = await service.offer(name)
    except ParachuteError as error:
        if error.status == 404:
            raise
        return ToolList((), str(error))
    return ToolList(tuple(ToolRow(tool.name, tool.description) for tool in offer.tools), left_out=offer.left_out)


def row_of(listed: Listed, *, is_running: bool, status: tuple[Status, str | None]) -> ServerRow:
    """A server as the app reads it, with our own additions; never what its environment and its headers hold."""
    server = listed.server
    approval = listed.approval if listed.runnable else None
    return ServerRow(
        name=server.label,
        kind=server.kind,
        command=server.shown,
        builtin=False,
        errors=tuple(listed.problems) or None,
        state=listed.state,
        running=is_running,
        status=status[0],
        problem=status[1],
        signed_in=listed.is_signed_in,
        environment=tuple(name for name, _ in server.env),
        headers=tuple(name for name, _ in server.headers),
        hosts=tuple(approval.hosts) if approval else (),
        folders=tuple(approval.folders) if approval else (),
    )


_OWN = ServerRow(
    name=BUILT_IN,
    kind="builtin",
    command="The tools of your modules",
    builtin=True,
    errors=None,
    state="approved",
    running=True,
    status="connected",
)
