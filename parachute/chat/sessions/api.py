"""Routes of sessions (contract, section 2)."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from parachute.base.answers import Answer
from parachute.base.services import provided, services_of
from parachute.chat.sessions.models import AppListener, OneSession, SessionPage, ShownSession
from parachute.chat.sessions.service import Sessions
from parachute.chat.sessions.transcript import ShownTranscript
from parachute.chat.sessions.versions import MessageVersions, Versions
from parachute.security.keys.models import Caller
from parachute.security.trust_levels import normalize_trust_level
from parachute.web.access.owner import require_owner
from parachute.web.http.integers import Count

router = APIRouter(prefix="/api/chat", tags=["sessions"])


async def check_level(request: Request, level: str | None, *, is_decision: bool = True) -> None:
    """See that whoever asks for a direct session may have one; talking to one that there is decides nothing.

    Errors: NotAllowed, ParachuteError (`confirmation_needed`), InvalidInput for an unknown word.
    """
    if level is not None and normalize_trust_level(level) == "direct":
        what = "trustLevel: a direct session runs with the owner's rights, and asking for one"
        await require_owner(request, what, is_decision=is_decision)


async def caller(request: Request) -> Caller:
    """The caller that the access check found."""
    found: Caller = request.scope["state"]["caller"]
    return found


SessionsDependency = Annotated[Sessions, Depends(provided(Sessions))]
CallerDependency = Annotated[Caller, Depends(caller)]


class Reindexed(Answer, frozen=True):
    """The number of sessions in the search index."""

    sessions: int


@router.get("", response_model=SessionPage)
async def list_sessions(
    request: Request,
    service: SessionsDependency,
    limit: Annotated[int, Query(ge=1, le=1000)] = 500,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    archived: bool = False,
    search: Annotated[str | None, Query(max_length=500)] = None,
    workspace_id: Annotated[str | None, Query(alias="workspaceId", max_length=100)] = None,
    pinned: bool = False,
    passages: bool = False,
    folded: bool = False,
) -> Response:
    """The newest sessions; `archived=true` lists only those put away, `pinned=true` those kept on top. Answers 304 to a matching ETag.

    `passages=true` adds to the first 50 that `search` has found by words where these are. `folded=true` lists of a family of
    branches (`metadata.branch.family`) the newest alone, with the ids of the others as `versions`.
    """
    services_of(request).get(AppListener).app_seen()
    fitting = {"limit": limit, "offset": offset, "archived": archived, "search": search, "workspace": workspace_id}
    fitting |= {"pinned": pinned, "passages": passages, "folded": folded}
    if request.headers.get("if-none-match") == (etag := service.listing.etag(*fitting.values())):
        return Response(status_code=304, headers={"ETag": etag})
    etag, body = await service.listing.page(**fitting)  # type: ignore[arg-type]
    return Response(body, media_type="application/json", headers={"ETag": etag})


@router.post("/reindex")
async def rebuild_index(service: SessionsDependency) -> Reindexed:
    """Make the search index anew from titles and transcripts."""
    return Reindexed(await service.search_index.rebuild())


@router.get("/{session}/transcript", response_model=ShownTranscript)
async def get_transcript(
    session: str,
    service: SessionsDependency,
    after_compact: bool = True,
    segment: Count | None = None,
    full: bool = False,
) -> Response:
    """The transcript: its newest segment, one by index, or everything with `full=true`."""
    wanted = None if after_compact and not full else segment
    body = await service.transcript(session, full=full or (not after_compact and segment is None), segment=wanted)
    return Response(body, media_type="application/json")


@router.get("/{session}/versions")
async def get_versions(session: str, service: Annotated[Versions, Depends(provided(Versions))]) -> MessageVersions:
    """The messages that branches of the conversation have in the place of those that it has."""
    return await service.of(session)


@router.post("/{session}/archive")
async def archive(session: str, service: SessionsDependency) -> OneSession:
    """Put a session away, which ends it."""
    return OneSession(ShownSession.showing(await service.archive(session, True)))


@router.post("/{session}/unarchive")
async def unarchive(session: str, service: SessionsDependency) -> OneSession:
    """Take a session back."""
    return OneSession(ShownSession.showing(await service.archive(session, False)))


@router.post("/{session}/pin")
async def pin(session: str, service: SessionsDependency) -> OneSession:
    """Keep a session on top of the list."""
    return OneSession(ShownSession.showing(await service.pin(session, True)))


@router.post("/{session}/unpin")
async def unpin(session: str, service: SessionsDependency) -> OneSession:
    """Let a session go down the list again."""
    return OneSession(ShownSession.showing(await service.pin(session, False)))
