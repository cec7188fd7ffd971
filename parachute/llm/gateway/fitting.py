"""Tools for a model with a small window: as many as fit beside the prompt, or a refusal before the first message."""

import asyncio
import json
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.exchange import Refused
from parachute.llm.gateway.models import Provider
from parachute.llm.gateway.prices import BYTES_OF_TOKEN
from parachute.llm.gateway.probe import Asking
from parachute.llm.gateway.upstream import Upstream
from parachute.llm.gateway.window import TOO_SMALL

_ESSENTIAL = ("Read", "Edit", "Write", "Grep", "Glob")
"""Tools for reading, writing and searching, the first the last to go; with fewer of them no work is done."""

_OFTEN = ("Bash", "AskUserQuestion", "TodoWrite", "Skill")
_CONVERSATION = 4
"""One part in so many of a window is left to what is said."""

_LEAST = 1024
_MOST_KEPT = 100
_NAMED = 8


class Fitting:
    """Measures a request in the tokens of its model where its server counts them, and in bytes where it does not."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    async def fitted(
        self, body: dict[str, Any], endpoint: ModelEndpoint, provider: Provider, model: str
    ) -> dict[str, Any]:
        """Return a body with the tools that fit into the window of its model, if that is known; error: Refused."""
        window = self._upstream.servers.window(provider)
        tools = body.get("tools")
        if (
            window is None
            or not isinstance(tools, list)
            or not tools
            or not all(isinstance(_name(each), str) for each in tools)
        ):
            return body
        room = window - max(_LEAST, window // _CONVERSATION)
        fixed = len(json.dumps(body.get("system", "")))
        sizes = {str(_name(each)): len(json.dumps(each)) for each in tools}
        if fixed + sum(sizes.values()) <= room * BYTES_OF_TOKEN:
            return body
        key = (provider.called, model, window, fixed, tuple(sizes.items()))
        left_out = endpoint.left_out.get(key)
        if left_out is None:
            left_out = await self._left_out(body, sizes, room, window, provider, model)
            if len(endpoint.left_out) < _MOST_KEPT:
                endpoint.left_out[key] = left_out
            if left_out and endpoint.say is not None:
                endpoint.say("Fewer tools", _sentence(left_out, len(tools), window))
        return {**body, "tools": _without(tools, left_out)} if left_out else body

    async def _left_out(
        self, body: dict[str, Any], sizes: dict[str, int], room: int, window: int, provider: Provider, model: str
    ) -> frozenset[str]:
        """Choose the tools to leave out, and measure what remains; error: Refused if it does not fit either."""
        left_out: frozenset[str] = frozenset()
        going = sorted(sizes, key=_worth)
        while True:
            tools = _without(body["tools"], left_out)
            tokens = await self._tokens(body, tools, provider, model)
            if tokens <= room:
                return left_out
            # In the measure of this very request: what a byte of it takes.
            size = len(json.dumps(body.get("system", ""))) + sum(map(sizes.__getitem__, set(sizes) - left_out))
            surplus = (tokens - room) / (tokens / max(1, size))
            more = []
            for name in (name for name in going if name not in left_out and name not in _ESSENTIAL):
                if surplus <= 0:
                    break
                more.append(name)
                surplus -= sizes[name]
            if not more:
                raise Refused(
                    400,
                    "invalid_request_error",
                    f"The model takes {window:,} tokens, and this conversation begins with {tokens:,}, its shortest set of "
                    "tools included. Start its server with a larger window, or choose another model.",
                    "context_exceeded",
                    TOO_SMALL,
                )
            left_out |= frozenset(more)

    async def _tokens(self, body: dict[str, Any], tools: list[Any], provider: Provider, model: str) -> int:
        counted = {"model": model, "system": body.get("system", ""), "tools": tools}
        facts = self._upstream.servers.get(provider)
        if facts is not None and facts.counts:
            try:
                credential = await self._upstream.fresh_credential(provider)
                asking = Asking(await self._upstream.client(provider), provider, credential)
            except ParachuteError:
                asking = None
            said = {**counted, "messages": [{"role": "user", "content": "."}]}
            if asking is not None and (tokens := await asking.tokens(said)) is not None:
                return tokens
        return len(await asyncio.to_thread(json.dumps, counted)) // BYTES_OF_TOKEN


def _name(tool: Any) -> Any:
    return tool.get("name") if isinstance(tool, dict) else None


def _without(tools: list[Any], left_out: frozenset[str]) -> list[Any]:
    return [each for each in tools if _name(each) not in left_out]


def _worth(name: str) -> int:
    """The place of a tool among those that go: first those of modules and servers, then the program's rare ones."""
    order = (*_ESSENTIAL, *_OFTEN)
    if name in order:
        return len(order) - order.index(name) + 1
    return 0 if name.startswith("mcp__") else 1


def _sentence(left_out: frozenset[str], count: int, window: int) -> str:
    names = sorted(name.rpartition("__")[2] for name in left_out)
    shown = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    return f"The model takes {window:,} tokens, so {len(names)} of {count} tools are left out: {shown}."
