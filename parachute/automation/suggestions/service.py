"""Suggestions: made by modules and their agents, decided by the user, applied by the module that they are about."""

import contextlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from parachute.automation.suggestions.allowed_targets import check_allowed, check_target
from parachute.automation.suggestions.announcements import Announcements
from parachute.automation.suggestions.models import (
    MEMBERS_LIMIT,
    OUTSIDE,
    REASONING_LIMIT,
    TITLE_LIMIT,
    Decision,
    Proposal,
    Resolution,
    Source,
    Suggestion,
    whole,
)
from parachute.automation.suggestions.own_memory import MEMORY
from parachute.automation.suggestions.own_settings import SETTINGS
from parachute.automation.suggestions.own_targets import CONTEXTS, CURATOR, DiskTarget, OnDisk, OwnTarget
from parachute.automation.suggestions.payloads import payload_text
from parachute.automation.suggestions.previews import Previewed
from parachute.automation.suggestions.store import SuggestionStore
from parachute.automation.suggestions.target import Targets, Unknown
from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.events.bus.service import Events
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.service import Hosts
from parachute.security.audit.service import Audit
from parachute.security.origin import Origin

USER = "user"


def orchestrator(identifier: str) -> str:
    """The name in `resolved_by` for an entry of several, or for a run of the orchestrator."""
    return f"orchestrator:{identifier}"


