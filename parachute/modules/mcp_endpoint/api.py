"""The route of MCP (streamable HTTP): each message is a POST, and each answer a document, or a stream with its progress."""

import asyncio
import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Done
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.mcp_messages import VERSIONS
from parachute.base.services import provided
from parachute.modules.mcp_endpoint.progress import Progress
from parachute.modules.mcp_endpoint.service import McpEndpoint
from parachute.security.keys.models import Caller
from parachute.web.http.event_stream import EventStream

router = APIRouter(tags=["mcp"])

EndpointDependency = Annotated[McpEndpoint, Depends(provided(McpEndpoint))]


class McpMessage(BaseModel):
    """A message of JSON-RPC 2.0: a request has an `id`, a notification has none."""

    model_config = ConfigDict(extra="allow", strict=True)

    jsonrpc: str
    method: str | None = None
    # Only ever sent back: some clients count nanoseconds.
    id: str | Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    params: dict[str, Any] | None = None


Session = Annotated[str, Header(alias="mcp-session-id", max_length=100)]
Version = Annotated[str | None, Header(alias="mcp-protocol-version", max_length=40)]
_STREAM = "text/event-stream"


@router.post(
    "/mcp", response_class=Response, responses={200: {"content": {"application/json": {}, _STREAM: {}}}, 202: {}}
)
async def mcp(
    request: Request,
    message: McpMessage,
    service: EndpointDependency,
    session: Session = "",
    version: Version = None,
) -> Response:
    """Answer a message of the Model Context Protocol; the key's scopes, or what a client was granted, say what there is.

    A call that takes long is answered by a stream, for those who want to hear of its progress.
    """
    _check(version)
    caller: Caller = request.scope["state"]["caller"]
    progress = Progress(message.id, message.params, accepts_stream=_takes_stream(request))
    said = message.model_dump(exclude_unset=True)
    work = asyncio.create_task(service.answer(said, caller, caller.may, session, progress.framed), name="answer to MCP")
    if await progress.begins(work):
        return EventStream(progress.events(work), is_numbered=False)
    answer = await work
    if answer is None:
        return Response(status_code=202)
    # It names one conversation of a program, whose numbers of messages others use as well.
    begins = {"mcp-session-id": secrets.token_hex(16)} if message.method == "initialize" else {}
    return Response(answer, media_type="application/json", headers=begins)


@router.get("/mcp", response_class=Response, responses={200: {"content": {_STREAM: {}}}})
async def follow(request: Request, service: EndpointDependency, version: Version = None) -> Response:
    """Follow which lists of tools, resources and prompts become others, because modules or the grant do."""
    _check(version)
    if not _takes_stream(request):
        raise ParachuteError(f"Accept: {_STREAM} is expected.", key="stream_expected", status=405)
    caller: Caller = request.scope["state"]["caller"]
    return EventStream(service.changes(caller, caller.may), is_numbered=False)


@router.delete("/mcp")
async def leave(request: Request, service: EndpointDependency, session: Session = "") -> Done:
    """End a conversation of a program: what it is still asking is cancelled."""
    service.leave(request.scope["state"]["caller"], session)
    return Done()


def _takes_stream(request: Request) -> bool:
    return _STREAM in request.headers.get("accept", "")


def _check(version: str | None) -> None:
    if version is not None and version not in VERSIONS:
        raise InvalidInput(
            f"MCP-Protocol-Version: expected one of {', '.join(VERSIONS)}.", status=400, key="unknown_version"
        )
