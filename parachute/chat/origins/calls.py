"""Content that a tool call brings into a run, and the part of it that stays out of the conversation."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.base.steering.judging import is_told_in_project
from parachute.chat.agent_processes.models import OwnTool, shown_name
from parachute.chat.origins.service import Origins
from parachute.modules.runtime.models import OfferedTool
from parachute.sandbox.engines.execution import Execution
from parachute.sandbox.layout import CACHE
from parachute.security.origin import Origin, lowest
from parachute.security.permissions.actions import ACTION_BY_NAME, MCP_PREFIX
from parachute.security.permissions.models import Access, Resource
from parachute.security.permissions.policy import Policy

_FROM_THE_WEB = frozenset(("WebFetch", "WebSearch"))
_BRING_NOTHING = frozenset(
    (
        *("AskUserQuestion", "TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "EnterPlanMode"),
        # What these show was taken in when it was started; a helper's own calls come here, too.
        *("ExitPlanMode", "Task", "Agent", "TaskOutput", "TaskStop", "BashOutput", "KillShell", "KillBash"),
        # What the owner installed or wrote, and what agents wrote only once the owner has seen it.
        *("Skill", "SlashCommand", "ToolSearch", "StructuredOutput"),
    )
)


class CallOrigins:
    """Judges the calls of one turn; what can be read from everywhere counts as the lowest of all that is there.

    `module` is the one whose agent it is, which keeps what it likes of its own.
    """

    def __init__(
        self,
        origins: Origins,
        execution: Execution,
        policy: Policy,
        tools: Iterable[OfferedTool],
        module: str = "",
        session: str = "",
    ) -> None:
        self._origins = origins
        self._execution = execution
        self._policy = policy
        self._module = module
        self._tools = {shown_name(tool): tool for tool in tools}
        self._of_everything: Origin | None = None
        # What is written to a view is known file by file when it is applied, and what runs directly is compared.
        live = execution.mode == "sandboxed" and execution.view is None
        self._live = [folder for inside, folder in execution.roots.items() if live and inside in execution.writable]
        if execution.cache is not None:
            self._live.append(execution.cache)
        self._session = session
        self._has_written = False

    async def of(self, tool: str, tool_input: Mapping[str, Any], now: Origin) -> Origin | None:
        """The origin of what a call brings into a run that has this origin `now`; None if it brings nothing."""
        if tool in _BRING_NOTHING or now is Origin.UNTRUSTED_MODULE:
            return None
        if tool in _FROM_THE_WEB:
            return Origin.WEB
        if tool.startswith(MCP_PREFIX):
            return await self._of_tool(self._tools.get(tool))
        action = ACTION_BY_NAME.get(tool)
        if action is not None and action.resource is Resource.COMMAND:
            return await self._of_command(now)
        if action is None or action.resource is not Resource.PATH:
            return Origin.UNTRUSTED_MODULE  # nobody knows what it may bring
        if tool == "Write":
            return None
        try:
            path = action.path(tool_input)[0]
            places = self._places(path)
        except (InvalidInput, ValueError):
            return None  # a call that cannot be read is refused
        found = [await self._origins.of_files(places, now)] if places else []
        if self._execution.cache is not None and self._is_of_cache(path):
            found.append(await self._origins.of_cache(self._execution.cache))
        return lowest(*found) if found else None

    async def note_written(self, tool: str, origin: Origin) -> None:
        """Note before a call that it may write to folders in which nobody else sees what is written."""
        action = ACTION_BY_NAME.get(tool)
        if self._live and action is not None and action.access in (Access.WRITE, Access.RUN):
            self._has_written = True
            self._origins.shares(self._session, self._live)
            await self._origins.wrote(self._live, origin)

    async def end(self, origin: Origin) -> None:
        """Note the same at the end of the turn: what entered during a command may be in what it wrote."""
        if self._has_written:
            await self._origins.wrote(self._live, origin)

    def writes_of_module(self, tool: str) -> str | None:
        """The module in which a call may change what it keeps in the vault; None for others."""
        found = self._tools.get(tool)
        return found.module if found is not None and found.writes and found.module != self._module else None

    async def writes_instructions(self, tool: str, tool_input: Mapping[str, Any]) -> bool:
        """Return whether a call writes what agents obey to where it is in force at once; in a view it waits."""
        action = ACTION_BY_NAME.get(tool)
        if action is None or action.access is not Access.WRITE or self._execution.view is not None:
            return False
        try:
            path = action.path(tool_input)[0]
            directory = self._policy.working_directory
            is_told, places = is_told_in_project(os.path.relpath(directory / path, directory)), self._places(path)
        except (InvalidInput, ValueError):
            return False  # it is refused for that
        return bool(places) and (is_told or await self._origins.are_told(places))

    async def _of_tool(self, tool: OfferedTool | None) -> Origin | None:
        if tool is None:
            return Origin.UNTRUSTED_MODULE
        if isinstance(tool, OwnTool):
            return tool.origin
        if tool.module == "core":
            return None  # it says whether a proposal was kept
        return await self._origins.of_module(tool.module)

    async def _of_command(self, now: Origin) -> Origin | None:
        if self._execution.mode == "direct":
            return Origin.WEB  # it has the network of this machine, and every file
        if not self._execution.roots:
            return None
        # What comes through the proxy of a sandbox is taken in when it goes out.
        if self._of_everything is None:
            self._of_everything = await self._origins.of_files(list(self._execution.roots.values()), now)
        if self._execution.cache is None:
            return self._of_everything
        return lowest(self._of_everything, await self._origins.of_cache(self._execution.cache))

    def _is_of_cache(self, path: str) -> bool:
        """Return whether a path of the agent's is in the caches, or above them."""
        whole = os.path.normpath(self._policy.working_directory / path)
        return f"{whole}/".startswith(f"{CACHE}/") or CACHE.startswith(f"{whole.rstrip('/')}/")

    def _places(self, path: str) -> list[Path]:
        """The places of this machine that a path of the agent means, or has below it; none for what its sandbox alone has."""
        whole, roots = os.path.normpath(self._policy.working_directory / path), self._execution.roots
        if self._execution.mode == "direct":
            return [Path(os.path.realpath(whole))]
        for inside, folder in sorted(roots.items(), key=lambda each: -len(each[0])):
            if whole == inside or whole.startswith(f"{inside.rstrip('/')}/"):
                return [Path(os.path.realpath(folder / whole[len(inside) :].lstrip("/")))]
        return [folder for inside, folder in roots.items() if inside.startswith(f"{whole.rstrip('/')}/")]
