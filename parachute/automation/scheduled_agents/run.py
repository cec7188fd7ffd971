"""One run of an agent, from the question whether it has to be done to the file that it leaves."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct

from parachute.automation.module_agents.service import ModuleAgents
from parachute.automation.module_agents.task import Task
from parachute.automation.scheduled_agents.models import AgentFile, RunRecord
from parachute.automation.scheduled_agents.output import NO_OUTPUT, Output, digest_of, is_empty
from parachute.automation.scheduled_agents.state import in_session
from parachute.automation.scheduled_agents.store import AgentStore
from parachute.automation.suggestions.models import Source
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.tools import suggest_tool, waits
from parachute.base.errors import InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.chat.agent_processes.models import OwnTool
from parachute.chat.runs.events import Aborted, RunWarning, Session, Text, Tool, ToolUse, read
from parachute.chat.runs.failures import as_error
from parachute.core import front_matter
from parachute.core.files import Files
from parachute.modules.agent_definitions.models import DATE, PREVIOUS_DATE, Definition
from parachute.modules.runtime.models import ApprovedModule

NO_TOOLS = "The small model cannot read files."
_SHOWN = ("file_path", "path", "pattern", "command", "query")
"""Fields of a tool's input that the log shows."""


class AgentRun(Struct, frozen=True):
    """Carries one run out; `record` says what it did. `skips` is a reason to skip it that is known before."""

    agents: ModuleAgents
    suggestions: Suggestions
    store: AgentStore
    vault: Path
    agent: AgentFile
    definition: Definition
    record: RunRecord
    skips: str | None

    async def carry_out(self, *, force: bool) -> None:
        """Run to the end; never raises for what goes wrong, but when it is cancelled."""
        with record_failures(self.record):
            await self._carry_out(force)

    async def _carry_out(self, force: bool) -> None:
        record, day = self.record, date.fromisoformat(self.record.date)
        output = Output(self.vault, self.agent, self.definition, day)
        expected: bytes | None = None
        if force:
            expected = await output.replaceable()
        elif self.definition.at.is_often:
            # The page of the day is written anew, unless somebody else has changed it.
            runs = await asyncio.to_thread(self.store.runs, self.agent.key)
            expected = await output.unchanged({run.wrote for run in runs})
        if reason := await self._why_skipped(output, day, force, expected):
            record.status, record.error = "skipped", reason
            record.note(reason)
            return
        text = (await self._answer(self._task(day, output.path))).strip()
        if is_empty(text):
            record.status = "completed_no_output"
            record.note("The agent had nothing to write.")
            return
        if expected is not None:
            await asyncio.to_thread(self.store.keep_before, self.agent.key, record.id, expected)
        await self.agents.note_written(output.path, record.session)
        record.wrote = digest_of(await output.write(text, expected))
        record.status, record.output = "completed", output.path
        record.note(f"Wrote {output.path}.")

    async def _why_skipped(self, output: Output, day: date, force: bool, expected: bytes | None) -> str | None:
        if self.skips:
            return self.skips
        if not force and expected is None and await output.is_taken():
            return f"{output.path} is there already."
        return await _nothing_to_do(self.vault, self.agent.module, self.definition, day)

    async def _answer(self, task: Task) -> str:
        async with contextlib.aclosing(self.agents.carry_out(self.agent.module, task)) as events:
            return await follow_turn(events, self.record, self.store, self.agent.key)

    def _task(self, day: date, output: str) -> Task:
        definition = self.definition
        previous = (day - timedelta(days=1)).isoformat()
        prompt = definition.prompt.replace(DATE, day.isoformat()).replace(PREVIOUS_DATE, previous)
        message = (
            f"{definition.display_name} for {day.isoformat()}\n\n"
            f"Follow your instructions for this day, and answer with the text of the page, in Markdown, and nothing else: "
            f"it is kept as {output}. You cannot write files yourself, and nobody can answer questions. "
            f"If there is nothing to write, answer {NO_OUTPUT}."
        )
        return Task(
            agent=f"agents/{self.agent.name}",
            path=self.agent.path,
            prompt=prompt,
            message=message,
            capabilities=definition.capabilities,
            mcp_tools=definition.mcp_tools,
            model=definition.model,
            own_tools=self._suggest_tool if definition.can_suggest else None,
        )

    def _suggest_tool(self, session: str) -> tuple[OwnTool, ...]:
        """The tool `suggest` for what the file names that the user has approved."""
        module, targets = self.agent.module, self.definition.can_suggest
        source = Source(module.name, self.agent.name, session, targets)

        async def call(arguments: dict[str, Any]) -> str:
            made, is_new = await self.suggestions.propose_for_day(module, source, arguments, self.record.date)
            if not is_new:
                return (
                    f"For {self.record.date} there is the suggestion {made.id} about the same thing already: leave it."
                )
            self.record.note(f"Proposed {made.id}.")
            return waits(made)

        offered = suggest_tool(targets)
        return (OwnTool(offered.module, offered.name, offered.description, offered.input_schema, call=call),)


@contextlib.contextmanager
def record_failures(record: RunRecord) -> Iterator[None]:
    """Write failures into the record; an unexpected one is raised again, to be logged."""
    try:
        yield
    except ParachuteError as error:
        record.status, record.error = "failed", str(error)
        record.note(str(error))
    except Exception as error:
        record.status = "failed"
        record.error = f"Something went wrong in the computer itself ({type(error).__name__}); its log says more."
        raise


async def follow_turn(events: AsyncIterator[dict[str, Any]], record: RunRecord, store: AgentStore, key: str) -> str:
    """Read a turn to its end, log what it does, and return its last text. Error: Unavailable with what went wrong."""
    text = ""
    async for document in events:
        match event := read(document):
            case Session(session_id=session) if session and record.session != session:
                record.session = session
                # Now and not at the end: what a crash cuts off can be read as well.
                await asyncio.to_thread(store.change, key, in_session(record))
            case Text(content=text):
                pass
            case ToolUse(tool=tool):
                # What was said before a tool is used is about the work, and not its result.
                text = ""
                record.note(_tool(tool))
            case RunWarning(title=title, message=message):
                record.note(f"{title}: {message}")
            case Aborted(message=message):
                raise Unavailable(message, key="agent_failed")
        if error := as_error(event):
            raise error
    return text


def _tool(tool: Tool) -> str:
    shown = next((str(tool.input[name]) for name in _SHOWN if name in tool.input), "")
    return f"{tool.name} {shown}".strip()


async def _nothing_to_do(vault: Path, module: ApprovedModule, definition: Definition, day: date) -> str | None:
    """The reason if no file that the agent needs for a day says anything; error: NotAllowed."""
    if not definition.needs:
        return None
    permissions = module.manifest.permissions
    files = Files(vault, read=permissions.read, write=permissions.write)
    pattern = definition.needs_on(day)
    for path, _, _ in await files.scan(pattern):
        try:
            if _says_something(await files.read(path)):
                return None
        except NotFound:
            continue  # removed just now
        except InvalidInput:
            return None  # too long, or no text: whether it says something is for the agent to find out
    return f"There is nothing in {pattern}."


def _says_something(text: str) -> bool:
    try:
        _, body = front_matter.read(text)
    except InvalidInput:
        return True
    return bool(body.strip())
