"""The route of MCP (streamable HTTP): each message is a POST, and each answer a document; nothing is streamed or kept."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.errors import InvalidInput
from parachute.base.mcp_messages import VERSIONS
from parachute.base.services import provided
from parachute.modules.mcp_endpoint.service import McpEndpoint
from parachute.security.keys.models import Caller

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


@router.post("/mcp", response_class=Response, responses={200: {"content": {"application/json": {}}}, 202: {}})
async def mcp(
    request: Request,
    message: McpMessage,
    service: EndpointDependency,
    mcp_protocol_version: Annotated[str | None, Header(max_length=40)] = None,
) -> Response:
    """Answer a message of the Model Context Protocol; the key's scopes, or what a client was granted, say which tools there are."""
    if mcp_protocol_version is not None and mcp_protocol_version not in VERSIONS:
        raise InvalidInput(
            f"MCP-Protocol-Version: expected one of {', '.join(VERSIONS)}.", status=400, key="unknown_version"
        )
    caller: Caller = request.scope["state"]["caller"]
    answer = await service.answer(message.model_dump(exclude_unset=True), caller, caller.may)
    if answer is None:
        return Response(status_code=202)
    return Response(answer, media_type="application/json")
