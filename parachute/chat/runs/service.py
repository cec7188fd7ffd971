"""Runs: admitting them, following them, and everything that can be said to one."""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any

from parachute.agents.client import AgentEnded
from parachute.errors import Conflict, InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.hooks.models import Added
from parachute.panic.brake import Brake
from parachute.runs import attachments, events
from parachute.runs.admission import Admission
from parachute.runs.events import Event
from parachute.runs.log import EventLog, replay
from parachute.runs.preparation import Services
from parachute.runs.request import MAXIMUM_MESSAGE, Attachment, TurnRequest
from parachute.runs.run import INJECTION_LIMIT, CutOff, Profile, Run, cut_off
from parachute.runs.spare import Spare
from parachute.runs.store import RunStore
from parachute.runs.turn import Turn
from parachute.sessions.trust import TrustLevel, normalize_trust_level

log = logging.getLogger(__name__)

_ABORT_SECONDS = 0.3
_END_SECONDS = 5.0
_KEPT_LOGS = 32
_CODES = {
    "agent_ended": "tool_execution_failed",
    **dict.fromkeys(("database_unavailable", "disk_full", "disk_read_only"), "unknown_error"),
    "no_sandbox": "unknown_error",
}
"""What the app knows errors of our own by."""


class Runs:
    """At most one run for each session; a run belongs to this service and not to who asked for it."""

    def __init__(self, services: Services, store: RunStore) -> None:
        self._services = services
        self._store = store
        self._active: dict[str, Run] = {}
        self._reserved: set[str] = set()
        self._ended: dict[str, EventLog] = {}
        self._spare = Spare(services)
        self._admission = Admission(services, self._is_used)
        self._brake = Brake(services.home.root)
        self._stopping = False
        services.pool.released = self._released

    async def start(self) -> None:
        """Settle what an earlier core left running."""
        interrupted = await self._store.interrupt_running()
        if interrupted:
            log.warning("%d runs were interrupted by the end of the last core.", interrupted)

    async def close(self) -> None:
        """End all runs as interrupted, with everything they said stored."""
        self._stopping = True
        await self._spare.close()
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
    ) -> Run:
        """Admit a message for a person's session, or with a profile for one of a module, and start its run.

        `typed`: a person wrote it; what a module says in a conversation is no command to the agent's program.
        `by_owner`: whoever wrote it may have it run with the owner's rights.

        Errors: InvalidInput, NotFound, Conflict when the session is busy or belongs to a module, Stopped.
        """
        self._brake.check()
        self._services.pool.warm_up()
        is_new = request.session_id == "new"
        if request.attachments and self._services.gateway.provider.name == "offline":
            raise Unavailable(
                "The small model on this computer cannot read attachments.",
                "`parachute auth login` connects Claude, or a server such as Ollama with --base-url.",
                key="offline_model",
            )
        decoded = await asyncio.to_thread(attachments.decode, request.attachments) if request.attachments else []
        level = normalize_trust_level(request.trust_level) if request.trust_level is not None else None
        if is_new:
            session = await self._admission.new_session(request, level, profile, by_owner=by_owner)
        else:
            session = await self._services.sessions.get(request.session_id)
            await self._services.sessions.check_owner(session, profile.owner if profile else None)
        if self._stopping:
            raise Conflict("The computer is stopping.", "Try again when it is up.")
        if session.id in self._active or session.id in self._reserved:
            raise Conflict(
                "sessionId: this conversation is being answered already.",
                "Wait, stop it, or inject the message.",
                key="busy",
            )
        self._reserved.add(session.id)
        added: Sequence[Added] = ()
        try:
            if is_new:
                added = await self._admission.ask_hooks(session, profile)
                owner = profile.owner if profile else None
                await self._services.sessions.create(session, approved_by=caller, owner=owner)
            else:
                await self._admission.apply(session, request, level, caller)
            cut_off = () if is_new else await self._cut_off(session.id)
            log_of_run = EventLog(await self._store.begin(session.id), self._store)
            run = Run(session, request, log_of_run, is_new, cut_off, profile, added=added, brake=self._brake)
            run.typed = typed and profile is None
            run.by_owner = by_owner and profile is None
            # Until it is decided: what others put in now would be there when it begins.
            run.is_direct = run.by_owner and self._services.sandboxes.falls_back
            self._active[session.id] = run
        finally:
            self._reserved.discard(session.id)
        run.log.append(events.session(session.id, trust_level=session.trust_level, title=session.title))
        run.log.append({"type": "user_message", "content": request.message, "id": run.message})
        run.task = asyncio.create_task(self._carry_out(run, decoded), name=f"run {session.id}")
        return run

    async def follow(self, session: str, after: int) -> AsyncIterator[tuple[int, Event]]:
        """The events of the session's running or last run from behind `after`; error: NotFound."""
        log_in_memory = self._log(session)
        if log_in_memory:
            return log_in_memory.read(after)
        await self._services.sessions.get(session)
        last = await self._store.last(session)
        if last is None:
            raise NotFound("This conversation has no run to follow.", key="no_run")
        run, status = last
        stored = await self._store.events(run)
        if status == "interrupted" and (not stored or stored[-1][1]["type"] not in events.TERMINAL):
            stored.append(((stored[-1][0] if stored else 0) + 1, events.INTERRUPTED))

        async def read() -> AsyncIterator[tuple[int, Event]]:
            for entry in replay(stored, after):
                yield entry

        return read()

    async def abort(self, session: str) -> None:
        """Stop a session's run; returns when its terminal event is in the log. Error: NotFound if nothing runs."""
        run = self._running(session)
        run.aborting = True
        await self._stop(run)

    async def stop_all(self) -> None:
        """Stop every run while the brake is pulled, and with them what is kept for the next ones."""
        runs = list(self._active.values())
        for run in runs:
            run.aborting = True
        await self._spare.stop()
        await asyncio.gather(*(self._stop(run) for run in runs), return_exceptions=True)
        await self._services.pool.end_all()

    async def inject(self, session: str, message: str) -> None:
        """Put a further message into a running turn; errors: NotFound, InvalidInput, and 429 when too many wait."""
        if not message.strip() or len(message) > MAXIMUM_MESSAGE:
            raise InvalidInput(f"message: expected 1 to {MAXIMUM_MESSAGE:,} characters.")
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
        run.texts.append(("user", message))
        run.log.append({"type": "user_message", "content": message, "id": identifier})
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
        if waiting is None or waiting.answer.done():
            raise NotFound("This permission request does not wait for an answer.", key="no_request")
        if grant is not None:
            if grant not in waiting.grants:
                raise InvalidInput("grant: expected one of the suggestedGrants of this request.")
            if allow:
                await self._services.sessions.add_grant(session, grant)
        if not waiting.answer.done():
            waiting.answer.set_result(allow)

    def pending_questions(self, session: str) -> list[dict[str, Any]]:
        """Questions that wait, in the app's form."""
        run = self._active.get(session)
        waiting = run.questions.values() if run else ()
        return [{"request_id": question.identifier, "questions": question.questions} for question in waiting]

    def is_active(self, session: str) -> bool:
        """Whether a session is being answered."""
        return session in self._active

    def is_direct(self, session: str) -> bool:
        """Whether a session is being answered with the owner's rights."""
        run = self._active.get(session)
        return run is not None and run.is_direct

    def active(self) -> list[str]:
        """Sessions that are being answered."""
        return list(self._active)

    async def delete(self, session: str) -> None:
        """End what runs in a session, then remove it with everything of it; errors: NotFound, Conflict."""
        await self._services.sessions.get(session)
        if session in self._reserved:
            raise Conflict("This conversation is just about to be answered.", "Try again.", key="busy")
        # From here on no message is admitted: it would bring back what is being removed.
        self._reserved.add(session)
        try:
            if run := self._active.get(session):
                run.aborting = True
                await self._stop(run)
                if run.task:
                    await asyncio.wait({run.task}, timeout=_END_SECONDS)
            await self._services.pool.discard(session)
            await self._close_place(session)
            self._ended.pop(session, None)
            await self._store.forget(session)
            await self._services.sessions.delete(session)
        finally:
            self._reserved.discard(session)

    async def close_unused_line(self, session: str) -> None:
        """Close the line of a session in which nothing happens: who opened it has only looked at its box."""
        if not self._is_used(session) and not self._services.pool.has(session):
            await self._services.gateway.close(session)

    def default_level(self, workspace: str | None) -> TrustLevel:
        """The level of a new session whose message does not say one; error: NotFound for no workspace."""
        return self._admission.default_level(workspace)

    def app_seen(self) -> None:
        """An app is around: have a spare agent ready for its next new chat, and whoever knows what it will be about."""
        self._spare.want()
        self._services.contexts.app_seen()

    async def _stop(self, run: Run) -> None:
        """Interrupt a run, or end it with its process; returns when its terminal event is in the log."""
        for question in (*run.questions.values(), *run.permissions.values()):
            question.answer.cancel()
        assert run.task is not None
        if run.client is not None:
            with contextlib.suppress(Exception):  # a process that does not take the interrupt is ended below
                await asyncio.wait_for(run.client.interrupt(), _ABORT_SECONDS)
                await asyncio.wait({run.task}, timeout=_ABORT_SECONDS)
        if not run.answered and not run.log.closed:
            run.task.cancel()
        await asyncio.wait({run.task}, timeout=_END_SECONDS)

    def _running(self, session: str) -> Run:
        run = self._active.get(session)
        if run is None:
            raise NotFound("Nothing runs in this conversation.", key="no_run")
        return run

    def _log(self, session: str) -> EventLog | None:
        run = self._active.get(session)
        return run.log if run else self._ended.get(session)

    async def _cut_off(self, session: str) -> tuple[CutOff, ...]:
        found = [cut_off(await self._store.events(run)) for run in await self._store.unfinished(session)]
        return tuple(each for each in found if each)

    def _is_used(self, session: str) -> bool:
        return session in self._active or session in self._reserved

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
            code = _CODES.get(problem.key)
            known = self._services.gateway.take_problem(session)
            run.log.append(
                events.typed_error(known.code, known.message, session, original=error)
                if known
                else events.typed_error(code or "service_error", error, session, key=problem.key)
            )
        except Exception as problem:
            log.exception("The run of session %s failed.", session)
            error = type(problem).__name__
            run.log.append(
                {"type": "error", "error": "Something went wrong in the computer itself; its log says more."}
            )
        finally:
            if run.profile is not None:
                await self._leave(session, run.profile)
            await self._finish(run, error)

    async def _answer(self, run: Run, decoded: list[tuple[Attachment, bytes]]) -> None:
        limit = asyncio.timeout(run.profile.seconds if run.profile else None)
        try:
            async with limit:
                await Turn(self._services, run, decoded).answer()
        except AgentEnded as error:
            why = await self._services.sandboxes.why_ended(run.session.id) if error.with_box else None
            raise AgentEnded(why or error.message) from error
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise ParachuteError("The agent took too long and was stopped.", key="out_of_time") from error

    async def _leave(self, session: str, profile: Profile) -> None:
        """Close what an agent of a module had, while its session is still busy: its next message begins all anew."""
        try:
            await profile.finish(session)
            await self._services.pool.discard(session)
            await self._close_place(session)
        except Exception:
            log.exception("The place of session %s could not be closed.", session)

    async def _finish(self, run: Run, error: str | None) -> None:
        session = run.session.id
        # What it left running in its sandbox asks no model on its own.
        self._services.gateway.pause(session)
        self._active.pop(session, None)
        self._ended[session] = run.log
        while len(self._ended) > _KEPT_LOGS:
            self._ended.pop(next(iter(self._ended)))
        for question in (*run.questions.values(), *run.permissions.values()):
            question.answer.cancel()
        await run.log.finish()
        with contextlib.suppress(Exception):  # the disk may be full; the log in memory is complete
            await self._store.end(run.log.run, run.status)
            if run.log.stored and self._ended.get(session) is run.log:
                del self._ended[session]  # from now on it is read from the disk: a long answer takes megabytes
        self._services.audit.append(
            event_type="run",
            source_type="agent",
            source_id=session,
            target_module=run.profile.owner.module if run.profile else "chat",
            target_endpoint="run",
            duration_ms=round((time.monotonic() - run.started) * 1000),
            success=run.status == "done",
            error=error,
        )
        if run.profile is None:
            self.app_seen()

    async def _released(self, session: str) -> None:
        """A session's agent process is gone: close its line; its sandbox ends by itself when it was idle for long."""
        if not self._is_used(session):
            await self._close_place(session)

    async def _close_place(self, session: str) -> None:
        await self._services.gateway.close(session)
        with contextlib.suppress(ParachuteError):
            await self._services.sandboxes.close(session)
        if await self._services.sessions.find(session) is None:
            self._services.sandboxes.forget(session)
