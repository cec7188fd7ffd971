"""The supervisor's control socket: one JSON object a line, asked and answered; only its owner can open it."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.config.settings.home import Home

_LINE_LIMIT = 64 * 1024

log = logging.getLogger(__name__)

Handler = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


async def serve(home: Home, handle: Handler) -> asyncio.Server:
    """Answer requests until the returned server is closed."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                reply = await _reply(line, handle)
                writer.write(json.dumps(reply).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError):
            pass  # the caller left, or sent a line without end
        except asyncio.CancelledError:
            pass  # the supervisor ends; Python 3.11 reports a cancelled task as an error in a callback (gh-113538)
        finally:
            writer.close()

    home.control_socket.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(answer, home.control_socket, limit=_LINE_LIMIT)
    home.control_socket.chmod(0o600)
    return server


async def _reply(line: bytes, handle: Handler) -> dict[str, Any]:
    try:
        request = json.loads(line)
        if not isinstance(request, dict):
            raise InvalidInput("expected a JSON object.", key="not_an_object")
        return {"ok": True, **await handle(request)}
    except ParachuteError as error:
        found = error
    except (ValueError, RecursionError) as error:
        found = InvalidInput(f"The request cannot be read: {error}.", key="request_unreadable")
    except Exception as error:
        # The caller has to hear of it, and every other unit must go on.
        log.exception("A request failed")
        found = ParachuteError(f"The supervisor could not do it: {error}.", key="supervisor_failed")
    return {"ok": False, "message": found.message, "hint": found.hint, "key": found.key}


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
        async with asyncio.timeout(seconds):
            line = await reader.readline()
    except (TimeoutError, ConnectionError) as error:
        raise Unavailable(
            "The supervisor does not answer.", f"See {home.logs / 'supervisor.log'}.", key="supervisor_silent"
        ) from error
    finally:
        writer.close()
    if not line:
        raise Unavailable("The supervisor has ended.", f"See {home.logs / 'supervisor.log'}.", key="supervisor_ended")
    reply: dict[str, Any] = json.loads(line)
    if not reply.pop("ok"):
        raise Unavailable(reply["message"], reply["hint"], key=reply["key"])
    return reply
