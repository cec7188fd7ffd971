"""The project folder of a session and its write mode."""

import asyncio
from pathlib import Path
from typing import NamedTuple

from parachute.chat.runs.preparation import AgentServices
from parachute.chat.sessions.models import Session
from parachute.chat.workspaces.models import Workspace
from parachute.config.settings.groups.agents import Apply
from parachute.sandbox.engines.views import View

_CLAIMED = (
    "What came with the vault says that this conversation works in {}, and nobody has chosen that on this computer. It works without "
    "a folder: continue it in a new chat in that folder."
)


class ProjectFolder(NamedTuple):
    """The folder in which the agent of a session works, if it has one; `problem` if that is gone."""

    path: Path | None = None
    problem: str | None = None


async def project_folder(services: AgentServices, session: Session, workspace: Workspace | None) -> ProjectFolder:
    """The folder of a session or of its workspace; error: InvalidInput for one in which agents may not work (any more)."""
    stored = session.working_directory or (workspace and workspace.working_directory)
    if not stored:
        return ProjectFolder(
            problem=_CLAIMED.format(session.claimed_directory[:200]) if session.claimed_directory else None
        )
    path = services.vault.absolute(stored)
    if not await asyncio.to_thread(path.is_dir):
        return ProjectFolder(problem=f"{path} no longer exists; working without a project folder.")
    return ProjectFolder(services.sandboxes.check_directory(path))


def apply_of(services: AgentServices, workspace: Workspace | None) -> Apply:
    """Return how changes by agents of a workspace get into its folder."""
    return (workspace and workspace.apply) or services.settings.changes.apply


async def project_view(services: AgentServices, session: Session, apply: Apply, directory: Path | None) -> Path | None:
    """The folder for the view of a project, without what the owner's folder has by now; None where agents write to it live."""
    if directory is None or apply == "live":
        return None
    view = View.of(services.home.views, session.id, directory)
    if not services.sandboxes.opened.has_view(session.id, view.folder):
        await services.changes.refresh(session.id, directory, view.upper)
    return view.folder
