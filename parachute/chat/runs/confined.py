"""The sandbox of an agent that is no person's: what it may write it writes to a view, so that it can be undone."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

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
    """The execution of an agent that sees these folders and files and no others; errors: ParachuteError, OSError.

    One view has all folders that it may write, as parts of the folder in which they all are. Where there are no views, or the
    owner wants none, it writes to the folders themselves.
    """
    session, sandboxes = endpoint.session, services.sandboxes
    folders = [Path(mount.source) for mount in mounts if mount.is_live]
    parts: tuple[str, ...] = ()
    view = project = None
    if folders and services.settings.changes.apply != "live":
        project = Path(os.path.commonpath(folders))
        view = View.of(services.home.views, session, project)
        if await sandboxes.can_view(folders, view.folder):
            parts = tuple("" if each == project else str(each.relative_to(project)) for each in folders)
    if not parts or view is None or project is None:
        return await sandboxes.confine(session, endpoint, mounts, egress=egress, limits=limits, plugins=plugins)
    if not sandboxes.opened.has_view(session, view.folder):
        await services.changes.refresh(session, project, view.upper)
    for part in parts:
        await asyncio.to_thread(View(view.folder, part).make, project)
    of_folder = dict(zip(map(str, folders), parts, strict=True))
    viewed = [
        replace(each, view=str(view.folder), part=of_folder[each.source]) if each.is_live else each for each in mounts
    ]
    execution = await sandboxes.confine(session, endpoint, viewed, egress=egress, limits=limits, plugins=plugins)
    return replace(execution, view=view.folder, project=project, parts=parts)
