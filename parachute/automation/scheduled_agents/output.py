"""The page that an agent writes: a file of the vault, within what the module may write; writing it and taking it back."""

import asyncio
import hashlib
import os
from collections.abc import Collection
from datetime import date
from pathlib import Path

from parachute.automation.scheduled_agents.models import AgentFile, RunRecord
from parachute.base.clock import now
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound
from parachute.core import front_matter
from parachute.core.files import Files
from parachute.core.patterns import Pattern, matches_any, parts_of
from parachute.modules.agent_definitions.models import Definition
from parachute.modules.runtime.models import ApprovedModule

NO_OUTPUT = "NO_OUTPUT"
"""Answer of an agent with nothing to write; models seldom manage to say nothing at all."""


class Output:
    """The file of one run. No link is followed on the way to it, and none takes its place."""

    def __init__(self, vault: Path, agent: AgentFile, definition: Definition, day: date) -> None:
        patterns = agent.module.manifest.permissions.write
        self.path = definition.output_on(day)
        self._agent = agent.name
        self._title = definition.display_name
        self._day = day
        self._vault = vault
        self._files = Files(vault, write=patterns)
        if not may_write(agent.module, self.path):
            raise NotAllowed(
                f"output: the module {agent.module.name} may not write {self.path}.",
                "Choose a file within the folders that the module writes.",
                key="output_not_permitted",
            )

    async def exists(self) -> bool:
        """True if there is a file."""
        return await self._files.exists(self.path)

    async def is_taken(self) -> bool:
        """True if anything is in its place, a link included; error: InvalidInput for a link on the way there."""
        try:
            await self._files.list(self.path.rpartition("/")[0])
        except NotFound:
            return False
        return await asyncio.to_thread(os.path.lexists, self._vault / self.path)

    async def replaceable(self) -> bytes | None:
        """The present content, None for nothing; error: Conflict if it is not from this agent, and must not be lost."""
        try:
            present = await self._files.read_bytes(self.path)
        except NotFound:
            return None
        try:
            fields, _ = front_matter.read(present.decode())
        except (InvalidInput, UnicodeDecodeError):
            fields = None
        if not fields or fields.get("agent") != self._agent:
            raise Conflict(
                f"{self.path} exists already and was not written by the agent {self._agent}.",
                "Move it away if the agent shall write it.",
                key="output_exists",
            )
        return present

    async def unchanged(self, written: Collection[str | None]) -> bytes | None:
        """The present content if it is one that was written, by its digest; None for nothing, or anything else."""
        try:
            present = await self._files.read_bytes(self.path)
        except (NotFound, InvalidInput):
            return None
        return present if digest_of(present) in written else None

    async def write(self, text: str, expected: bytes | None) -> bytes:
        """Put the answer into the file and give its content; error: Conflict if what is there is not what was expected."""
        content = self._composed(text).encode(errors="replace")
        if not await self._files.replace(self.path, content, expected):
            raise Conflict(
                f"{self.path} was changed while the agent worked; the answer is in the conversation only.",
                key="output_exists",
            )
        return content

    def _composed(self, text: str) -> str:
        heading = "" if text.startswith("# ") else f"# {self._title}\n\n"
        fields = f"date: {self._day}\nagent: {self._agent}\ngenerated_at: '{now()}'"
        return f"---\n{fields}\n---\n\n{heading}{text}\n"


def may_write(module: ApprovedModule, path: str) -> bool:
    """True if a path lies within what a module may write."""
    patterns = map(Pattern.parse, module.manifest.permissions.write)
    return matches_any(patterns, parts_of(path))


def is_empty(text: str) -> bool:
    """True for the answer of an agent that has nothing to write."""
    return not text or text.strip("`*. ") == NO_OUTPUT


def digest_of(content: bytes) -> str:
    """The hash by which content is recognised."""
    return hashlib.sha256(content).hexdigest()


async def take_back(vault: Path, module: ApprovedModule, record: RunRecord, before: bytes | None) -> None:
    """Put `before` in the place of what a run wrote, None for nothing; errors: NotFound, Conflict, NotAllowed."""
    assert record.output is not None
    files = Files(vault, write=module.manifest.permissions.write)
    present = await files.read_bytes(record.output)
    if digest_of(present) != record.wrote:
        raise _changed(record.output)
    if before is None:
        await files.delete(record.output)
    elif not await files.replace(record.output, before, present):
        raise _changed(record.output)


def last_written(runs: list[RunRecord], day: str | None) -> RunRecord:
    """The newest run, of all or for a day, whose page can be taken back; error: NotFound."""
    for record in reversed(runs):
        if record.wrote is not None and record.undone is None and day in (None, record.date):
            return record
    about = f" for {day}" if day else ""
    raise NotFound(f"This agent has written nothing{about} that could be taken back.", key="nothing_written")


def _changed(path: str) -> Conflict:
    return Conflict(f"{path} was changed after the agent wrote it.", "Edit or delete it by hand.", key="output_changed")
