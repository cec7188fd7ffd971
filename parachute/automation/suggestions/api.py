"""Routes of suggestions: whoever may write here, and in the module that a suggestion is about, decides."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.automation.suggestions.inbox import rights
from parachute.automation.suggestions.models import (
    MEMBERS_LIMIT,
    PENDING_LIMIT,
    REASONING_LIMIT,
    TITLE_LIMIT,
    Resolution,
    ShownSuggestion,
    Status,
    Suggestion,
)
from parachute.automation.suggestions.previews import Previewed
from parachute.automation.suggestions.service import Suggestions
from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput, NotAllowed, ParachuteError
from parachute.base.services import provided
from parachute.security.keys.models import Caller

router = APIRouter(prefix="/api/suggestions", tags=["suggestions"])


async def caller(request: Request) -> Caller:
    """The caller, as the access check found it."""
    found: Caller = request.scope["state"]["caller"]
    return found


SuggestionsDependency = Annotated[Suggestions, Depends(provided(Suggestions))]
CallerDependency = Annotated[Caller, Depends(caller)]
Identifier = Annotated[str, Field(min_length=1, max_length=40)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Rejection(_Body):
    """The reason, for the log."""

    reason: str = Field(default="", max_length=REASONING_LIMIT)


class Modification(_Body):
    """The payload to apply instead of the proposed one."""

    payload: dict[str, Any]


class Seen(_Body):
    """Suggestions that the user saw, and no others."""

    ids: list[Identifier] = Field(min_length=1, max_length=PENDING_LIMIT)


class Batch(_Body):
    """Several that the user shall decide about as one."""

    title: str = Field(min_length=1, max_length=TITLE_LIMIT)
    ids: list[Identifier] = Field(min_length=2, max_length=MEMBERS_LIMIT)


class SuggestionPage(Answer, frozen=True):
    """Suggestions, and the number of all."""

    suggestions: Sequence[ShownSuggestion]
    total: int


class ApprovalResult(Answer, frozen=True):
    """The result of one approval: the status, or the error."""

    id: str
    status: Status | None = None
    error: str | None = None
    key: str | None = None


class ApprovalResults(Answer, frozen=True):
    """The result of each, in the order in which they were tried."""

    results: list[ApprovalResult]


class DecidedSuggestion(ShownSuggestion, frozen=True, kw_only=True):
    """A suggestion with all that was decided about it, the oldest first."""

    resolutions: list[Resolution]


@router.get("")
async def list_suggestions(
    service: SuggestionsDependency,
    status: Status | None = None,
    module: Annotated[str | None, Query(max_length=40)] = None,
    limit: Annotated[int, Query(ge=1, le=PENDING_LIMIT)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> SuggestionPage:
    """Suggestions, newest first; `module` is the one that they are about."""
    found, total = await service.page(status, module, limit, offset)
    return SuggestionPage(found, total)


@router.post("/approve-all")
async def approve_all(body: Seen, service: SuggestionsDependency, who: CallerDependency) -> ApprovalResults:
    """Apply exactly the named ones, in this order; each has its own result, and one that fails stops no other."""
    results = []
    for identifier in dict.fromkeys(body.ids):
        try:
            _check(who, await service.get(identifier))
            done = await service.approve(identifier, _name(who))
            results.append(ApprovalResult(identifier, done.status))
        except ParachuteError as error:
            results.append(ApprovalResult(identifier, error=str(error), key=error.key))
    return ApprovalResults(results)


@router.post("/batch")
async def make_batch(body: Batch, service: SuggestionsDependency, who: CallerDependency) -> ShownSuggestion:
    """Make one entry of several suggestions, which is approved or rejected as a whole."""
    return await service.make_batch(body.title, body.ids, _name(who))


@router.get("/{identifier}")
async def get_suggestion(identifier: str, service: SuggestionsDependency) -> DecidedSuggestion:
    """One suggestion, with everything that was ever decided about it."""
    found = await service.get(identifier)
    shown = {name: getattr(found, name) for name in ShownSuggestion.__struct_fields__}
    return DecidedSuggestion(**shown, resolutions=await service.resolutions(found.id))


@router.get("/{identifier}/preview")
async def preview(identifier: str, service: SuggestionsDependency, who: CallerDependency) -> Previewed:
    """Preview of one suggestion, or its change once applied: the text before it and after it, from the module that it is about."""
    found = await service.get(identifier)
    if found.target_module and not who.may(found.target_module, "read"):
        raise NotAllowed(
            f"Reading what belongs to {found.target_module} is not allowed to this key.", key="not_readable_with_key"
        )
    return await service.preview(identifier)


@router.post("/{identifier}/undo")
async def undo(identifier: str, service: SuggestionsDependency, who: CallerDependency) -> ShownSuggestion:
    """Take a decision back, so that the suggestion waits again; 409 if what it changed is not as it was made any more."""
    _check(who, await service.get(identifier))
    return await service.undo(identifier, _name(who))


@router.post("/{identifier}/approve")
async def approve(identifier: str, service: SuggestionsDependency, who: CallerDependency) -> ShownSuggestion:
    """Apply a suggestion; 409 if what it changes has changed since, and then it goes on waiting."""
    _check(who, await service.get(identifier))
    return await service.approve(identifier, _name(who))


@router.post("/{identifier}/modify")
async def modify(
    identifier: str, body: Modification, service: SuggestionsDependency, who: CallerDependency
) -> ShownSuggestion:
    """Apply a suggestion with another payload, to what is there now."""
    _check(who, await service.get(identifier))
    return await service.modify(identifier, body.payload, _name(who))


@router.post("/{identifier}/reject")
async def reject(
    identifier: str, service: SuggestionsDependency, who: CallerDependency, body: Rejection | None = None
) -> ShownSuggestion:
    """Turn a suggestion down."""
    _check(who, await service.get(identifier))
    return await service.reject(identifier, _name(who), body.reason if body else "")


def _check(who: Caller, found: Suggestion) -> None:
    if found.is_batch and not found.members:
        raise InvalidInput(f"The entry {found.id} has no members.", key="no_members")
    for module, capability in rights(found):
        if not who.may(module, capability):
            whom = f"the key {who.name}" if who.kind == "key" else "a caller without a key"
            raise NotAllowed(
                f"This decision needs the right {module}:{capability}, which {whom} does not have.",
                f"On this computer `parachute suggestions approve {found.id}` or `reject` decides; elsewhere a key with that right.",
                key="right_missing",
            )


def _name(who: Caller) -> str:
    return f"{who.kind} {who.name}"
