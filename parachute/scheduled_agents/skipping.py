"""Why a run is skipped before any model is asked."""

from datetime import date
from pathlib import Path

from parachute.agent_files.definition import front_matter
from parachute.agent_files.models import Definition
from parachute.core.files import Files
from parachute.errors import InvalidInput, NotFound
from parachute.hosts.models import ApprovedModule

NO_TOOLS = "The small model cannot read files."


async def without_anything_to_do(vault: Path, module: ApprovedModule, definition: Definition, day: date) -> str | None:
    """Why there is nothing to do for a day: no file that the agent needs says anything; error: NotAllowed."""
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
        _, body = front_matter(text)
    except InvalidInput:
        return True
    return bool(body.strip())