class Suggestions:
    """The queue. Nothing here is applied without the user: also after a crash the user decides again, and it is applied once.

    `own` are targets that are the computer's own, `origin_of` says of a session the lowest of what has entered it.
    """

    def __init__(
        self,
        store: SuggestionStore,
        hosts: Hosts,
        own: Mapping[str, DiskTarget],
        events: Events,
        audit: Audit,
        origin_of: Callable[[str], Awaitable[Origin]],
    ) -> None:
        self._store = store
        self._hosts = hosts
        self._origin_of = origin_of
        self._targets = Targets(hosts, {name: OnDisk(name, target) for name, target in own.items()})
        self._announcements = Announcements(store, events, audit)
        self._busy: set[str] = set()

    async def start(self) -> None:
        """Publish what an earlier process wrote and could not publish any more."""
        await self._announcements.publish()

    def add_target(self, name: str, target: OwnTarget) -> None:
        """Take suggestions about something else that is the computer's own."""
        self._targets.own[name] = target

    async def suggest(self, module: ApprovedModule, document: dict[str, Any]) -> dict[str, Any]:
        """Keep what a module proposes; errors: InvalidInput, NotAllowed, TooMany, NotFound, and why its target cannot be asked."""
        made = await self.propose(module, Source(module.name), document)
        return {"id": made.id, "status": made.status}

    async def propose(self, module: ApprovedModule, source: Source, document: dict[str, Any]) -> Suggestion:
        """Keep what a module, or one of its agents, proposes; see `suggest`."""
        proposal = Proposal.read(document)
        check_allowed(module, source, proposal.target_module)
        return await self._keep(source, proposal)

    async def propose_in_chat(self, source: Source, document: dict[str, Any], *, writes: bool) -> Suggestion:
        """Keep what a conversation proposes for one of the source's `targets`, and with `writes` have it applied at once.

        A deletion always waits, and so does what comes of others. Errors: those of `suggest`, and of `approve`: then it waits, too.
        """
        proposal = Proposal.read(document)
        check_target(source, proposal.target_module, source.targets or ())
        made = await self._keep(source, proposal)
        if not writes or made.action == "delete" or made.origin is None or not made.origin.may_record:
            return made
        by = f"{source.name}:{source.session}"
        try:
            return await self.approve(made.id, by, by)
        except ParachuteError as error:
            reason = f"{error.message} The suggestion {made.id} waits for the user instead."
            raise ParachuteError(reason, error.hint, key=error.key, status=error.status) from error

    async def propose_from_client(self, client: str, document: dict[str, Any]) -> Suggestion:
        """Keep what an MCP client proposes, by the name that it gave itself: it always waits. Errors: those of `suggest`."""
        return await self._keep(Source(OUTSIDE, client), Proposal.read(document), Origin.REMOTE_MCP)

    async def propose_setting(self, source: Source, payload: dict[str, Any], reasoning: str) -> Suggestion:
        """Keep a change of the computer's own settings that its maintenance agent proposes; errors: InvalidInput, TooMany."""
        if len(reasoning) > REASONING_LIMIT:
            raise InvalidInput(
                f"reasoning: text of at most {REASONING_LIMIT:,} characters is allowed.", key="reasoning_too_long"
            )
        return await self._keep(source, Proposal("update", SETTINGS, None, payload_text(payload), whole(reasoning)))

    async def propose_memory(self, source: Source, payload: dict[str, Any], reasoning: str) -> Suggestion:
        """Keep an entry of the memory that the user has to see first; errors: InvalidInput, TooMany."""
        return await self._keep(source, Proposal("create", MEMORY, None, payload_text(payload), whole(reasoning)))

    async def propose_context(self, source: Source, payload: dict[str, Any], reasoning: str) -> Suggestion:
        """Keep a change of a context file that the curator proposes; errors: InvalidInput, Conflict, TooMany."""
        return await self._keep(source, Proposal("update", CONTEXTS, None, payload_text(payload), whole(reasoning)))

    async def _keep(self, source: Source, proposal: Proposal, origin: Origin | None = None) -> Suggestion:
        change = json.loads(proposal.payload)
        seen = await self._targets.inspect(proposal.target_module, proposal.action, proposal.target_id, change)
        titled = replace(proposal, title=seen.title or proposal.title)
        origin = origin or await self._origin(source)
        made, is_new = await self._store.add(source, titled, seen.version, seen.before, origin=origin)
        if is_new:
            self._announcements.record(made, True, None)
            await self._announcements.publish()
        return made

    async def _origin(self, source: Source) -> Origin:
        """The lowest origin of what whoever proposes had read."""
        if source.session is not None:
            return await self._origin_of(source.session)
        return self._hosts.origins.of_words(self._hosts.approved(source.module))

    async def page(
        self, status: str | None = None, module: str | None = None, limit: int = 50, offset: int = 0
    ) -> tuple[list[Suggestion], int]:
        """(suggestions, how many there are), newest first."""
        return await self._store.page(status, module, limit, offset)

    async def get(self, identifier: str) -> Suggestion:
        """One of them; error: NotFound."""
        found = await self._store.get(identifier)
        if found is None:
            raise NotFound(
                f"There is no suggestion {identifier[:40]!r}.",
                "`parachute suggestions list` shows them.",
                key="no_such_suggestion",
            )
        return found

    async def propose_for_day(
        self, module: ApprovedModule, source: Source, document: dict[str, Any], day: str
    ) -> tuple[Suggestion, bool]:
        """Keep what an agent proposes about a day, with the day in the reasoning: (suggestion, whether it is new).

        About one thing there is one for each day, and one for what would be new, also when the user turned it down. Errors: those
        of `suggest`.
        """
        proposal = Proposal.read(document)
        check_allowed(module, source, proposal.target_module)
        before = await self._store.made_for(source.module, proposal, day)
        if before is not None:
            return before, False
        if day not in proposal.reasoning:
            proposal = replace(proposal, reasoning=f"{day}: {proposal.reasoning}"[:REASONING_LIMIT])
        return await self._keep(source, proposal), True

    async def resolutions(self, identifier: str) -> list[Resolution]:
        """Everything that was decided about one, oldest first."""
        return await self._store.resolutions(identifier)

    async def waiting(self, limit: int) -> list[Suggestion]:
        """The newest that wait, the oldest of them first: members of entries too, no entries, and none that the user took back."""
        return await self._store.waiting(limit)

    async def approve(self, identifier: str, who: str, by: str = USER) -> Suggestion:
        """Have it applied as it is; of an entry of several, one after the other until one fails.

        `by` other than the user decides about single ones only, and about no member of an entry. Errors: NotFound;
        Conflict when it is resolved, at work, or the module says that its thing has changed since; Unknown, and what the
        module says. It goes on waiting then, with the reason.
        """
        with self._taken(identifier):
            found = await self._waiting(identifier)
            _check_single(found, by)
            if found.is_batch:
                return await self._approve_batch(found, who)
            return await self._apply(found, Decision(by, who))

    async def modify(self, identifier: str, payload: object, who: str) -> Suggestion:
        """Have it applied with another payload, to its target as that is now; errors: those of `approve`, InvalidInput."""
        text = payload_text(payload)
        with self._taken(identifier):
            found = await self._waiting(identifier)
            if found.is_batch:
                raise InvalidInput(
                    "An entry of several suggestions has no payload.", "Modify one of its members.", key="no_payload"
                )
            change = json.loads(text)
            seen = await self._targets.inspect(found.target_module, found.action, found.target_id, change)
            return await self._apply(replace(found, expected_version=seen.version), Decision(USER, who, text))

    async def reject(self, identifier: str, who: str, reason: str = "", by: str = USER) -> Suggestion:
        """Have it never applied; for `by` see `approve`. Errors: NotFound, Conflict when it is resolved or was applied, Unknown."""
        with self._taken(identifier):
            found = await self._waiting(identifier)
            _check_single(found, by)
            by = orchestrator(found.id) if found.is_batch else by
            for member in found.members if found.is_batch else (found,):
                if member.status != "pending":
                    continue
                with self._taken(member.id) if found.is_batch else contextlib.nullcontext():
                    settled = await self._settled(member)
                    if settled.status != "pending":
                        raise Conflict(
                            f"The suggestion {member.id} was applied before this computer stopped.",
                            key="already_applied",
                        )
                    await self._store.resolve(settled, Decision(by, who, reason=whole(reason)), None, rejected=True)
                    self._announcements.record(await self.get(member.id), True, None)
            await self._announcements.publish()
            return await self.get(found.id)

    async def preview(self, identifier: str) -> Previewed:
        """Return the change that one makes or made; errors: NotFound, InvalidInput for an entry of several."""
        found = await self.get(identifier)
        if found.is_batch:
            raise InvalidInput(
                "An entry of several suggestions changes nothing itself.", "Look at its members.", key="no_preview"
            )
        return await self._targets.preview(found)

    async def undo(self, identifier: str, who: str) -> Suggestion:
        """Take a decision back: what was applied is undone by its module, and the suggestion waits again.

        Of an entry the last member first, until one fails. Errors: NotFound; Conflict when it waits, or what it changed is not as
        it was made any more; Unknown, and what the module says. Then the decision stands.
        """
        with self._taken(identifier):
            found = await self.get(identifier)
            if found.status == "pending":
                raise Conflict(f"The suggestion {found.id} waits: nothing was decided.", key="not_resolved")
            for member in reversed(found.members) if found.is_batch else (found,):
                if member.status == "pending":
                    continue
                with self._taken(member.id) if found.is_batch else contextlib.nullcontext():
                    await self._take_back(member, who)
            await self._announcements.publish()
            return await self.get(found.id)

    async def _take_back(self, found: Suggestion, who: str) -> None:
        version = None
        if found.status != "rejected":
            try:
                version = await self._targets.undo(found)
            except ParachuteError as error:
                self._announcements.record(found, False, error.message, who)
                raise
        kept = found.expected_version if version is None else version
        await self._store.reopen(found, Decision(USER, who), kept)
        self._announcements.record(found, True, None, who)

    async def make_batch(
        self, title: str, identifiers: Sequence[str], who: str, session: str | None = None
    ) -> Suggestion:
        """Make one entry of several that wait, which the user decides about as a whole; `session` is that of an agent.

        Errors: InvalidInput, Conflict.
        """
        title = whole(" ".join(title.split()))
        if not 0 < len(title) <= TITLE_LIMIT:
            raise InvalidInput(f"title: 1 to {TITLE_LIMIT} characters are allowed.", key="title_length")
        if not 2 <= len(identifiers) <= MEMBERS_LIMIT or len(set(identifiers)) != len(identifiers):
            raise InvalidInput(f"ids: 2 to {MEMBERS_LIMIT} different ids are allowed.", key="member_count")
        made = await self._store.add_batch(title, identifiers, who, session)
        await self._announcements.publish()
        return await self.get(made.id)

    async def _approve_batch(self, batch: Suggestion, who: str) -> Suggestion:
        decision = Decision(orchestrator(batch.id), who)
        for member in batch.members:
            if member.status != "pending":
                continue
            try:
                with self._taken(member.id):
                    await self._apply(await self._waiting(member.id), decision)
            except ParachuteError as error:
                reason = f"It stopped at {member.id} ({member.title or member.action}): {error.message}"
                await self._store.note(batch.id, reason)
                raise Conflict(reason, error.hint, key=error.key, status=error.status, stopped_at=member.id) from error
        return await self.get(batch.id)

    async def _apply(self, suggestion: Suggestion, decision: Decision) -> Suggestion:
        settled = await self._settled(suggestion)
        if settled.status != "pending":
            if settled.modifications == (None if decision.payload is None else json.loads(decision.payload)):
                return settled
            raise Conflict(
                f"The suggestion {settled.id} was applied in other words before this computer stopped.",
                key="already_applied",
            )
        ready = replace(settled, expected_version=suggestion.expected_version)
        payload = ready.payload if decision.payload is None else json.loads(decision.payload)
        await self._store.begin(ready.id, decision)
        try:
            by_owner = not decision.by.startswith(f"{CURATOR}:")
            result = await self._targets.apply(ready, payload, by_owner=by_owner)
        except Unknown as error:
            await self._store.note(ready.id, str(error))
            self._announcements.record(ready, False, error.message)
            raise
        except ParachuteError as error:
            await self._store.failed(ready, decision, str(error))
            self._announcements.record(ready, False, error.message)
            raise
        return await self._applied(ready, decision, result)

    async def _applied(self, suggestion: Suggestion, decision: Decision, result: Any) -> Suggestion:
        await self._store.resolve(suggestion, decision, result)
        found = await self.get(suggestion.id)
        self._announcements.record(found, True, None)
        await self._announcements.publish()
        return found

    async def _settled(self, suggestion: Suggestion) -> Suggestion:
        """The suggestion, after it was found out how a try ended that nobody saw the end of; errors: Conflict, Unknown."""
        if suggestion.trying is None:
            return suggestion
        ended = await self._targets.withdraw(suggestion)
        if ended.applied:
            return await self._applied(suggestion, suggestion.trying, ended.result)
        if ended.applied is None:
            message = f"The module {suggestion.target_module} ended while it applied this: it may have done so, or not."
            await self._store.failed(suggestion, suggestion.trying, message)
            raise Conflict(message, "Check what it changes, and decide again.", key="outcome_unknown")
        await self._store.withdrawn(suggestion.id)
        return await self.get(suggestion.id)

    async def _waiting(self, identifier: str) -> Suggestion:
        found = await self.get(identifier)
        if found.status != "pending":
            raise Conflict(f"The suggestion {found.id} is {found.status} already.", key="resolved")
        return found

    @contextlib.contextmanager
    def _taken(self, identifier: str) -> Iterator[None]:
        if identifier in self._busy:
            raise Conflict(
                f"The suggestion {identifier[:40]} is being decided about.", "Wait a moment, and try again.", key="busy"
            )
        self._busy.add(identifier)
        try:
            yield
        finally:
            self._busy.discard(identifier)


def _check_single(found: Suggestion, by: str) -> None:
    if by != USER and (found.is_batch or found.batch):
        raise Conflict(
            f"The suggestion {found.id} is a part of an entry about which the user decides.", key="part_of_entry"
        )
