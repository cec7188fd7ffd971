"""Messages of MCP that an agent's program sends to its tools, by way of the SDK."""

import asyncio
from typing import Any

from parachute.base import mcp_messages
from parachute.base.mcp_messages import CANCELLED, Tools, Wrong

_CANCELLATION = "notifications/cancelled"


class SdkMcpBridge:
    """Takes the place of the SDK's class of this name: it gets the messages, and a server's name and `instance`.

    The SDK's runs a server of MCP's library for each, with every type of three versions of the protocol: 11 MB of the
    server's memory, and half of the time that the first conversation waits for imports.
    """

    def __init__(self, name: str, server: Tools) -> None:
        self._name = name
        self._tools = server
        self._working: dict[object, asyncio.Task[dict[str, Any] | None]] = {}

    async def handle(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to one message, None to one that wants none."""
        identifier = message.get("id")
        if message.get("method") == _CANCELLATION:
            params = message.get("params")
            if work := self._working.get(params.get("requestId") if isinstance(params, dict) else None):
                work.cancel()
            return None
        if identifier in self._working:
            return mcp_messages.refusal(identifier, Wrong(mcp_messages.INVALID_REQUEST, "id: it is in use."))
        work = asyncio.create_task(mcp_messages.answer(message, self._tools), name=f"message to {self._name}")
        self._working[identifier] = work
        try:
            await asyncio.wait({work})
            if work.cancelled():
                return mcp_messages.refusal(identifier, Wrong(CANCELLED, "The request was cancelled."))
            return work.result()
        finally:
            work.cancel()
            del self._working[identifier]

    async def aclose(self) -> None:
        """Cancel what is at work, and wait for its end."""
        working = list(self._working.values())
        for work in working:
            work.cancel()
        await asyncio.gather(*working, return_exceptions=True)
