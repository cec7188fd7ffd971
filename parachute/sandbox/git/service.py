"""The git service of one sandbox: the repositories that it may use, with TLS and the owner's token."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Literal, Protocol

import h11

from parachute.base.errors import ParachuteError
from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.egress.hosts import AllowedHosts
from parachute.sandbox.egress.models import Refused
from parachute.sandbox.egress.request import ProxyRequest
from parachute.sandbox.egress.route import Route, Said, as_text
from parachute.sandbox.git import answer
from parachute.sandbox.git.models import Access, Repository
from parachute.sandbox.git.request import GitRequest, read, rewritten
from parachute.sandbox.git.tokens import Tokens
from parachute.security.audit.decisions import Decisions

Verdict = Literal["allowed", "refused", "undecided"]


class Grants(Protocol):
    """Interface of a sandbox's access to repositories."""

    def verdict(self, repository: Repository, access: Access) -> Verdict:
        """Return what is decided now."""

    def refusal(self, repository: Repository, access: Access) -> Refused:
        """Return the error for what is not allowed; whoever gives it may ask the owner."""


class GitService:
    """A service of the egress proxy for one sandbox."""

    def __init__(self, grants: Grants, tokens: Tokens, certificates: Certificates, decisions: Decisions) -> None:
        self._grants = grants
        self._tokens = tokens
        self._certificates = certificates
        self._decisions = decisions

    def describe(self, asked: ProxyRequest) -> str:
        """Return a request as its access and repository."""
        try:
            return str(read(asked))
        except Refused:
            return "a request that is not git's"

    async def route(self, asked: ProxyRequest, request: h11.Request, allowed: Callable[[], AllowedHosts]) -> Route:
        """Return the way to a repository; error: Refused.

        One that is undecided is reached without a token where its host is: a program that is not git could do the same.
        """
        git = read(asked)
        verdict = self._grants.verdict(git.repository, git.access)
        target, hosts, credential = git.repository.target, allowed(), None
        if verdict == "allowed":
            hosts = AllowedHosts.parse([git.repository.host], private=True)
            credential = await self._credential(git.repository.host)
        elif verdict == "refused" or not hosts.allows(target):
            raise self._grants.refusal(git.repository, git.access)
        return Route(
            target,
            rewritten(git, request, credential),
            partial(self._answer, git, verdict, credential is not None),
            partial(self._holds, git, verdict, allowed),
            private=hosts.allows_private(target),
            tls=await self._certificates.context(),
        )

    def said(self, asked: ProxyRequest, refused: Refused) -> Said:
        """Return a refusal as git shows it."""
        try:
            return answer.said(read(asked), refused)
        except Refused:
            return as_text(refused)

    def decided(self, described: str, refused: Refused | None) -> None:
        """Record a refusal; what goes out is recorded at its end."""
        if refused is not None:
            self._decisions.record(described, refused.message)

    def ended(self, described: str, sent: int, received: int, error: str | None) -> None:
        """Record a request that went out."""
        self._decisions.record(f"{described}: {sent:,} bytes sent, {received:,} received", error)

    def close(self) -> None:
        """Write what was only counted."""
        self._decisions.flush()

    def _answer(self, git: GitRequest, verdict: Verdict, with_token: bool, response: h11.Response) -> h11.Response:
        if response.status_code == 401 and verdict == "undecided":
            raise self._grants.refusal(git.repository, git.access)
        return answer.passed(git, response, with_token=with_token)

    def _holds(self, git: GitRequest, before: Verdict, allowed: Callable[[], AllowedHosts]) -> bool:
        now = self._grants.verdict(git.repository, git.access)
        return now == "allowed" or (now == before == "undecided" and allowed().allows(git.repository.target))

    async def _credential(self, host: str) -> str | None:
        try:
            token = await asyncio.to_thread(self._tokens.of, host)
        except ParachuteError as error:
            raise Refused("The owner's tokens cannot be read.", "Tell the owner.", status=503) from error
        return token.credential if token else None
