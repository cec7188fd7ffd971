"""The MCP servers of the SDK's side: JSON-RPC within requests of the channel."""

from typing import Any

from .channel import Channel, Message
from .tools import Result

_PROTOCOL = "2025-11-25"
_INITIALIZE = {
    "protocolVersion": _PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "claude-code", "version": "2.1.330"},
}


class Servers:
    """The tools of all servers, by the name that the model knows."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._number = 0
        self._places: dict[str, tuple[str, str]] = {}
        self._running: dict[str, tuple[str, int]] = {}
        self._connected: set[str] = set()
        self.described: list[Message] = []

    @property
    def tools(self) -> list[str]:
        """The names of all tools."""
        return list(self._places)

    def connect(self, names: list[str]) -> None:
        """Ask each server for its tools, once; error: Interrupted."""
        for server in names:
            if server in self._connected:
                continue
            self._ask(server, "initialize", _INITIALIZE)
            self._notify(server, "notifications/initialized")
            for tool in self._ask(server, "tools/list")["result"]["tools"]:
                name = f"mcp__{server}__{tool['name']}"
                self._places[name] = (server, tool["name"])
                self.described.append(
                    {"name": name, "description": tool["description"], "input_schema": tool["inputSchema"]}
                )
            self._connected.add(server)

    def call(self, name: str, arguments: Message, call: str) -> Result:
        """Call a tool; error: Interrupted."""
        server, tool = self._places[name]
        given = {"name": tool, "arguments": arguments, "_meta": {"claudecode/toolUseId": call}}
        answer = self._ask(server, "tools/call", given)
        if "error" in answer:
            return Result(str(answer["error"]["message"]), failed=True)
        result = answer["result"]
        if result.get("isError"):
            return Result("\n".join(block.get("text", "") for block in result["content"]), failed=True)
        return Result(result["content"], details=result["content"])

    def cancel(self, request: str) -> bool:
        """Tell the server whose answer was waited for in a request that nobody waits; False if it was none of these."""
        if (running := self._running.get(request)) is None:
            return False
        server, number = running
        self._notify(server, "notifications/cancelled", {"requestId": number, "reason": "AbortError: remote-cancel"})
        return True

    def _ask(self, server: str, method: str, parameters: Message | None = None) -> Message:
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._number, "method": method}
        if parameters is not None:
            message["params"] = parameters
        request = self._channel.begin({"subtype": "mcp_message", "server_name": server, "message": message})
        self._running[request] = (server, self._number)
        self._number += 1
        try:
            response: Message = self._channel.answer_to(request)["mcp_response"]
        finally:
            del self._running[request]
        return response

    def _notify(self, server: str, method: str, parameters: Message | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if parameters is not None:
            message["params"] = parameters
        self._channel.tell({"subtype": "mcp_message", "server_name": server, "message": message})
