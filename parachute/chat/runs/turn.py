"""One turn of an agent, from the message to the result."""

import asyncio
import contextlib
import logging
from dataclasses import replace
from functools import partial
from typing import Any

from msgspec import Struct, field

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError
from parachute.changes.models import Applied
from parachute.chat.agent_processes.client import AgentClient, AgentEnded
from parachute.chat.agent_processes.options import COMPACTION_SECONDS
from parachute.chat.agent_processes.pool import AgentPool
from parachute.chat.origins.calls import CallOrigins
from parachute.chat.origins.run_origin import RunOrigin
from parachute.chat.runs import attachments, events, failures
from parachute.chat.runs.applying import TurnChanges, begin_changes, warnings
from parachute.chat.runs.conversation import Conversation
from parachute.chat.runs.entering import entering
from parachute.chat.runs.history import History
from parachute.chat.runs.interaction import Interaction
from parachute.chat.runs.log import LOG_LIMIT
from parachute.chat.runs.person_preparation import PersonPreparation
from parachute.chat.runs.postponed import PostponedCalls
from parachute.chat.runs.preparation import AgentServices, Preparation, granted
from parachute.chat.runs.records import record_changes
from parachute.chat.runs.request import Attachment
from parachute.chat.runs.run import Run
from parachute.chat.runs.turns import Turns
from parachute.chat.sessions.events import ONLY_FILES
from parachute.chat.sessions.models import Session
from parachute.events.bus.catalogue import CONTEXT_LIMIT, SESSION_MESSAGE
from parachute.events.bus.service import Events
from parachute.events.inbox.service import Inbox
from parachute.security.audit.service import Audit
from parachute.security.permissions.policy import Policy

log = logging.getLogger(__name__)

_NEARLY_FULL = "context_nearly_full"
_CONTEXT_SHARE = 0.8
"""The part of the model's context that has to be full for `context.limit.approaching` (spec 000)."""

_COMPACTIONS = 20
"""In one turn of which others are told: each may begin a hook."""

_FURTHER_TURN_SECONDS = 10.0
"""Longest wait after a result for the answer to a message that was put in."""


class TurnServices(Struct, frozen=True):
    """The services that turns use."""

    agents: AgentServices
    preparation: PersonPreparation
    pool: AgentPool
    events: Events
    audit: Audit
    inbox: Inbox
    turns: Turns
    postponed: PostponedCalls = field(default_factory=PostponedCalls)
    clock: Clock = SYSTEM


