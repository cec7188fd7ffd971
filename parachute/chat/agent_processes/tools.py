"""The tools of modules and of the user's own servers, for agents: MCP servers inside of the server for each agent process."""

import asyncio
import json
import logging
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from parachute import __version__
from parachute.base.errors import Conflict, NotAllowed, NotFound, ParachuteError, Unavailable
from parachute.base.mcp_messages import Tools
from parachute.chat.agent_processes.listed_tools import module_tool_listed
from parachute.chat.agent_processes.models import ModuleTools, OwnTool, ServerTool, shown_name
from parachute.core.decorators import TOOL_NAME
from parachute.modules.runtime.models import OfferedTool
from parachute.security.permissions.actions import MODULE_SERVER, server_tool_name

# The SDK is imported in functions: it takes a second of a small processor, which the start of the server has not.
if TYPE_CHECKING:
    from claude_agent_sdk import McpSdkServerConfig

log = logging.getLogger(__name__)

TEXT_LIMIT = 200_000
"""Characters of one result; the model's context holds a few of them."""

CALL_SECONDS = 120.0
"""Longest call of a tool, and longest silence of a server that reports how far it is."""

LONGEST_CALL_SECONDS = 30 * 60.0
_CALLS = 8
"""Calls of one agent at the same time; its program makes one after the other unless something went wrong in it."""

_DESCRIPTION_LIMIT = 2000
_SCHEMA_LIMIT = 64 * 1024
_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_COMBINATIONS = frozenset({"allOf", "anyOf", "oneOf"})


def permitted(offered: Iterable[OfferedTool], listed: tuple[str, ...] | None) -> tuple[OfferedTool, ...]:
    """The tools that an agent gets of those on offer, by name; `listed` None means all, see `module_tool_listed`.

    What the model's service would refuse is left out and logged: with it every request of the agent would fail.
    """
    found: dict[str, OfferedTool] = {}
    for tool in sorted(offered, key=lambda tool: tool.name):
        if tool.name in found or (listed is not None and not module_tool_listed(tool.name, listed)):
            continue
        if _is_usable(tool):
            found[tool.name] = tool
        else:
            log.warning("The tool %.64r of the module %s cannot be offered to agents.", tool.name, tool.module)
    return tuple(found.values())


def shown_names(tools: Iterable[OfferedTool]) -> tuple[str, ...]:
    """The names under which the agent's program and the policy know tools of modules and servers."""
    return tuple(map(shown_name, tools))


class ToolServer:
    """Answers one agent process; each call needs a permit, which only the decision about that call gives.

    What comes from a sandbox may be forged: a call that was announced to nobody meets no rule and no audit, so it does not run.
    """

    def __init__(self, session: str, offered: tuple[OfferedTool, ...], tools: ModuleTools) -> None:
        self._session = session
        self._offered = {shown_name(tool): tool for tool in offered}
        self._tools = tools
        self._permits: Counter[str] = Counter()
        self._calls: set[asyncio.Task[str]] = set()

    def configuration(self) -> "dict[str, McpSdkServerConfig]":
        """The SDK's `mcp_servers`: one for the tools of modules, and one for each of the user's own; none without a tool."""
        names = {tool.server if isinstance(tool, ServerTool) else MODULE_SERVER for tool in self._offered.values()}
        return {name: self._configured(name) for name in sorted(names)}

    def _configured(self, name: str) -> "McpSdkServerConfig":
        # The module's host checks arguments with the module's schema: in the server a schema could have addresses fetched and
        # the event loop held by a pattern.
        own = [tool for shown, tool in self._offered.items() if shown == server_tool_name(name, tool.name)]
        listed = [_description(tool) for tool in own]

        async def call(tool: object, arguments: dict[str, Any]) -> dict[str, Any]:
            text, is_error = await self.answer(str(tool), arguments, name)
            return {"content": [{"type": "text", "text": text}], "isError": is_error}

        instance: Any = Tools({"serverInfo": {"name": name, "version": __version__}}, lambda: listed, call)
        return {"type": "sdk", "name": name, "instance": instance}

    def permit(self, shown_name: str) -> None:
        """Let the agent call a tool once, within this turn; a name that is not on offer changes nothing."""
        if shown_name in self._offered:
            self._permits[shown_name] += 1

    def end_turn(self) -> None:
        """Cancel the calls that run, and take back the permits."""
        self._permits.clear()
        for call in self._calls:
            call.cancel()

    async def close(self) -> None:
        """Cancel the calls that run, and wait for their end."""
        self.end_turn()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def answer(self, name: str, arguments: dict[str, Any], server: str = MODULE_SERVER) -> tuple[str, bool]:
        """Call a tool and give (text, whether it is an error) for the model."""
        try:
            return _bounded(await self._call(server_tool_name(server, name), name, arguments)), False
        except ParachuteError as error:
            return _bounded(str(error)), True
        except Exception:
            log.exception("The tool %.64r failed.", name)
            return "The tool could not be called because of a fault in the computer itself; its log says more.", True

    async def _call(self, shown: str, name: str, arguments: dict[str, Any]) -> str:
        if shown not in self._offered:
            raise NotFound(f"There is no tool {name[:64]!r}.")
        if self._permits[shown] < 1:
            raise NotAllowed(f"This call of {name} was not allowed.")
        self._permits[shown] -= 1
        if len(self._calls) >= _CALLS:
            raise Conflict(f"{_CALLS} tools are at work already.", "Wait for their results.", key="busy")
        tool = self._offered[shown]
        if isinstance(tool, OwnTool):
            work = tool.call(arguments)
        else:
            work = self._tools.call_tool(name, arguments, self._session)
        call = asyncio.create_task(work, name=f"tool {name}")
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        try:
            # The client of a server ends what is silent; see there.
            seconds = LONGEST_CALL_SECONDS if isinstance(tool, ServerTool) else CALL_SECONDS
            await asyncio.wait({call}, timeout=seconds)
            if not call.done():
                raise Unavailable(f"The tool {name} did not answer within {seconds:.0f} seconds.")
            if call.cancelled():
                raise Unavailable(f"The tool {name} was stopped.")
            return call.result()
        finally:
            call.cancel()


def _is_usable(tool: OfferedTool) -> bool:
    # The limits of the Messages API for a tool, as far as a module could miss them.
    schema = tool.input_schema
    if not TOOL_NAME.fullmatch(tool.name) or schema.get("type") != "object" or _COMBINATIONS & schema.keys():
        return False
    try:
        size = len(json.dumps(schema, allow_nan=False).encode())
    except (TypeError, ValueError, RecursionError):
        return False
    properties = schema.get("properties", {})
    return size <= _SCHEMA_LIMIT and isinstance(properties, dict) and all(map(_PROPERTY.fullmatch, properties))


def _description(tool: OfferedTool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": _valid(tool.description[:_DESCRIPTION_LIMIT]),
        "inputSchema": {"properties": {}, **tool.input_schema},
        # Otherwise the agent's program replaces what is longer than its own limit by the name of a file.
        "_meta": {"anthropic/maxResultSizeChars": TEXT_LIMIT + 1000},
    }


def _bounded(text: str) -> str:
    if len(text) > TEXT_LIMIT:
        text = f"{text[:TEXT_LIMIT]}\n\n[The result has {len(text):,} characters and was cut after {TEXT_LIMIT:,}.]"
    return _valid(text)


def _valid(text: str) -> str:
    """The text without halves of characters, which JSON can carry and UTF-8 cannot."""
    return text.encode(errors="replace").decode()
