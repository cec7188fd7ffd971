"""Runs of modules' agents that begin with the owner's word; all others are passed on as they come."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from parachute.automation.agent_requests.models import AgentRequest, WaitsForOwner, fingerprint
from parachute.automation.module_agents.profile import agent_of, needs_owner
from parachute.automation.module_agents.service import ModuleAgents
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError, Unavailable
from parachute.chat.runs.events import Aborted, Text, read
from parachute.chat.runs.failures import as_error
from parachute.events.bus.service import Events
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.service import Hosts
from parachute.security.audit.service import Audit

log = logging.getLogger(__name__)

MOST_OF_MODULE = 4
_MOST = 100
_LONGEST = 20_000
"""Characters of a prompt: the owner reads all of it."""
_KEPT_SECONDS = 24 * 60 * 60.0


class AgentRequests:
    """Requests of modules to agents that wait for the owner's approval, and start with it.

    Nothing of it is stored: what waits when the server ends is dropped, and the module asks again. Then it also hears how it
    went: the same question gives the answer once, when the run has ended.
    """

    def __init__(
        self,
        agents: ModuleAgents,
        hosts: Hosts,
        events: Events,
        audit: Audit,
        *,
        minutes: float = 60.0,
        clock: Clock = SYSTEM,
    ) -> None:
        self._agents = agents
        self._hosts = hosts
        self._events = events
        self._audit = audit
        self._seconds = minutes * 60
        self._clock = clock
        self._requests: dict[str, AgentRequest] = {}
        self._asked: dict[str, AgentRequest] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def close(self) -> None:
        """End what runs, and drop what waits."""
        self._requests.clear()
        self._asked.clear()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def query(
        self,
        module: ApprovedModule,
        *,
        message: str,
        session_id: str | None = None,
        mcp_servers: list[str] | None = None,
        agent: str | None = None,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a turn, see `ModuleAgents.query`; error: WaitsForOwner before the first one while it has to wait."""
        if agent is not None and needs_owner(agent_of(module, agent)):
            found = await self._answer(module, agent, message, session_id, mcp_servers)
            for document in found.kept.values():
                yield document
            return
        asked = self._agents.query(module, message=message, session_id=session_id, mcp_servers=mcp_servers, agent=agent)
        async with contextlib.aclosing(asked) as events:
            async for document in events:
                yield document

    async def run_agent(self, module: ApprovedModule, agent: str, prompt: str) -> str:
        """Run an agent of the manifest to its end; its last text. Errors: WaitsForOwner, and those of `ModuleAgents`."""
        if needs_owner(agent_of(module, agent)):
            return (await self._answer(module, agent, prompt, None, None)).text
        return await self._agents.run_agent(module, agent, prompt)

    async def close_module(self, name: str) -> None:
        """End the runs of a module, and drop what it asked for."""
        for request in [each for each in self._requests.values() if each.module.name == name]:
            self._forget(request)
        await self._agents.close_module(name)

    async def start(self, name: str, agent: str, prompt: str, who: str) -> AgentRequest:
        """Ask for a run as the owner; it begins at once, unless the agent needs a yes to exactly this.

        Errors: NotFound, NotAllowed, Conflict, InvalidInput, Unavailable.
        """
        module = (await self._hosts.host(name)).module
        request = await self._new(module, agent, prompt, None, None, by_owner=True)
        config = agent_of(module, agent)
        if config.sandbox is not None and not config.requires_explicit_approval:
            try:
                await self._begin(request)
            except BaseException:
                self._forget(request)
                raise
            self._record(request, "start", who)
        else:
            self._record(request, "ask", who)
            await self._notify(request)
        return request

    def requests(self) -> Sequence[AgentRequest]:
        """Everything that waits, runs, or ended lately, the newest first."""
        self._expire()
        return sorted(self._requests.values(), key=lambda each: (each.since, each.id), reverse=True)

    def request(self, identifier: str) -> AgentRequest:
        """One of them; error: NotFound."""
        self._expire()
        if identifier not in self._requests:
            raise NotFound("This agent run is unknown or has been removed.", key="no_request")
        return self._requests[identifier]

    async def allow(self, identifier: str, who: str) -> None:
        """Begin a run that waits; errors: NotFound, and what keeps it from beginning: then it waits on."""
        request = self._waiting(identifier)
        await self._begin(request)
        self._record(request, "allow", who)

    async def refuse(self, identifier: str, who: str) -> None:
        """Refuse a run that waits; the same question is refused until then as well. Error: NotFound."""
        request = self._waiting(identifier)
        request.status = "refused"
        self._record(request, "refuse", who)
        await self._notify(request)

    def _waiting(self, identifier: str) -> AgentRequest:
        request = self.request(identifier)
        if request.status != "waiting":
            raise NotFound("This run is not waiting for an answer.", key="not_waiting")
        return request

    async def _answer(
        self,
        module: ApprovedModule,
        agent: str,
        prompt: str,
        session_id: str | None,
        mcp_servers: list[str] | None,
    ) -> AgentRequest:
        """Return the answer to a question; error while that is open: WaitsForOwner."""
        if agent_of(module, agent).requires_explicit_invocation:
            raise NotAllowed(
                f"The agent {agent} of the module {module.name} is started by the owner alone.",
                f"The owner starts it with: parachute modules run {module.name} {agent} PROMPT",
                key="owner_starts_it",
            )
        self._expire()
        listed = None if mcp_servers is None else tuple(mcp_servers)
        print_ = fingerprint(module, agent, prompt, session_id, listed)
        request = self._asked.get(print_)
        if request is None:
            request = await self._new(module, agent, prompt, session_id, listed)
            self._asked[print_] = request
            self._record(request, "ask", module.name)
            # The inbox looks again at every event of a module.
            await self._notify(request)
        match request.status:
            case "completed":
                del self._asked[print_]
                return request
            case "failed":
                del self._asked[print_]
                raise Unavailable(request.error or "The agent failed.", key="agent_failed")
            case "refused" | "expired":
                said = "said no to this" if request.status == "refused" else "did not answer in time"
                raise NotAllowed(f"The owner {said}: {agent} of {module.name} does not run.", key=request.status)
        raise WaitsForOwner(
            f"The agent {agent} of the module {module.name} is running."
            if request.status == "running"
            else f"The agent {agent} of the module {module.name} runs once the owner approves.",
            f"Ask again after the event {module.name}.agent.ended: the answer comes then. `parachute inbox` shows "
            "what waits.",
        )

    async def _new(
        self,
        module: ApprovedModule,
        agent: str,
        prompt: str,
        session_id: str | None,
        mcp_servers: tuple[str, ...] | None,
        *,
        by_owner: bool = False,
    ) -> AgentRequest:
        agent_of(module, agent)
        if not prompt.strip() or len(prompt) > _LONGEST:
            raise InvalidInput(
                f"prompt: expected 1 to {_LONGEST:,} characters, which the owner can read before saying yes.",
                key="prompt_length",
            )
        await self._agents.check(module, agent, None if mcp_servers is None else list(mcp_servers))
        self._expire()
        self._check_room(module.name, by_owner=by_owner)
        request = AgentRequest(
            module,
            agent,
            prompt,
            self._clock.now().timestamp() + self._seconds,
            session_id,
            mcp_servers,
            by_owner=by_owner,
        )
        self._requests[request.id] = request
        self._limit_ended()
        return request

    def _check_room(self, module: str, *, by_owner: bool) -> None:
        held = [each for each in self._requests.values() if each.status not in ("completed", "failed")]
        # Refused ones count as well: a module does not ask until somebody is tired of saying no.
        asked = sum(each.module.name == module and not each.by_owner for each in held)
        if len(held) >= _MOST or (not by_owner and asked >= MOST_OF_MODULE):
            raise Conflict(
                f"{MOST_OF_MODULE} runs of agents of the module {module} wait, run, or were refused lately.",
                "`parachute inbox` shows what waits.",
                key="queue_full",
            )

    async def _begin(self, request: AgentRequest) -> None:
        if self._hosts.approved(request.module.name) != request.module:
            raise Conflict(
                f"The module {request.module.name} has changed since.", "Ask for it again.", key="module_changed"
            )
        events = self._agents.query(
            request.module,
            message=request.prompt,
            session_id=request.session_id,
            mcp_servers=None if request.mcp_servers is None else list(request.mcp_servers),
            agent=request.agent,
            is_approved=True,
        )
        # What cannot begin is the answer to who said yes, and waits on.
        first = await anext(events)
        request.status = "running"
        task = asyncio.create_task(self._follow(request, first, events), name=f"agent request {request.id}")
        self._tasks[request.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(request.id, None))

    async def _follow(
        self, request: AgentRequest, document: dict[str, Any], events: AsyncGenerator[dict[str, Any], None]
    ) -> None:
        try:
            async with contextlib.aclosing(events):
                self._take(request, document)
                async for each in events:
                    self._take(request, each)
            request.status = "failed" if request.error else "completed"
        except ParachuteError as error:
            request.status, request.error = "failed", str(error)
        except Exception as error:
            log.exception("A run that the owner approved failed")
            request.status, request.error = "failed", f"It failed with {type(error).__name__}."
        request.until = self._clock.now().timestamp() + _KEPT_SECONDS
        await self._notify(request)

    def _take(self, request: AgentRequest, document: dict[str, Any]) -> None:
        event = read(document)
        kind = str(document["type"])
        if kind == "session":
            request.session = str(document["sessionId"])
        if kind in ("session", "text", "done"):
            request.kept[kind] = document
        if isinstance(event, Text):
            request.text = event.content
        elif isinstance(event, Aborted):
            request.error = "It was stopped."
        elif error := as_error(event):
            request.error = error.message

    def _expire(self) -> None:
        now = self._clock.now().timestamp()
        for request in list(self._requests.values()):
            if request.until > now or request.status == "running":
                continue
            if request.status == "waiting":
                request.status = "expired"
                request.until = now + self._seconds
                self._record(request, "expire", "time")
            else:
                self._forget(request)

    def _limit_ended(self) -> None:
        ended = [each for each in self._requests.values() if each.status in ("completed", "failed")]
        for request in ended[: max(0, len(ended) - _MOST)]:
            self._forget(request)

    def _forget(self, request: AgentRequest) -> None:
        self._requests.pop(request.id, None)
        for print_ in [key for key, each in self._asked.items() if each is request]:
            del self._asked[print_]

    async def _notify(self, request: AgentRequest) -> None:
        word = "asked" if request.status == "waiting" else "ended"
        data = {
            "agent": request.agent,
            "request": request.id,
            "status": request.status,
            "session_id": request.session,
        }
        try:
            await self._events.publish(f"{request.module.name}.agent.{word}", data)
        except ParachuteError as error:
            log.warning("That an agent's run %s is told to nobody: %s", word, error)

    def _record(self, request: AgentRequest, word: str, who: str) -> None:
        self._audit.append(
            event_type="agent_request",
            source_type="core" if word == "expire" else "module" if who == request.module.name else "user",
            source_id=who,
            target_module=request.module.name,
            target_endpoint=f"{word} {request.agent} {request.id}",
        )
