"""The stream of what has changed, for screens."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from parachute.base.services import provided
from parachute.events.feed.service import Feed
from parachute.security.keys.models import Caller, Capability
from parachute.web.access.owner import is_owner
from parachute.web.http.event_stream import EventStream

router = APIRouter(prefix="/api/events", tags=["events"])

FeedDependency = Annotated[Feed, Depends(provided(Feed))]
_Id = Annotated[str | None, Query(max_length=40)]


@router.get("", response_class=Response, responses={200: {"content": {"text/event-stream": {}}}})
async def follow_changes(
    request: Request,
    feed: FeedDependency,
    after: _Id = None,
    last_event_id: Annotated[str | None, Header(max_length=40)] = None,
) -> Response:
    """Follow what changes, as topic and id and never with its content; `after` is the id of the last event that was seen."""
    caller: Caller = request.scope["state"]["caller"]
    # A program of the owner's own user may do everything, but its caller says so only where a route asks for more.
    everything = caller.kind == "local" and await is_owner(request)

    def may(module: str, capability: Capability) -> bool:
        return everything or caller.may(module, capability)

    return EventStream(feed.follow(may, after or last_event_id), ids=feed.boot)
