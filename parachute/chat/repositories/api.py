"""Routes of decisions about repositories, and of the tokens of git hosts."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer, Done
from parachute.base.services import provided, services_of
from parachute.chat.repositories.models import DecidedRepository
from parachute.chat.repositories.service import Repositories
from parachute.chat.sessions.api import CallerDependency
from parachute.chat.workspaces.service import Workspaces
from parachute.sandbox.git.models import Access, Repository
from parachute.sandbox.git.tokens import USER, ShownToken
from parachute.security.keys.models import Caller
from parachute.web.access.owner import require_owner

router = APIRouter(prefix="/api/git", tags=["git"])

RepositoriesDependency = Annotated[Repositories, Depends(provided(Repositories))]
Slug = Annotated[str, Field(max_length=40)]
Text = Annotated[str, Field(min_length=1, max_length=500)]


class RepositoryDecision(BaseModel):
    """A repository that conversations of a workspace may always use, or never; without a workspace only never."""

    model_config = ConfigDict(extra="forbid", strict=True)

    repository: Text
    access: Access = "fetch"
    choice: Literal["always", "never"]
    workspace: Slug = ""


class HostToken(BaseModel):
    """The token of a git host, and the user name that goes beside it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    host: Text
    token: str = Field(min_length=1, max_length=4096)
    user: str = Field(default=USER, min_length=1, max_length=200)


class DecidedRepositories(Answer, frozen=True):
    """Repositories that were allowed or refused for good."""

    decisions: Sequence[DecidedRepository]


class GitTokens(Answer, frozen=True):
    """The hosts of which there is a token."""

    tokens: list[ShownToken]


@router.get("/decisions")
async def list_decisions(service: RepositoriesDependency) -> DecidedRepositories:
    """Repositories that were allowed or refused for good."""
    return DecidedRepositories(service.decisions())


@router.put("/decisions")
async def decide_repository(
    request: Request, body: RepositoryDecision, service: RepositoriesDependency, who: CallerDependency
) -> DecidedRepositories:
    """Allow or refuse a repository, from now on and also in conversations that are open."""
    await require_owner(request, "Deciding about repositories")
    if body.workspace:
        services_of(request).get(Workspaces).get(body.workspace)
    repository = Repository.parse(body.repository)
    return DecidedRepositories(await service.decide(body.workspace, repository, body.access, body.choice, _named(who)))


@router.delete("/decisions")
async def forget_decision(
    request: Request,
    service: RepositoriesDependency,
    who: CallerDependency,
    repository: Annotated[str, Query(min_length=1, max_length=500)],
    workspace: Annotated[str, Query(max_length=40)] = "",
) -> Done:
    """Take the decisions about a repository back: it is asked about again."""
    await require_owner(request, "Deciding about repositories")
    await service.forget(workspace, Repository.parse(repository), _named(who))
    return Done()


@router.get("/tokens")
async def list_tokens(request: Request, service: RepositoriesDependency) -> GitTokens:
    """The hosts of which there is a token; of the token itself only the end is shown."""
    await require_owner(request, "Looking at tokens")
    return GitTokens([each.shown() for each in await asyncio.to_thread(service.tokens.all)])


@router.put("/tokens")
async def set_token(
    request: Request, body: HostToken, service: RepositoriesDependency, who: CallerDependency
) -> ShownToken:
    """Keep the token of a host in place of the one before."""
    await require_owner(request, "Storing tokens")
    made = await asyncio.to_thread(service.tokens.set, body.host, body.token, body.user)
    service.audit.decided("git", _named(who), f"set token of {made.host}", made.host)
    return made.shown()


@router.delete("/tokens")
async def remove_token(
    request: Request,
    service: RepositoriesDependency,
    who: CallerDependency,
    host: Annotated[str, Query(min_length=1, max_length=500)],
) -> Done:
    """Forget the token of a host."""
    await require_owner(request, "Removing tokens")
    await asyncio.to_thread(service.tokens.remove, host)
    service.audit.decided("git", _named(who), f"remove token of {host[:200]}", host[:200])
    return Done()


def _named(who: Caller) -> str:
    return f"{who.kind} {who.name}"
