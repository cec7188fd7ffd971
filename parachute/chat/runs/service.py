"""Runs: beginning, following, stopping and answering them."""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from parachute.base.clock import as_text
from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.chat.agent_processes.client import AgentEnded
from parachute.chat.runs import attachments, events, failures
from parachute.chat.runs.active import ActiveRuns
from parachute.chat.runs.admission import Admission
from parachute.chat.runs.closing import close_session, delete_session
from parachute.chat.runs.ended import EndedRuns
from parachute.chat.runs.events import Event
from parachute.chat.runs.log import EventLog
from parachute.chat.runs.prewarming import Prewarming
from parachute.chat.runs.records import record_run, record_start
from parachute.chat.runs.request import MAXIMUM_MESSAGE, Attachment, TurnRequest
from parachute.chat.runs.run import INJECTION_LIMIT, PendingQuestion, Profile, Run, cut_off
from parachute.chat.runs.store import RunStore
from parachute.chat.runs.turn import Turn, TurnServices
from parachute.chat.sessions.models import Session
from parachute.security.kill_switch.switch import KillSwitch
from parachute.security.origin import Origin
from parachute.security.trust_levels import TrustLevel

log = logging.getLogger(__name__)

_ABORT_SECONDS = 0.3
_END_SECONDS = 5.0