class Turn:
    """Answers one message; its terminal event is the last thing it appends to the run's log."""

    def __init__(self, services: TurnServices, run: Run, decoded: list[tuple[Attachment, bytes]]) -> None:
        self._preparation = services.preparation
        self._pool = services.pool
        self._changes = services.agents.changes
        self._events = services.events
        self._audit = services.audit
        self._inbox = services.inbox
        self._turns = services.turns
        self._postponed = services.postponed
        self._clock = services.clock
        self._services = services.agents
        self._run = run
        self._decoded = decoded
        self._history = History(services.agents.sessions, run)
        self._resume: events.SessionResume | None = None
        self._compactions = 0
        self._warned = False

    async def answer(self) -> None:
        """Run the turn; errors: ParachuteError for what a person can mend, CancelledError when it is aborted."""
        run, gateway = self._run, self._services.gateway
        kept = await self._agent_is_kept()
        has_history = not run.is_new or run.session.branch is not None
        known = kept or (has_history and await self._history.bring())
        before = await self._history.before_message(known)
        if before is None:
            return
        preparation, knowledge = await self._preparation.prepare_run(run, resume=known)
        run.origin = origin = await self._services.origins.begin(run.session.id)
        told, tools = preparation.prompt.by_agents, preparation.specification.module_tools
        attached = [data for _, data in self._decoded]
        await origin.lower(await entering(run, self._services.origins, told, tools, attached))
        changes = await begin_changes(self._changes, self._run, preparation, origin)
        content = await self._content(before, preparation)
        interaction = self._interaction(preparation, origin)
        interaction.know("\n\n".join(filter(None, (self._history.stopped, knowledge.text))))
        conversation = Conversation(run, interaction, changes.soon if changes else None)
        interaction.before_compaction = partial(self._before_compaction, conversation)
        gateway.take_problem(run.session.id)  # of an earlier turn
        gateway.take_used(run.session.id)
        gateway.resume(run.session.id)
        preparation.specification.endpoint.say = self._say
        client, first = await self._send(preparation, content, interaction, kept=kept, known=known)
        keep = False
        try:
            result = await self._receive(client, first, conversation)
            await self._watch_context(result, conversation.context_tokens)
            # A stopped process may still hold messages that were put in, and would answer them to the next turn.
            keep = not run.texts if run.stopping else not result.is_error
        finally:
            run.answered, run.client = True, None
            interaction.records.end()
            run.used, run.model = gateway.take_used(run.session.id), conversation.model
            # Who stops an agent stops what it has started, too: that ends with its process only.
            self._pool.release(client, keep=keep and run.profile is None and not run.stopping)
            await interaction.note_written()
            number = await self._end_changes(changes) if changes is not None else None
            with contextlib.suppress(ParachuteError):  # the disk may be full; the cards are less than the answer
                await self._turns.note(run, number)
            # What was said until now belongs to the session, however the turn ended.
            stored = await self._record(conversation, preparation, resumable=keep and not run.stopping)
        await self._end(result, stored, conversation.model)

    def _say(self, title: str, sentence: str) -> None:
        """Tell whoever reads, of what happens while the answer comes."""
        if not self._run.answered:
            self._run.log.append(events.RunWarning(title, sentence))

    async def _agent_is_kept(self) -> bool:
        """Return True if the session's agent process goes on; otherwise it is gone."""
        run, session = self._run, self._run.session
        if run.is_new:
            return False
        moves_into_sandbox = (
            session.effective_execution_mode == "direct"
            and await self._services.sessions.level(session) == "sandboxed"
            and await self._services.sandboxes.reason_unavailable() is None
        )
        # A view is mounted as it is; only a new one shows what the owner changed since in a file that the agent has changed.
        is_stale = await self._changes.is_stale(session.id)
        if self._pool.has(session.id) and not moves_into_sandbox and not is_stale:
            return True
        # One that still ends is writing the transcript that is read next.
        await self._pool.discard(session.id)
        if is_stale:
            await self._services.sandboxes.opened.close(session.id)
        return False

    async def _end_changes(self, changes: TurnChanges) -> int | None:
        try:
            applied = await changes.finish()
            record_changes(self._audit, self._run, await self._changes.history.entries(applied.number))
        except (OSError, ParachuteError) as error:
            log.warning("The changes of session %s could not be kept: %s", self._run.session.id, error)
            applied = Applied(0, 0, 0, str(error))
        for warning in warnings(applied):
            self._run.log.append(warning)
        return applied.number or None

    async def _content(self, before: list[str], preparation: Preparation) -> str | list[dict[str, Any]]:
        text, session = self._run.request.message, self._run.session.id
        blocks = [{"type": "text", "text": each} for each in before]
        if self._decoded:
            names = await asyncio.to_thread(attachments.store, self._services.vault, session, self._decoded)
            folder = self._services.sessions.attachments(session)
            blocks += attachments.content(self._decoded, names, preparation.execution, folder)
        return [*blocks, {"type": "text", "text": text if text.strip() else ONLY_FILES}] if blocks else text

    def _interaction(self, preparation: Preparation, origin: RunOrigin) -> Interaction:
        async def policy_with_grants() -> Policy:
            grants = await granted(self._services, self._run.session.id)
            return replace(preparation.policy, grants=grants)

        interaction = Interaction(
            self._run,
            preparation.policy,
            self._audit,
            policy_with_grants,
            self._inbox,
            self._postponed,
            refusal_of_page=preparation.refusal_of_page,
            origin=origin,
            calls=CallOrigins(
                self._services.origins,
                preparation.execution,
                preparation.policy,
                preparation.specification.module_tools,
                self._run.profile.owner.module if self._run.profile else "",
                self._run.session.id,
            ),
            clock=self._clock,
        )
        interaction.records.know(preparation.specification.module_tools)
        return interaction

    async def _end(self, result: Any, stored: Session | None, model: str | None) -> None:
        """Log the terminal event."""
        run, session = self._run, self._run.session
        if run.stopping:
            run.stopped()
        elif result.is_error:
            problem = self._services.gateway.take_problem(session.id)
            run.log.append(failures.of_result(session.id, result, problem))
        else:
            run.status = "done"
            if run.profile is None and stored is not None:
                count = {"session_id": session.id, "message_count": stored.message_count}
                await self._events.publish(SESSION_MESSAGE, count)
            title = stored.title if stored else session.title
            run.log.append(events.TurnDone(session.id, title, model, run.duration_ms, self._resume))

    async def _send(
        self,
        preparation: Preparation,
        content: str | list[dict[str, Any]],
        interaction: Interaction,
        *,
        kept: bool,
        known: bool,
    ) -> tuple[AgentClient, Any]:
        run = self._run
        identifier = run.message
        # Only a plain `/command` of a person is left to the program; what else has an `@` is to mean nothing to it.
        text = run.request.message
        composed = not run.typed or content != text or ("@" in text and not text.startswith("/"))
        while True:
            specification = preparation.specification
            client = await self._pool.take_prewarmed(run.session.id, specification.fingerprint())
            warm = client is not None
            if client is None:
                client, warm = await self._pool.acquire(specification)
            client.handler = interaction
            try:
                run.unanswered[identifier] = run.request.message
                await client.send(content, identifier, composed=composed)
                first = await client.receive()
                break
            except AgentEnded:
                self._pool.release(client, keep=False)
                if not warm:
                    raise
                # A kept process may have ended unnoticed: the next one is new, and then the error counts.
            except BaseException:
                self._pool.release(client, keep=False)
                raise
        failed = not known and run.session.message_count > 0
        self._resume = events.SessionResume(
            method="sdk_resume" if known else "new",
            sdk_session_valid=known,
            sdk_resume_attempted=known or failed,
            sdk_resume_failed=failed,
            context_injected=self._history.injected > 0,
            messages_injected=self._history.injected,
            tokens_estimate=0,
            previous_message_count=run.session.message_count,
            loaded_from_disk=known and not (warm and kept),
            cache_hit=warm and kept,
        )
        session = run.session
        run.log.append(events.Session(session.id, session.trust_level, session.title, self._resume))
        return client, first

    async def _receive(self, client: AgentClient, message: Any, conversation: Conversation) -> Any:
        # Not at the top, for the server's start.
        from claude_agent_sdk import ResultMessage, SystemMessage

        run = self._run
        while run.waiting:
            identifier, text = run.waiting[0]
            run.unanswered[identifier] = text
            await client.send(text, identifier, composed="@" in text)
            run.waiting.pop(0)
        run.client = client
        result: Any = None
        answered: Any = None
        while True:
            if isinstance(message, ResultMessage):
                if _is_of_program(message) and not run.stopping:
                    result = answered
                else:
                    result = answered = message
                    for identifier in message.user_message_uuids or list(run.unanswered):
                        run.unanswered.pop(identifier, None)
                    if message.is_error or run.stopping or not run.unanswered:
                        return result
            else:
                if not isinstance(message, SystemMessage) or message.subtype == "init":
                    result = None
                conversation.take(message)
                if run.log.size > LOG_LIMIT:
                    raise ParachuteError(
                        f"The agent said more than {LOG_LIMIT // 1024**2} MB in one turn, so it was stopped.",
                        "Ask for less at once, or have it write into a file.",
                        key="too_long",
                    )
            try:
                # Behind a result the program answers what was put in meanwhile, or it has taken it in without saying so.
                async with asyncio.timeout(_FURTHER_TURN_SECONDS if result else None):
                    message = await client.receive()
            except TimeoutError:
                return result

    async def _watch_context(self, result: Any, tokens: int) -> None:
        """Publish once that most of the model's context is full, and again after it was compacted."""
        window = max((usage.get("contextWindow", 0) for usage in (result.model_usage or {}).values()), default=0)
        metadata = self._run.session.metadata
        if not window or (tokens >= _CONTEXT_SHARE * window) == metadata.get(_NEARLY_FULL, False):
            return
        metadata[_NEARLY_FULL] = not metadata.get(_NEARLY_FULL, False)
        await self._services.sessions.save(self._run.session)
        if metadata[_NEARLY_FULL]:
            await self._tell_of_limit(tokens, None)

    async def _before_compaction(self, conversation: Conversation, trigger: str) -> None:
        """Have saved what is about to be cut in the middle of the turn."""
        self._compactions += 1
        if self._compactions <= _COMPACTIONS:
            # What its sandbox says is one of two words here.
            await self._tell_of_limit(conversation.context_tokens, "manual" if trigger == "manual" else "auto")

    async def _tell_of_limit(self, tokens: int, compaction: str | None) -> None:
        """Publish that the context is full; a failure is said once, and nothing stops the turn or holds it up for long."""
        data = {
            "session_id": self._run.session.id,
            "token_count": tokens,
            "threshold": _CONTEXT_SHARE,
            "compaction": compaction,
        }
        try:
            async with asyncio.timeout(COMPACTION_SECONDS):
                await self._events.publish(CONTEXT_LIMIT, data)
        except Exception as error:
            if not self._warned:
                log.warning("The full context of %s could not be told: %r", self._run.session.id, error)
                said = "Memory is not made of what is cut from this conversation now."
                self._run.log.append(events.RunWarning("Memory", f"{said} {error}".strip()))
            self._warned = True

    async def _record(self, conversation: Conversation, preparation: Preparation, *, resumable: bool) -> Session | None:
        run, sessions = self._run, self._services.sessions
        texts = [("user", run.request.message), *(("user", text) for _, text in run.texts)]
        if conversation.text:
            texts.append(("assistant", conversation.text))
        stored = await sessions.record_turn(run.session.id, texts=texts, mode=preparation.execution.mode)
        with contextlib.suppress(OSError):  # the disk may be full; the words are in the database
            await asyncio.to_thread(sessions.transcripts.sync, run.session.id)
            await asyncio.to_thread(sessions.transcripts.prepare, run.session.id)
        if stored and not resumable:
            await self._history.report_no_more(stored)
        return stored


def _is_of_program(result: Any) -> bool:
    """Return True for the result of a turn that the program began by itself, and in which it took no message in.

    A command in the background has ended, perhaps while nobody could ask the model; that is no answer to the person.
    """
    return not result.user_message_uuids and (result.origin or {}).get("kind") == "task-notification"
