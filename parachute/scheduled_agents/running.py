"""One run of an agent, from the question whether it has to be done to the file that it leaves."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from parachute.agent_files.models import DATE, PREVIOUS_DATE, Definition
from parachute.agents.models import OwnTool
from parachute.errors import ParachuteError, Unavailable
from parachute.module_agents.task import Task
from parachute.scheduled_agents.models import (
    AgentFile,
    Proposals,
    RunRecord,
    TaskAgents,
)
from parachute.scheduled_agents.output import NO_OUTPUT, Output, is_empty
from parachute.scheduled_agents.skipping import NO_TOOLS, without_anything_to_do
from parachute.scheduled_agents.state import in_session
from parachute.scheduled_agents.store import AgentStore
from parachute.scheduled_agents.undoing import digest_of
from parachute.suggestions.models import Source
from parachute.suggestions.tools import suggest_tool, waits

_FAILURES = frozenset({"error", "typed_error", "aborted"})
_SHOWN = ("file_path", "path", "pattern", "command", "query")
"""Which part of a tool's input the log shows."""


class AgentRun:
    """Carries one run out; what it did stands in `record`."""

    def __init__(
        self,
        agents: TaskAgents,
        proposals: Proposals,
        store: AgentStore,
        vault: Path,
        agent: AgentFile,
        definition: Definition,
        record: RunRecord,
        has_tools: Callable[[], bool],
    ) -> None:
        self._has_tools = has_tools
        self._agents = agents
        self._proposals = proposals
        self._store = store
        self._vault = vault
        self._agent = agent
        self._definition = definition
        self.record = record

    async def carry_out(self, *, force: bool) -> None:
        """Run to the end; never raises for what goes wrong, but when it is cancelled."""
        with failures_noted(self.record):
            await self._carry_out(force)

    async def _carry_out(self, force: bool) -> None:
        record, day = self.record, date.fromisoformat(self.record.date)
        output = Output(self._vault, self._agent, self._definition, day)
        expected: bytes | None = None
        if force:
            expected = await output.replaceable()
        if reason := await self._why_skipped(output, day, force):
            record.status, record.error = "skipped", reason
            record.note(reason)
            return
        text = (await self._answer(self._task(day, output.path))).strip()
        if is_empty(text):
            record.status = "completed_no_output"
            record.note("The agent had nothing to write.")
            return
        if expected is not None:
            await asyncio.to_thread(self._store.keep_before, self._agent.key, record.id, expected)
        record.wrote = digest_of(await output.write(text, expected))
        record.status, record.output = "completed", output.path
        record.note(f"Wrote {output.path}.")

    async def _why_skipped(self, output: Output, day: date, force: bool) -> str | None:
        if not self._has_tools():
            return NO_TOOLS
        if not force and await output.is_taken():
            return f"{output.path} is there already."
        return await without_anything_to_do(self._vault, self._agent.module, self._definition, day)

    async def _answer(self, task: Task) -> str:
        async with contextlib.aclosing(self._agents.carry_out(self._agent.module, task)) as events:
            return await followed(events, self.record, self._store, self._agent.key)

    def _task(self, day: date, output: str) -> Task:
        definition = self._definition
        previous = (day - timedelta(days=1)).isoformat()
        prompt = definition.prompt.replace(DATE, day.isoformat()).replace(PREVIOUS_DATE, previous)
        message = (
            f"{definition.display_name} for {day.isoformat()}\n\n"
            f"Follow your instructions for this day, and answer with the text of the page, in Markdown, and nothing else: "
            f"it is kept as {output}. You cannot write files yourself, and nobody can answer questions. "
            f"If there is nothing to write, answer {NO_OUTPUT}."
        )
        return Task(
            agent=f"agents/{self._agent.name}",
            path=self._agent.path,
            prompt=prompt,
            message=message,
            capabilities=definition.capabilities,
            mcp_tools=definition.mcp_tools,
            model=definition.model,
            own_tools=self._suggest_tool if definition.can_suggest else None,
        )

    def _suggest_tool(self, session: str) -> tuple[OwnTool, ...]:
        """The tool `suggest` for what the file names that the user has approved."""
        module, targets = self._agent.module, self._definition.can_suggest
        source = Source(module.name, self._agent.name, session, targets)

        async def call(arguments: dict[str, Any]) -> str:
            made = await self._proposals.propose(module, source, arguments)
            self.record.note(f"Proposed {made['id']}.")
            return waits(made)

        offered = suggest_tool(targets)
        return (OwnTool(offered.module, offered.name, offered.description, offered.input_schema, call=call),)


@contextlib.contextmanager
def failures_noted(record: RunRecord) -> Iterator[None]:
    """Write into the record what goes wrong; a mistake of our own goes on to whoever logs it."""
    try:
        yield
    except ParachuteError as error:
        record.status, record.error = "failed", str(error)
        record.note(str(error))
    except Exception as error:
        record.status = "failed"
        record.error = f"Something went wrong in the computer itself ({type(error).__name__}); its log says more."
        raise


async def followed(events: AsyncIterator[dict[str, Any]], record: RunRecord, store: AgentStore, key: str) -> str:
    """Read a turn to its end and give its last text; the log gets what it did. Error: Unavailable with what went wrong."""
    text = ""
    async for event in events:
        match event["type"]:
            case "session" if event.get("sessionId") and record.session != event["sessionId"]:
                record.session = str(event["sessionId"])
                # Now and not at the end: what a crash cuts off can be read as well.
                await asyncio.to_thread(store.change, key, in_session(record))
            case "text":
                text = str(event["content"])
            case "tool_use":
                # What was said before a tool is used is about the work, and not its result.
                text = ""
                record.note(_tool(event["tool"]))
            case "warning":
                record.note(f"{event['title']}: {event['message']}")
            case kind if kind in _FAILURES:
                reason = str(event.get("message") or event.get("error"))
                raise Unavailable(reason, key=str(event.get("code") or "agent_failed"))
    return text


def _tool(tool: dict[str, Any]) -> str:
    given = tool.get("input")
    fields = given if isinstance(given, dict) else {}
    shown = next((str(fields[name]) for name in _SHOWN if name in fields), "")
    return f"{tool.get('name')} {shown}".strip()
