"""Messages of MCP that an agent's program sends to its tools, by way of the SDK."""

from typing import Any

from parachute.base import mcp_messages
from parachute.base.mcp_messages import CANCELLATION, Tools, Working


class SdkMcpBridge:
    """Takes the place of the SDK's class of this name: it gets the messages, and a server's name and `instance`.

    The SDK's runs a server of MCP's library for each, with every type of three versions of the protocol: 11 MB of the
    server's memory, and half of the time that the first conversation waits for imports.
    """

    def __init__(self, name: str, server: Tools) -> None:
        self._name = name
        self._tools = server
        self._working = Working()

    async def handle(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to one message, None to one that wants none."""
        identifier = message.get("id")
        if message.get("method") == CANCELLATION:
            params = message.get("params")
            self._working.cancel(params.get("requestId") if isinstance(params, dict) else None)
            return None
        return await self._working.answered(identifier, identifier, mcp_messages.answer(message, self._tools))

    async def aclose(self) -> None:
        """Cancel what is at work, and wait for its end."""
        await self._working.close()
