"""The supervisor's control socket: one JSON object a line, asked and answered; only its owner can open it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from parachute.errors import InvalidInput, ParachuteError, Unavailable
from parachute.settings.home import Home

_LINE_LIMIT = 64 * 1024

Handler = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


async def serve(home: Home, handle: Handler) -> asyncio.Server:
    """Answer requests until the returned server is closed."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                try:
                    request = json.loads(line)
                    if not isinstance(request, dict):
                        raise InvalidInput("expected a JSON object.")
                    reply = {"ok": True, **await handle(request)}
                except ParachuteError as error:
                    reply = {"ok": False, "message": error.message, "hint": error.hint, "key": error.key}
                except ValueError as error:
                    reply = {
                        "ok": False,
                        "message": f"The request cannot be read: {error}.",
                        "hint": None,
                        "key": "error",
                    }
                writer.write(json.dumps(reply).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError):
            pass  # the caller left, or sent a line without end
        finally:
            writer.close()

    home.control_socket.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(answer, home.control_socket, limit=_LINE_LIMIT)
    home.control_socket.chmod(0o600)
    return server


async def ask(home: Home, operation: str, seconds: float = 90, **fields: Any) -> dict[str, Any]:
    """Send one request and return its answer; error: Unavailable when no supervisor runs, or what it reports."""
    try:
        reader, writer = await asyncio.open_unix_connection(home.control_socket, limit=1024 * 1024)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise Unavailable(
            "The computer is not running.", "Start it with `parachute start`.", key="not_running"
        ) from error
    try:
        writer.write(json.dumps({"operation": operation, **fields}).encode() + b"\n")
        line = await asyncio.wait_for(reader.readline(), seconds)
    except (TimeoutError, ConnectionError) as error:
        raise Unavailable("The supervisor does not answer.", f"See {home.logs / 'supervisor.log'}.") from error
    finally:
        writer.close()
    if not line:
        raise Unavailable("The supervisor has ended.", f"See {home.logs / 'supervisor.log'}.")
    reply: dict[str, Any] = json.loads(line)
    if not reply.pop("ok"):
        raise Unavailable(reply["message"], reply["hint"], key=reply["key"])
    return reply
