"""Routes of the inbox; the capability that an answer needs is the item's."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from msgspec import field, to_builtins
from pydantic import BaseModel, ConfigDict, Field

from parachute.base import answers
from parachute.base.services import provided
from parachute.events.inbox.card import Choice
from parachute.events.inbox.cards import kinds
from parachute.events.inbox.models import Answer, Item
from parachute.events.inbox.service import Inbox, Page
from parachute.security.keys.models import Caller
from parachute.web.access.owner import is_owner
from parachute.web.http.event_stream import EventStream

router = APIRouter(prefix="/api/inbox", tags=["inbox"])

InboxDependency = Annotated[Inbox, Depends(provided(Inbox))]


class ItemAnswer(BaseModel):
    """The answer to one item, as it was shown; `values` are the answers to an agent's questions."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(min_length=1, max_length=600)
    hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    answer: str = Field(min_length=1, max_length=4200)
    values: dict[str, str | list[str]] = Field(default={}, max_length=20)


class ShownItem(answers.Answer, frozen=True):
    """A thing that waits for the owner; `details` differ by kind, `link` is for whoever may answer.

    `sentence` says what is asked; `choices` has for each of the `answers` the words of a button, and a sentence for afterwards.
    """

    id: str
    kind: str
    title: str
    sentence: str
    source: str
    since: str | None
    session: str | None = field(name="session_id")
    hash: str
    answers: tuple[str, ...]
    choices: tuple[Choice, ...]
    command: str | None
    details: Mapping[str, Any]
    may_answer: bool
    link: str | None


class InboxPage(answers.Answer, frozen=True):
    """Everything that waits for the owner; `problems` are sentences about what cannot be listed."""

    items: list[ShownItem]
    problems: Sequence[str]


class AnsweredItem(answers.Done, frozen=True, kw_only=True):
    """The item that was answered, and the answer."""

    id: str
    answer: str


@router.get("")
async def list_inbox(request: Request, inbox: InboxDependency) -> InboxPage:
    """Everything that waits for the owner, the oldest first."""
    return _shown(await inbox.page(), _caller(request), is_owner=await is_owner(request))


@router.get("/events", response_class=Response, responses={200: {"content": {"text/event-stream": {}}}})
async def inbox_events(request: Request, inbox: InboxDependency) -> Response:
    """Follow the inbox: the whole list at first, and again whenever it has changed."""
    caller, owner = _caller(request), await is_owner(request)

    async def pages() -> AsyncIterator[tuple[int, dict[str, Any]]]:
        seq = 0
        async for page in inbox.watch():
            seq += 1
            yield seq, {"type": "inbox", **to_builtins(_shown(page, caller, is_owner=owner))}

    return EventStream(pages())


@router.post("/answer")
async def answer_item(request: Request, body: ItemAnswer, inbox: InboxDependency) -> AnsweredItem:
    """Answer one item; 409 if it is not what the hash was made of any more, 404 if somebody has answered it."""
    caller = _caller(request)
    answer = Answer(body.answer, f"{caller.kind} {caller.name}", body.values)
    item = await inbox.answer(body.id, body.hash, answer, caller, is_owner=await is_owner(request))
    return AnsweredItem(id=item.id, answer=body.answer)


def _caller(request: Request) -> Caller:
    found: Caller = request.scope["state"]["caller"]
    return found


def _shown(page: Page, caller: Caller, *, is_owner: bool) -> InboxPage:
    return InboxPage(
        [shown_item(each, may_answer=each.may_answer(caller, is_owner=is_owner)) for each in page.items], page.problems
    )


def shown_item(item: Item, *, may_answer: bool) -> ShownItem:
    """An item for somebody who may answer it, or may not."""
    card = kinds()[item.kind].card(item)
    return ShownItem(
        id=item.id,
        kind=item.kind,
        title=item.title,
        sentence=card.sentence,
        source=item.source,
        since=item.since or None,
        session=item.session,
        hash=item.hash,
        answers=item.answers,
        choices=card.choices,
        command=item.command,
        details=dict(item.details),
        may_answer=may_answer,
        link=item.link if may_answer else None,
    )
