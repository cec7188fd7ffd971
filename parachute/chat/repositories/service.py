"""The repositories of conversations: opening the git service of a sandbox, and the owner's decisions."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from parachute.base.clock import now
from parachute.base.errors import InvalidInput, NotFound
from parachute.chat.repositories.models import Asked, Choice, DecidedRepository
from parachute.chat.repositories.store import RepositoryDecisions
from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.egress.hosts import AllowedHosts
from parachute.sandbox.egress.models import Mode, Refused, Target
from parachute.sandbox.egress.route import Service
from parachute.sandbox.egress.service import Egress
from parachute.sandbox.git.models import ADDRESS, Access, Grant, Repository
from parachute.sandbox.git.service import GitService, Verdict
from parachute.sandbox.git.tokens import Tokens
from parachute.security.audit.decisions import Decisions
from parachute.security.audit.service import Audit

_MOST, _MOST_OF_SESSION = 100, 10
"""Repositories that may wait for a decision, of all and of one conversation; a further one is refused and not asked about."""

_ASK = "Ask the owner: in a workspace `parachute git allow` allows it."


class Place(Struct, frozen=True):
    """Owner of grants: a session, its owner at the egress proxy, its workspace if any, and what that says.

    Decisions count that were made `since` the workspace began. `within` are the only hosts that are left to the session, if any
    were taken.
    """

    session: str
    owner: str
    source: str
    workspace: str
    since: str
    mode: Mode
    granted: tuple[Grant, ...]
    within: AllowedHosts | None = None


class _Opened(Struct):
    place: Place
    service: GitService
    grants: "_Grants"


class Repositories(Struct):
    """Opens the git service of each sandboxed conversation; `changed` is called when the waiting repositories change."""

    egress: Egress
    decided: RepositoryDecisions
    tokens: Tokens
    certificates: Certificates
    audit: Audit
    changed: Callable[[], None]
    _opened: dict[str, _Opened] = field(default_factory=dict)
    _once: dict[tuple[str, str], set[tuple[Repository, Access]]] = field(default_factory=dict)
    _asked: dict[tuple[str, Repository, Access], Asked] = field(default_factory=dict)

    def open(self, place: Place) -> Mapping[Target, Service]:
        """Return the services with which the egress proxy serves a session."""
        opened = self._opened.get(place.session)
        if opened is None:
            grants = _Grants(self, place)
            records = Decisions(self.audit, "agent", place.owner, event_type="git")
            opened = _Opened(place, GitService(grants, self.tokens, self.certificates, records), grants)
            self._opened[place.session] = opened
        opened.place = opened.grants.place = place
        return {ADDRESS: opened.service}

    def close(self, session: str) -> None:
        """Forget what a session was allowed once."""
        if (opened := self._opened.pop(session, None)) is not None:
            self._once.pop((session, opened.place.workspace), None)
            opened.service.close()

    def waiting(self) -> Sequence[Asked]:
        """Return the repositories that wait for a decision, the oldest first."""
        return list(self._asked.values())

    def decisions(self) -> Sequence[DecidedRepository]:
        """Return every decision that holds."""
        return self.decided.all()

    def allow_once(self, asked: Asked, who: str) -> None:
        """Let the session that asked use a repository until its sandbox ends, its next one if none is open; error: NotFound."""
        if self._asked.get((asked.workspace, asked.repository, asked.access)) is not asked:
            raise NotFound(f"{asked.repository} is no longer waiting for a decision.", key="not_waiting")
        once = self._once.setdefault((asked.session, asked.workspace), set())
        once |= {(asked.repository, access) for access in _including(asked.access)}
        what = f"allow once: {asked.access} {asked.repository}"
        self.audit.decided("git", who, what, asked.repository.host, asked.session, session=asked.session)
        self._answered(asked.workspace, asked.repository, _including(asked.access))

    async def decide(
        self, workspace: str, repository: Repository, access: Access, choice: Choice, who: str
    ) -> list[DecidedRepository]:
        """Decide about a repository for a workspace, or with an empty name refuse it to all chats without; error: InvalidInput.

        Allowing to push allows to fetch, refusing to fetch refuses to push.
        """
        if not workspace and choice == "always":
            raise InvalidInput(
                "workspace: only a workspace uses a repository for good.",
                "Chats without one are allowed it once.",
                key="not_a_workspace",
            )
        accesses = _including(access) if choice == "always" else _needing(access)
        made = [DecidedRepository(workspace or None, str(repository), each, choice, who, now()) for each in accesses]
        for decision in made:
            await self.decided.put(decision)
            self.audit.decided("git", who, f"{choice}: {decision.access} {repository}", repository.host, workspace)
        self._answered(workspace, repository, accesses)
        await self._recheck(workspace)
        return made

    async def forget(self, workspace: str, repository: Repository, who: str) -> None:
        """Take the decisions about a repository back: it is asked about again. Error: NotFound."""
        if not await self.decided.remove(workspace, repository):
            raise NotFound(
                f"There is no decision about {repository}.",
                "`parachute git list` shows what was.",
                key="repository_not_decided",
            )
        self.audit.decided("git", who, f"forget: {repository}", repository.host, workspace)
        await self._recheck(workspace)

    def verdict(self, place: Place, repository: Repository, access: Access) -> Verdict:
        """Return what is decided about a repository; a refusal holds also where the workspace lists it."""
        choice = self.decided.of(place.workspace, place.since, repository, access)
        if choice == "never" or (place.within is not None and not place.within.cover(repository.host)):
            return "refused"
        once = self._once.get((place.session, place.workspace), ())
        listed = any(grant.includes(repository, access) for grant in place.granted)
        return "allowed" if choice or listed or (repository, access) in once else "undecided"

    def refusal(self, place: Place, repository: Repository, access: Access) -> Refused:
        """Return the error for a repository that may not be used, and ask the owner where that is how it is."""
        what = "push to" if access == "push" else "fetch from"
        if self.verdict(place, repository, access) == "refused":
            return Refused(f"The owner does not let this conversation {what} {repository}.", "Do without it.")
        if place.mode != "ask":
            return Refused(
                f"This conversation may not {what} {repository}: it is not among those that are allowed.", _ASK
            )
        if not repository.is_public:
            return Refused(
                f"{repository.host} is not of the internet: this machine and the network at home are closed.", _ASK
            )
        key = place.workspace, repository, access
        if key not in self._asked:
            mine = sum(each.session == place.session for each in self._asked.values())
            if len(self._asked) >= _MOST or mine >= _MOST_OF_SESSION:
                return Refused(f"{repository} is not allowed, and too many wait for the owner.", _ASK)
            self._asked[key] = Asked(*key, place.session, place.source, now())
            self.changed()
        return Refused(
            f"This conversation may not {what} {repository} yet. The owner has been asked (`parachute inbox`).",
            "Tell the owner what it is needed for, and try again once it is allowed.",
            key="repository_asked",
        )

    def _answered(self, workspace: str, repository: Repository, accesses: Sequence[Access]) -> None:
        found = [self._asked.pop((workspace, repository, access), None) for access in accesses]
        if any(found):
            self.changed()

    async def _recheck(self, workspace: str) -> None:
        for opened in list(self._opened.values()):
            if opened.place.workspace == workspace:
                await self.egress.recheck(opened.place.owner)


class _Grants(Struct):
    """Access of one session to repositories."""

    repositories: Repositories
    place: Place

    def verdict(self, repository: Repository, access: Access) -> Verdict:
        return self.repositories.verdict(self.place, repository, access)

    def refusal(self, repository: Repository, access: Access) -> Refused:
        return self.repositories.refusal(self.place, repository, access)


def _including(access: Access) -> tuple[Access, ...]:
    return ("fetch", "push") if access == "push" else ("fetch",)


def _needing(access: Access) -> tuple[Access, ...]:
    return ("push",) if access == "push" else ("fetch", "push")
