"""Taking back what a run wrote: the version before comes back, and nothing that somebody else wrote since is lost."""

import hashlib
from pathlib import Path

from parachute.core.files import Files
from parachute.errors import Conflict, NotFound
from parachute.hosts.models import ApprovedModule
from parachute.scheduled_agents.models import RunRecord


def digest_of(content: bytes) -> str:
    """By which content is known again."""
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
    raise NotFound(f"This agent has written nothing{about} that could be taken back.")


def _changed(path: str) -> Conflict:
    return Conflict(f"{path} was changed after the agent wrote it.", "Edit or delete it by hand.", key="output_changed")
