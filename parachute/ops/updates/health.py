"""Health of the running program, as it reports itself: its version, and whether it serves."""

import asyncio
import http.client
from typing import Any

from msgspec import Struct

from parachute.config.settings.home import Home
from parachute.supervisor import control

_ASK_SECONDS = 10.0
_UNSPECIFIED = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - to call, not to listen on


class Health(Struct, frozen=True):
    """`problem` is why it does not serve, None if it does; `has_failed` if it is not started any more."""

    program: str
    manager: str
    host: str
    port: int
    restarts: int
    problem: str | None
    has_failed: bool = False


async def running_health(home: Home) -> Health:
    """Ask the supervisor, then the server itself; error: Unavailable if no supervisor answers."""
    status = await control.ask(home, "status", _ASK_SECONDS)
    core: dict[str, Any] = next((unit for unit in status["units"] if unit["name"] == "core"), {})
    host, port = status["main_server_host"], status["main_server_port"]
    problem = core.get("reason") or "the server is not up"
    if status["main_server_healthy"]:
        problem = await asyncio.to_thread(_problem, _UNSPECIFIED.get(host, host), port)
    return Health(
        program=status.get("program", ""),
        manager=status.get("manager", "process"),
        host=host,
        port=port,
        restarts=core.get("restarts", 0),
        problem=problem,
        has_failed=core.get("state") == "failed",
    )


def _problem(host: str, port: int) -> str | None:
    connection = http.client.HTTPConnection(host, port, timeout=_ASK_SECONDS)
    try:
        connection.request("GET", "/api/health")
        answer = connection.getresponse()
        answer.read(64 * 1024)
    except (OSError, http.client.HTTPException) as error:
        return f"the server does not answer ({type(error).__name__})"
    finally:
        connection.close()
    return None if answer.status < 300 else f"the server answers {answer.status}"
