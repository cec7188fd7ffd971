"""How a request is turned away before any route has seen it."""

import json

from starlette.types import Scope, Send

from parachute.errors import ParachuteError


def error_body(error: ParachuteError) -> dict[str, object]:
    """The JSON object that an error is shown as; `detail` is the sentence alone, what to do next stands in `hint`."""
    return {**error.fields, "detail": error.message, "key": error.key, "hint": error.hint}


def encoded(body: dict[str, object]) -> bytes:
    """The body as JSON; fields that JSON does not know are shown as text."""
    return json.dumps(body, ensure_ascii=False, default=str).encode(errors="replace")


async def refuse(scope: Scope, send: Send, error: ParachuteError) -> None:
    """Answer a request or the opening of a websocket with the error."""
    body = encoded(error_body(error))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    kind = "http.response"
    if scope["type"] == "websocket":
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": error.message[:120]})
            return
        kind = "websocket.http.response"
    await send({"type": f"{kind}.start", "status": error.status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body})
