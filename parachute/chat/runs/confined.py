"""The sandbox of an agent that is no person's: what it may write it writes to a view, so that it can be undone."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from parachute.base.errors import Unavailable
from parachute.chat.runs.preparation import AgentServices
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.sandbox.engines.execution import Execution
from parachute.sandbox.engines.limits import Limits
from parachute.sandbox.engines.models import Mount
from parachute.sandbox.engines.service import NO_PLUGINS
from parachute.sandbox.engines.views import View


async def confined(
    services: AgentServices,
    endpoint: ModelEndpoint,
    mounts: Sequence[Mount],
    *,
    egress: bool,
    limits: Limits,
    plugins: Mapping[str, Path] = NO_PLUGINS,
) -> Execution:
    """The execution of an agent that sees these folders and files and no others; error: ParachuteError.

    One view has all folders that it may write, as parts of the folder in which they all are. Where there are no views, or the
    owner wants none, it writes to the folders themselves.
    """
    session, sandboxes = endpoint.session, services.sandboxes
    folders = {mount.source: Path(mount.source) for mount in mounts if mount.is_live}
    confine = partial(sandboxes.confine, session, endpoint, egress=egress, limits=limits, plugins=plugins)
    if not folders or services.settings.changes.apply == "live":
        return await confine(mounts)
    project = Path(os.path.commonpath(folders.values()))
    view = View.of(services.home.views, session, project)
    if not await sandboxes.can_view(folders.values(), view.folder):
        return await confine(mounts)
    parts = {source: "/".join(folder.relative_to(project).parts) for source, folder in folders.items()}
    try:
        if not sandboxes.opened.has_view(session, view.folder):
            await services.changes.refresh(session, project, view.upper)
        for part in parts.values():
            await asyncio.to_thread(View(view.folder, part).make, project)
    except OSError as error:
        raise Unavailable(f"No view of {project} can be made: {error.strerror or error}.", key="no_view") from error
    viewed = [
        replace(each, view=str(view.folder), part=parts[each.source]) if each.is_live else each for each in mounts
    ]
    execution = await confine(viewed)
    return replace(execution, view=view.folder, project=project, parts=tuple(parts.values()))
