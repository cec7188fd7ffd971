"""Routes of contexts (contract, section 6)."""

from typing import Annotated
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer
from parachute.base.services import provided
from parachute.chat.contexts.discovery import FolderList
from parachute.chat.contexts.models import ShownChain
from parachute.chat.contexts.paths import MOST
from parachute.chat.contexts.service import Contexts
from parachute.chat.contexts.watches import Watch
from parachute.chat.contexts.watching import Watching
from parachute.chat.sessions.api import SessionsDependency, check_level
from parachute.chat.sessions.service import Sessions
from parachute.web.access.owner import require_owner

router = APIRouter(prefix="/api/contexts", tags=["contexts"])

ContextsDependency = Annotated[Contexts, Depends(provided(Contexts))]
WatchingDependency = Annotated[Watching, Depends(provided(Watching))]
Place = Annotated[str, Field(max_length=4096)]

_FOLDERS = "folders="


class Selection(BaseModel):
    """The folders of the vault that a session is told, in the order in which they were chosen."""

    model_config = ConfigDict(extra="forbid", strict=True)

    folder_paths: list[Place] = Field(max_length=MOST)


class Seen(BaseModel):
    """The owner has seen a file; `hash` is that of what was shown."""

    model_config = ConfigDict(extra="forbid", strict=True)

    path: Place
    hash: str = Field(pattern=r"^[0-9a-f]{64}$")


class WatchList(Answer, frozen=True):
    """Watches between contexts; `problem` says why some may be absent."""

    watches: list[Watch]
    problem: str | None


class SelectedFolders(Answer, frozen=True):
    """The folders that were chosen for a session."""

    folder_paths: list[str]


class ChosenFolders(SelectedFolders, frozen=True):
    """The folders of a session; `problems` are sentences about those that bring nothing."""

    problems: list[str]


class SeenFile(Answer, frozen=True):
    """The file that is marked as an agent's no more."""

    path: str


@router.get("/folders")
async def list_folders(service: ContextsDependency) -> FolderList:
    """The folders of the vault with an AGENTS.md or CLAUDE.md; `problem` says why some may be absent."""
    return await service.folders()


@router.get("/chain")
async def get_chain(
    request: Request, service: ContextsDependency, folders: Annotated[str, Query(max_length=65536)] = ""
) -> ShownChain:
    """The files that come with folders, which are separated by commas; `tokens` is what of each fits into a prompt."""
    query = request.scope["query_string"].decode(errors="replace")
    # The app writes names as they are, with `&` and `+`: then all that follows is its list.
    written = unquote(query.removeprefix(_FOLDERS)) if query.startswith(_FOLDERS) else folders
    selected = await service.split(folders, written)
    return ShownChain.showing(await service.chain(service.checked(selected)))


@router.get("/watches")
async def list_watches(service: WatchingDependency, of: Annotated[str, Query(max_length=4096)] = "") -> WatchList:
    """Watches between contexts, as the files declare them now; `of` selects those that match one context file."""
    found = [each for each in await service.all() if not of or of in each.resolved]
    return WatchList(found, service.problem)


@router.get("/session/{session}")
async def get_selection(session: str, service: ContextsDependency, sessions: SessionsDependency) -> SelectedFolders:
    """The folders that were chosen for a session."""
    await sessions.get(session)
    return SelectedFolders(await service.selected(session))


@router.put("/session/{session}")
async def put_selection(
    request: Request, session: str, body: Selection, service: ContextsDependency, sessions: SessionsDependency
) -> ChosenFolders:
    """Choose the folders of a session, from its next message on; `problems` are sentences about those that bring nothing."""
    await _check_session(request, session, sessions)
    chosen = await service.select(session, body.folder_paths)
    return ChosenFolders(chosen, (await service.chain(chosen)).problems)


@router.post("/seen")
async def mark_seen(request: Request, body: Seen, service: ContextsDependency) -> SeenFile:
    """Have seen what an agent wrote into a file, exactly as it was shown: it is marked as an agent's no more."""
    await require_owner(request, "Saying what the owner has seen")
    return SeenFile(await service.seen(body.path, body.hash))


async def _check_session(request: Request, session: str, sessions: Sessions) -> None:
    """Check that the caller may talk to a session, since this steers it."""
    found = await sessions.get(session)
    await sessions.check_owner(found, None)
    await check_level(request, found.trust_level, is_decision=False)
