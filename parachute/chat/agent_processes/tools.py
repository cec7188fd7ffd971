"""The tools of modules and of the user's own servers, for agents: MCP servers inside of the server for each agent process."""

import asyncio
import contextlib
import json
import logging
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from parachute import __version__
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, ParachuteError, Unavailable
from parachute.base.mcp_messages import Tools
from parachute.chat.agent_processes import progress
from parachute.chat.agent_processes.listed_tools import module_tool_listed
from parachute.chat.agent_processes.models import ModuleTools, OwnTool, ServerTool, shown_name
from parachute.chat.agent_processes.permits import Answer, Made, Permit, Permits
from parachute.chat.agent_processes.progress import Tell
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
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
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
        if (problem := problem_of(tool)) is None:
            found[tool.name] = tool
        else:
            log.warning("The tool %.64r of the module %s is not offered: %s.", tool.name, tool.module, problem)
    return tuple(found.values())


def problem_of(tool: OfferedTool) -> str | None:
    """The reason for which the model's service would refuse a tool, and every request with it; None for a good one."""
    schema = tool.input_schema
    if not _NAME.fullmatch(tool.name):
        return "its name is longer than 64 characters, or has others than A-Z, a-z, 0-9, _ and -"
    if schema.get("type") != "object" or _COMBINATIONS & schema.keys():
        return "its schema is not that of one object"
    if (problem := problem_of_size(schema)) is not None:
        return problem
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(map(_PROPERTY.fullmatch, properties)):
        return "the name of a field is longer than 64 characters, or has others than A-Z, a-z, 0-9, _, . and -"
    return None


def problem_of_size(schema: Any) -> str | None:
    """The reason for which a schema cannot be sent, whatever it says; None for one that can."""
    try:
        size = len(json.dumps(schema, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return "its schema is no JSON"
    return f"its schema has more than {_SCHEMA_LIMIT:,} bytes" if size > _SCHEMA_LIMIT else None


def shown_names(tools: Iterable[OfferedTool]) -> tuple[str, ...]:
    """The names under which the agent's program and the policy know tools of modules and servers."""
    return tuple(map(shown_name, tools))


class ToolServer:
    """Answers one agent process; each call needs a permit, which only the decision about that call gives.

    What comes from a sandbox may be forged: a permit is for the arguments that were judged, and with these the call is made.
    """

    def __init__(
        self, session: str, offered: tuple[OfferedTool, ...], tools: ModuleTools, clock: Clock = SYSTEM
    ) -> None:
        self._session = session
        self._clock = clock
        self._offered = {shown_name(tool): tool for tool in offered}
        self._tools = tools
        self._permits = Permits()
        self._calls: set[asyncio.Task[Answer]] = set()

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

    def permit(
        self, shown: str, arguments: dict[str, Any], made: Made, tell: Tell | None = None, *, at_once: bool = False
    ) -> None:
        """Let the agent call a tool once, within this turn; a name that is not on offer changes nothing.

        With `at_once` the call is made now, and the agent's program only fetches the result; `made` is told of what was answered,
        `tell` of how far it is.
        """
        if shown in self._offered:
            permit = Permit(shown, arguments, made, tell)
            if at_once:
                self._begin(permit)
            self._permits.add(permit)

    def end_turn(self) -> None:
        """Cancel the calls that run, and take back the permits."""
        self._permits.clear()
        for call in self._calls:
            call.cancel()

    async def close(self) -> None:
        """Cancel the calls that run, and wait for their end."""
        self.end_turn()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def answer(self, name: str, arguments: dict[str, Any], server: str = MODULE_SERVER) -> Answer:
        """Give the result of a permitted call for the model; what has not begun is made now."""
        shown = server_tool_name(server, name)
        if shown not in self._offered:
            return f"There is no tool {_valid(name[:64])!r}.", True
        permit = self._permits.take(shown, arguments)
        if permit is None:
            return f"This call of {name} was not allowed.", True
        work = permit.work or self._begin(permit)
        try:
            await asyncio.wait({work})
            return (f"The tool {name} was stopped.", True) if work.cancelled() else work.result()
        finally:
            work.cancel()

    def _begin(self, permit: Permit) -> asyncio.Task[Answer]:
        is_busy = len(self._calls) >= _CALLS
        permit.work = work = asyncio.create_task(self._make(permit, is_busy=is_busy), name=f"tool {permit.tool}")
        self._calls.add(work)
        work.add_done_callback(self._calls.discard)
        return work

    async def _make(self, permit: Permit, *, is_busy: bool) -> Answer:
        progress.tell.set(permit.tell)
        progress.session.set(self._session)
        try:
            answer = _bounded(await self._call(permit, is_busy=is_busy)), False
        except ParachuteError as error:
            answer = _bounded(str(error)), True
        except Exception:
            log.exception("The tool %.64r failed.", permit.tool)
            answer = "The tool could not be called because of a fault in the computer itself; its log says more.", True
        permit.made(answer)
        return answer

    async def _call(self, permit: Permit, *, is_busy: bool) -> str:
        if is_busy:
            raise Conflict(f"{_CALLS} tools are running already.", "Wait for their results.", key="busy")
        tool = self._offered[permit.tool]
        if isinstance(tool, OwnTool):
            work = tool.call(permit.arguments)
        else:
            work = self._tools.call_tool(tool.name, permit.arguments, self._session)
        call = asyncio.create_task(work, name=f"work of {permit.tool}")
        try:
            # The client of a server ends what is silent; see there.
            seconds = LONGEST_CALL_SECONDS if isinstance(tool, ServerTool) else CALL_SECONDS
            with contextlib.suppress(TimeoutError):
                async with self._clock.timeout(seconds):
                    await asyncio.wait({call})
            if not call.done():
                raise Unavailable(
                    f"The tool {tool.name} did not answer within {seconds:.0f} seconds.", key="tool_too_slow"
                )
            if call.cancelled():
                raise Unavailable(f"The tool {tool.name} was stopped.", key="tool_stopped")
            return call.result()
        finally:
            call.cancel()


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
