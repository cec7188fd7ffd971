"""Refusals of requests before any route has seen them."""

import json

from starlette.types import Scope, Send

from parachute.base.errors import ParachuteError


def body_of(error: ParachuteError) -> bytes:
    """The error as JSON; fields that JSON does not know are shown as text."""
    return json.dumps(error.as_json(), ensure_ascii=False, default=str).encode(errors="replace")


async def refuse(scope: Scope, send: Send, error: ParachuteError, challenge: str = "Bearer") -> None:
    """Answer a request or the opening of a websocket with the error; `challenge` says of 401 how to come in."""
    body = body_of(error)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if error.status == 401:
        headers.append((b"www-authenticate", challenge.encode("latin-1", "replace")))
    kind = "http.response"
    if scope["type"] == "websocket":
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": error.message[:120]})
            return
        kind = "websocket.http.response"
    await send({"type": f"{kind}.start", "status": error.status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body})