class Runs:
    """At most one run for each session; a run belongs to this service and not to who asked for it.

    `changed` is called with a session when a run of it has begun or ended, and each of `after_ends` with a run that has ended.
    """

    def __init__(
        self,
        turn: TurnServices,
        store: RunStore,
        admission: Admission,
        prewarming: Prewarming,
        active: ActiveRuns,
        changed: Callable[[str], None],
    ) -> None:
        self._turn = turn
        self._services = turn.agents
        self._pool = turn.pool
        self._store = store
        self.postponed = turn.postponed
        self._admission = admission
        self._prewarming = prewarming
        self._active = active
        self._reserved = active.reserved
        self._ending: dict[str, asyncio.Task[None]] = {}
        self.ended = EndedRuns(store, turn.agents.sessions)
        self._kill_switch = KillSwitch(turn.agents.home.root)
        self._stopping = False
        self.taken = store.taken
        self._changed = changed
        self.after_ends: list[Callable[[Run], None]] = []
        turn.pool.listen(self._released)

    async def start(self) -> None:
        """Mark the runs that the end of the last server interrupted."""
        interrupted = await self._store.interrupt_running()
        if interrupted:
            log.warning("%d runs were interrupted by the end of the last server.", interrupted)

    async def close(self) -> None:
        """End all runs as interrupted, with everything they said stored."""
        self._stopping = True
        await self._prewarming.close()
        runs = list(self._active.values())
        for run in runs:
            run.interrupted = True
        await asyncio.gather(*(self._stop(run) for run in runs), return_exceptions=True)

    async def begin(
        self,
        request: TurnRequest,
        caller: str,
        profile: Profile | None = None,
        *,
        typed: bool = True,
        by_owner: bool = False,
        origin: Origin = Origin.OWNER,
    ) -> Run:
        """Admit a message for a person's session, or with a profile for one of a module, and start its run.

        `typed`: a person wrote it; what a module says in a conversation is no command to the agent's program.
        `by_owner`: whoever wrote it may have it run with the owner's rights. `origin` is that of the message.

        Errors: InvalidInput, NotFound, Conflict when the session is busy or belongs to a module, Stopped.
        """
        self._kill_switch.check()
        self._pool.warm_up()
        decoded = await self._decode(request)
        session = await self._admission.session_of(request, profile, self._prewarmed, by_owner=by_owner)
        with self.reserved(session.id):
            added = await self._admission.admit(session, request, profile, caller)
            run = await self._new_run(session, request, profile)
            run.added = added
            run.caller = caller
            run.typed = typed and profile is None
            run.given = origin
            run.by_owner = by_owner and profile is None
            # Until it is decided: what others put in now would be there when it begins.
            run.is_direct = run.by_owner and self._services.sandboxes.falls_back
            if key := request.idempotency_key:
                await self.taken.add(key, session.id, run.log.run, run.message)
            self._active[session.id] = run
        run.log.append(events.Session(session.id, session.trust_level, session.title))
        run.log.append(events.UserMessage(request.message, run.message))
        record_start(self._turn.audit, run)
        run.task = asyncio.create_task(self._carry_out(run, decoded), name=f"run {session.id}")
        self._changed(session.id)
        if key:
            await run.log.flush()  # whoever hears of it forgets the message
        return run

    async def follow(
        self, session: str, after: int = 0, *, as_deltas: bool = False
    ) -> AsyncIterator[tuple[int, Event]]:
        """The events of the session's running or last run from behind `after`; error: NotFound."""
        if run := self._active.get(session):
            return run.log.read(after, as_deltas=as_deltas)
        return await self.ended.follow(session, after, as_deltas=as_deltas)

    async def interrupted(self, since: datetime) -> Sequence[tuple[int, str]]:
        """Return (run, session) of the last runs of sessions, as far as an end of the server has interrupted them since then."""
        return await self._store.interrupted(as_text(since))

    async def abort(self, session: str) -> None:
        """Stop a session's run; returns when its terminal event is in the log. Error: NotFound if nothing runs."""
        run = self._running(session)
        run.aborting = True
        await self._stop(run)

    async def stop(self, session: str) -> bool:
        """Stop a session's run; False if nothing runs."""
        if session not in self._active:
            return False
        with contextlib.suppress(NotFound):
            await self.abort(session)
        return True

    async def stop_all(self) -> None:
        """Stop every run and every agent that is kept; the kill switch calls it."""
        runs = list(self._active.values())
        for run in runs:
            run.aborting = True
        self.postponed.forget()
        await self._prewarming.stop()
        await asyncio.gather(*(self._stop(run) for run in runs), return_exceptions=True)
        await self._pool.end_all()

    async def inject(self, session: str, message: str, key: str | None = None) -> None:
        """Put a further message into a running turn, to be known by its `key`; errors: NotFound, InvalidInput, and 429 when too many wait."""
        if not message.strip() or len(message) > MAXIMUM_MESSAGE:
            raise InvalidInput(f"message: expected 1 to {MAXIMUM_MESSAGE:,} characters.", key="message_length")
        run = self._running(session)
        if run.profile is not None:
            await self._services.sessions.check_owner(run.session, None)
        if run.answered or run.stopping:
            raise NotFound("Nothing runs in this conversation.", key="no_run")
        if run.injections >= INJECTION_LIMIT:
            raise ParachuteError(
                f"{INJECTION_LIMIT} messages wait already.", "Let the agent answer first.", key="queue_full", status=429
            )
        identifier = str(uuid.uuid4())
        if key:
            await self.taken.add(key, session, run.log.run, identifier)
        run.texts.append(("user", message))
        run.injected.append(identifier)
        run.log.append(events.UserMessage(message, identifier))
        if key:
            await run.log.flush()
        if run.client is None:
            run.waiting.append((identifier, message))
            return
        run.unanswered[identifier] = message
        try:
            await run.client.send(message, identifier, composed="@" in message)
        except ParachuteError:
            run.unanswered.pop(identifier, None)
            raise

    def answer(self, session: str, request: str, answers: dict[str, Any]) -> None:
        """Answer a question of the agent; error: NotFound if it does not wait (any more)."""
        run = self._active.get(session)
        question = run.questions.get(request) if run else None
        if question is None or question.answer.done():
            raise NotFound("This question does not wait for an answer.", key="no_question")
        question.answer.set_result(answers)

    async def permit(self, session: str, request: str, *, allow: bool, grant: str | None) -> None:
        """Answer a permission request, with a grant for the rest of the session if given."""
        run = self._active.get(session)
        waiting = run.permissions.get(request) if run else None
        is_live = waiting is not None and not waiting.answer.done()
        grants = waiting.grants if waiting is not None and is_live else self.postponed.grants(request)
        if grants is None:
            raise NotFound("This permission request does not wait for an answer.", key="no_request")
        if grant is not None:
            if grant not in grants:
                raise InvalidInput("grant: expected one of the suggestedGrants of this request.", key="unknown_grant")
            if allow:
                await self._services.sessions.add_grant(session, grant)
        if waiting is None or not is_live:
            self.postponed.answer(request, allow=allow)
        elif not waiting.answer.done():
            waiting.answer.set_result(allow)

    def pending_questions(self, session: str) -> list[PendingQuestion]:
        """Questions that wait."""
        run = self._active.get(session)
        waiting = run.questions.values() if run else ()
        return [PendingQuestion(question.identifier, question.questions) for question in waiting]

    def is_active(self, session: str) -> bool:
        """Return True while a session is being answered."""
        return session in self._active

    def is_direct(self, session: str) -> bool:
        """Return True while a session is being answered with the owner's rights."""
        run = self._active.get(session)
        return run is not None and run.is_direct

    def running(self) -> Sequence[Run]:
        """Return the runs of all sessions that are being answered."""
        return tuple(self._active.values())

    def active(self) -> list[str]:
        """Sessions that are being answered."""
        return list(self._active)

    async def delete(self, session: str) -> None:
        """End what runs in a session, then remove it with everything of it; errors: NotFound, Conflict."""
        await self._services.sessions.get(session)
        if session in self._reserved:
            raise Conflict("An answer in this conversation is about to begin.", "Try again.", key="busy")
        # From here on no message is admitted: it would bring back what is being removed.
        self._reserved.add(session)
        try:
            if run := self._active.get(session):
                run.aborting = True
                await self._stop(run)
                if run.task:
                    await asyncio.wait({run.task}, timeout=_END_SECONDS)
            await self._pool.discard(session)
            await self._close_sandbox(session)
            await self.ended.forget(session)
            await delete_session(self._services, session)
            self.postponed.forget(session)
        finally:
            self._reserved.discard(session)

    async def settled(self, session: str) -> None:
        """Wait until what is being closed of a session is closed."""
        await self._pool.gone(session)

    async def close_unused_endpoint(self, session: str) -> None:
        """Close the model endpoint of a session in which nothing runs, after its sandbox was inspected."""
        if not self._active.uses(session) and not self._pool.has(session):
            await self._services.gateway.close(session)

    def default_level(self, workspace: str | None) -> TrustLevel:
        """The level of a new session whose message does not say one; error: NotFound for no workspace."""
        return self._admission.default_level(workspace)

    async def _decode(self, request: TurnRequest) -> list[tuple[Attachment, bytes]]:
        attached = request.attachments
        if attached and self._services.gateway.upstream.chosen(request.model).is_offline:
            raise Unavailable(
                "The small model on this computer cannot read attachments.",
                "`parachute auth login` connects Claude, or a server such as Ollama with --base-url.",
                key="offline_model",
            )
        return await asyncio.to_thread(attachments.decode, attached) if attached else []

    def _prewarmed(self) -> str | None:
        """The session for which an agent was prewarmed, unless another chat has it already."""
        agent = self._pool.prewarmed
        return None if agent is None or self._active.uses(agent.specification.session) else agent.specification.session

    @contextlib.contextmanager
    def reserved(self, session: str) -> Iterator[None]:
        """Keep all other messages out of a session while its run is made; error: Conflict if it is busy."""
        if self._stopping:
            raise Conflict("The computer is stopping.", "Try again when it is up.", key="stopping")
        if self._active.uses(session):
            raise Conflict(
                "sessionId: this conversation is being answered already.",
                "Wait, stop it, or inject the message.",
                key="busy",
            )
        self._reserved.add(session)
        try:
            yield
        finally:
            self._reserved.discard(session)

    async def _new_run(self, session: Session, request: TurnRequest, profile: Profile | None) -> Run:
        is_new = request.session_id == "new"
        if ending := self._ending.get(session.id):
            # Who sends the next message has read the end of the last run, which is stored a moment later.
            await asyncio.wait({ending})
        earlier = [] if is_new else [await self._store.events(run) for run in await self._store.unfinished(session.id)]
        run_log = EventLog(await self._store.begin(session.id), self._store)
        found = tuple(each for each in map(cut_off, earlier) if each)
        run = Run(session, request, run_log, is_new, found, profile, kill_switch=self._kill_switch)
        if is_new and session.branch is not None:
            run.message = session.branch.message
        return run

    async def _stop(self, run: Run) -> None:
        """Interrupt a run, or end it with its process; returns when its terminal event is in the log."""
        run.cancel_questions()
        assert run.task is not None
        if run.client is not None:
            with contextlib.suppress(Exception):  # a process that does not take the interrupt is ended below
                async with asyncio.timeout(_ABORT_SECONDS):
                    await run.client.interrupt()
                await asyncio.wait({run.task}, timeout=_ABORT_SECONDS)
        if not run.answered and not run.log.closed:
            run.task.cancel()
        await asyncio.wait({run.task}, timeout=_END_SECONDS)

    def _running(self, session: str) -> Run:
        run = self._active.get(session)
        if run is None:
            raise NotFound("Nothing runs in this conversation.", key="no_run")
        return run

    async def _carry_out(self, run: Run, decoded: list[tuple[Attachment, bytes]]) -> None:
        session = run.session.id
        error: str | None = None
        try:
            await self._answer(run, decoded)
        except asyncio.CancelledError:
            run.stopped()
        except ParachuteError as problem:
            if run.stopping:  # an agent that ends because it is stopped is no failure
                run.stopped()
                return
            error = str(problem)
            run.log.append(failures.of_error(session, problem, self._services.gateway.take_problem(session)))
        except Exception as problem:
            log.exception("The run of session %s failed.", session)
            error = type(problem).__name__
            run.log.append(events.InternalError("Something went wrong in the computer itself; its log says more."))
        finally:
            if run.profile is not None:
                await self._leave(session, run.profile)
            await self._finish(run, error)

    async def _answer(self, run: Run, decoded: list[tuple[Attachment, bytes]]) -> None:
        limit = asyncio.timeout(run.profile.seconds if run.profile else None)
        try:
            async with limit:
                await Turn(self._turn, run, decoded).answer()
        except AgentEnded as error:
            why = await self._services.sandboxes.opened.why_ended(run.session.id) if error.with_sandbox else None
            raise AgentEnded(why or error.message) from error
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise ParachuteError("The agent took too long and was stopped.", key="out_of_time") from error

    async def _leave(self, session: str, profile: Profile | None = None) -> None:
        """Close everything of a session in which no agent stays, while it is still busy: its next message begins anew."""
        try:
            if profile is not None:
                await profile.finish(session)
            await self._pool.discard(session)
            await self._close_sandbox(session)
        except Exception:
            log.exception("The sandbox of session %s could not be closed.", session)

    async def _finish(self, run: Run, error: str | None) -> None:
        session = run.session.id
        # What it left running in its sandbox asks no model on its own.
        self._services.gateway.pause(session)
        self._active.pop(session, None)
        assert run.task is not None
        self._ending[session] = run.task
        run.task.add_done_callback(lambda _: self._ending.pop(session, None))
        self.ended.add(run)
        run.cancel_questions()
        await run.log.finish()
        record_run(self._turn.audit, run, error)
        await self.ended.record(run)
        self._services.origins.end(session)
        self._changed(session)
        for tell in self.after_ends:
            tell(run)
        if run.profile is None:
            self._prewarming.app_seen()
        if not self._pool.has(session):
            # It failed before there was an agent, or that has ended meanwhile: nobody else closes what was opened for it.
            await self._leave(session)

    async def _released(self, session: str) -> None:
        """Close the model endpoint and the sandbox of a session whose agent process has ended."""
        if not self._active.uses(session):
            await self._close_sandbox(session)

    async def _close_sandbox(self, session: str) -> None:
        await close_session(self._services, self._turn.preparation, session)
