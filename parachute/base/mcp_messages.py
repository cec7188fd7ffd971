"""Messages of MCP, answered by what has tools, and perhaps more."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping
from typing import Any

from msgspec import Struct, field

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions of the protocol, the newest first; what is answered here is the same in all of them."""

INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL, CANCELLED = -32600, -32601, -32602, -32603, -32800
"""Numbers of JSON-RPC 2.0, section 5.1; the last one is of the Language Server Protocol, and what MCP's own library sends."""

NO_RESOURCE = -32002
"""A number of MCP (resources, error handling)."""

Object = dict[str, Any]


class Wrong(Exception):
    """A message that cannot be answered, with the number of JSON-RPC."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Tools(Struct, frozen=True):
    """The tools of a server: who it says that it is, what it lists, and the result of a call, whose errors are Wrong.

    One that has more says so in `capabilities`, and answers further `methods`, each with a result for its parameters.
    """

    introduction: Object
    listed: Callable[[], list[Object]]
    call: Callable[[object, Object], Awaitable[Object]]
    capabilities: Object = field(default_factory=lambda: {"tools": {}})
    methods: Mapping[str, Callable[[Object], Awaitable[Object]]] = field(default_factory=dict)


CANCELLATION = "notifications/cancelled"


class Working:
    """Messages that are being answered, each by a key, so that it can be cancelled."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Object | None]] = {}

    def is_at(self, key: Hashable) -> bool:
        """Return whether a message of this key is not answered yet."""
        return key in self._tasks

    async def answered(
        self, key: Hashable, identifier: object, work: Coroutine[Any, Any, Object | None]
    ) -> Object | None:
        """The answer that `work` gives to a message, or one that says that it was cancelled; errors: those of `work`."""
        if self.is_at(key):
            work.close()
            return refusal(identifier, Wrong(INVALID_REQUEST, "id: it is in use."))
        task = self._tasks[key] = asyncio.create_task(work, name="message of MCP")
        # Not when nobody waits for it any more: it may still be at work, and `close` waits for its end.
        task.add_done_callback(lambda ended: self._ended(key, ended))
        try:
            await asyncio.wait({task})
            if task.cancelled():
                return refusal(identifier, Wrong(CANCELLED, "The request was cancelled."))
            return task.result()
        finally:
            task.cancel()

    def cancel(self, key: Hashable) -> None:
        """Cancel one message, if it is being answered."""
        if task := self._tasks.get(key):
            task.cancel()

    def cancel_where(self, wanted: Callable[[Hashable], bool]) -> None:
        """Cancel messages by their keys."""
        for key, task in self._tasks.items():
            if wanted(key):
                task.cancel()

    def _ended(self, key: Hashable, task: asyncio.Task[Object | None]) -> None:
        del self._tasks[key]
        if not task.cancelled():
            task.exception()  # whoever would have heard of it may be gone

    async def close(self) -> None:
        """Cancel everything, and wait for its end."""
        working = list(self._tasks.values())
        self.cancel_where(lambda _: True)
        await asyncio.gather(*working, return_exceptions=True)


async def answer(message: Mapping[str, Any], tools: Tools) -> Object | None:
    """The answer to one message, None to one that wants none; errors: those of `tools.call` but Wrong."""
    identifier, method, params = message.get("id"), message.get("method"), message.get("params")
    if method is None or "id" not in message:
        return None  # a notification, or an answer to what nobody asked
    try:
        if isinstance(identifier, bool) or not isinstance(identifier, str | int):
            raise Wrong(INVALID_REQUEST, "id: expected a text or a number.")
        if not isinstance(params, dict | None):
            raise Wrong(INVALID_PARAMS, "params: expected an object.")
        return {"jsonrpc": "2.0", "id": identifier, "result": await _result(str(method), params or {}, tools)}
    except Wrong as wrong:
        return refusal(identifier, wrong)


def refusal(identifier: object, wrong: Wrong) -> Object:
    """The answer to a message with which something is wrong."""
    shown = identifier if isinstance(identifier, str | int) else None
    return {"jsonrpc": "2.0", "id": shown, "error": {"code": wrong.code, "message": str(wrong)}}


async def _result(method: str, params: Object, tools: Tools) -> Object:
    if method == "initialize":
        wanted = params.get("protocolVersion")
        version = wanted if wanted in VERSIONS else VERSIONS[0]
        return {"protocolVersion": version, "capabilities": tools.capabilities, **tools.introduction}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": tools.listed()}
    if method == "tools/call":
        arguments = params.get("arguments")
        if not isinstance(arguments, dict | None):
            raise Wrong(INVALID_PARAMS, "arguments: expected an object.")
        return await tools.call(params.get("name"), arguments or {})
    if further := tools.methods.get(method):
        return await further(params)
    raise Wrong(NO_METHOD, f"There is no method {method[:80]!r} here.")
