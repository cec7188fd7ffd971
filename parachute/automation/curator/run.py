"""One review: the files that it is about, the agent's turn, and the one suggestion that comes of it."""

import contextlib
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from msgspec import Struct

from parachute.automation.curator.models import AGENT, CONVERSATION, KEY, PART, ContextChange, Review
from parachute.automation.curator.prompt import task
from parachute.automation.curator.tools import SHOWN, CuratorTools
from parachute.automation.module_agents.service import ModuleAgents
from parachute.automation.scheduled_agents.models import RunRecord
from parachute.automation.scheduled_agents.run import follow_turn, record_failures
from parachute.automation.scheduled_agents.store import AgentStore
from parachute.automation.suggestions.models import PENDING_LIMIT, Source, Suggestion
from parachute.automation.suggestions.own_targets import CONTEXTS, CURATOR
from parachute.automation.suggestions.service import Suggestions
from parachute.base.errors import Conflict, ParachuteError, Unavailable
from parachute.chat.contexts.service import Contexts
from parachute.chat.contexts.watching import Watching
from parachute.chat.origins.service import Origins
from parachute.chat.sessions.service import Sessions
from parachute.security.origin import lowest


class ReviewServices(Struct, frozen=True):
    """Services of a review; `has_tools` is true while the current model can use tools, `writes` where the owner allowed it.

    Of a conversation that `stays_at_home` nothing is read: what comes of a review is read by every other one.
    """

    suggestions: Suggestions
    agents: ModuleAgents
    store: AgentStore
    sessions: Sessions
    contexts: Contexts
    watching: Watching
    origins: Origins
    has_tools: Callable[[], bool]
    writes: bool
    stays_at_home: Callable[[str], Awaitable[bool]]


class ReviewRun(Struct, frozen=True):
    """Carries one review out; `record` says what it did."""

    services: ReviewServices
    review: Review
    record: RunRecord

    async def carry_out(self) -> None:
        """Review to the end; never raises for what goes wrong, but when it is cancelled."""
        with record_failures(self.record):
            await self._carry_out()

    async def _carry_out(self) -> None:
        services, review, record = self.services, self.review, self.record
        tools = await self._tools()
        if tools is None:
            record.status, record.error = "skipped", f"{review.watcher} is gone."
            record.note(record.error)
            return
        if not services.has_tools():
            raise Unavailable(
                "The small model on this computer cannot review contexts.",
                "`parachute auth login` connects Claude, or a server such as Ollama with --base-url.",
                key="offline_model",
            )
        before = await self._waiting()
        shown = None if before is None else json.dumps(before.payload, ensure_ascii=False)
        turn = services.agents.carry_out_own(PART, task(review, tools, shown))
        async with contextlib.aclosing(turn) as events:
            said = await follow_turn(events, record, services.store, KEY)
        if said.strip():
            record.note(said)
        record.status = "completed_no_output"
        if tools.contents:
            await self._propose(tools, before)

    async def _tools(self) -> CuratorTools | None:
        """The tools for the file, those above it and those that it watches; None if it is gone."""
        watcher, services = self.review.watcher, self.services
        watched = await services.watching.watched_by(watcher)
        folders = [path.rpartition("/")[0] for path in (watcher, *watched)]
        own = await services.contexts.chain(folders[:1])
        others = await services.contexts.chain(folders[1:])
        levels = {file.path: "watched" for file in others.files if file.path in watched}
        levels |= {file.path: file.level for file in own.files if file.problem is None}
        files = {file.path: file for file in (*own.files, *others.files) if file.path in levels}
        if watcher not in files:
            return None
        origin = await services.origins.of_files([file.real for file in files.values()])
        talks: dict[str, str] = {}
        for each in self.review.changed:
            if each.startswith(CONVERSATION):
                with contextlib.suppress(ParachuteError):  # it is gone
                    if await services.stays_at_home(each.removeprefix(CONVERSATION)):
                        continue
                    talks[each] = await self._said(identifier := each.removeprefix(CONVERSATION))
                    origin = lowest(origin, await services.sessions.origin(identifier))
        changed = frozenset(self.review.changed)
        return CuratorTools(watcher, tuple(files.values()), levels, changed, origin, self.record, talks)

    async def _said(self, identifier: str) -> str:
        """The newest words of a conversation, without what tools did."""
        lines = []
        for message in await self.services.sessions.messages(identifier):
            if text := "\n\n".join(block["text"] for block in message["content"] if block["type"] == "text"):
                lines.append(f"{message['role']}: {text}")
        return "\n\n".join(lines)[-SHOWN:]

    async def _propose(self, tools: CuratorTools, before: Suggestion | None) -> None:
        services, review, record = self.services, self.review, self.record
        origin = lowest(
            tools.origin, await services.sessions.origin(record.session) if record.session else tools.origin
        )
        moment = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
        change = ContextChange(review.watcher, tools.contents, moment, review.chain, origin)
        files = ", ".join(each for each in review.changed if not each.startswith(CONVERSATION))
        said = [f"{files} has changed."] if files else []
        if any(each.startswith(CONVERSATION) for each in review.changed):
            said.append("A conversation for which it was chosen has ended.")
        reasoning = " ".join(said) or "A review was requested."
        source = Source(PART, AGENT, record.session)
        try:
            made = await services.suggestions.propose_context(source, change.as_payload(), reasoning)
        except Conflict as error:
            record.note(str(error))
            return
        record.status = "completed"
        record.note(f"Proposed {made.id}.")
        if before is not None and before.id != made.id:
            await self._drop(before, made)
        if services.writes and made.origin is not None and made.origin.may_record:
            await services.suggestions.approve(made.id, AGENT, f"{CURATOR}:{record.id}")
            record.note(f"Wrote {review.watcher}.")

    async def _waiting(self) -> Suggestion | None:
        """The curator's own suggestion about the file that waits."""
        found, _ = await self.services.suggestions.page("pending", CONTEXTS, PENDING_LIMIT)
        mine = (each for each in found if each.batch is None and each.trying is None)
        return next((each for each in mine if each.payload.get("file") == self.review.watcher), None)

    async def _drop(self, before: Suggestion, made: Suggestion) -> None:
        reason = f"{made.id} takes its place."
        try:
            await self.services.suggestions.reject(before.id, AGENT, reason, f"{CURATOR}:{self.record.id}")
        except ParachuteError as error:
            self.record.note(f"Could not drop {before.id}: {error}")
