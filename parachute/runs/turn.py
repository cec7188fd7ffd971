"""One turn from the message to the result: where it runs, with which prompt, through which agent process."""

import asyncio
import contextlib
import dataclasses
import logging
import shlex
import time
from pathlib import Path
from typing import Any

from parachute.agents.client import AgentClient, AgentEnded
from parachute.contexts.service import Knowledge
from parachute.errors import ParachuteError
from parachute.events.service import CONTEXT_LIMIT, SESSION_MESSAGE
from parachute.hooks.context import joined
from parachute.permissions.policy import Policy
from parachute.runs import attachments, events, failures
from parachute.runs.conversation import Conversation
from parachute.runs.interaction import Interaction
from parachute.runs.log import LOG_LIMIT
from parachute.runs.preparation import Preparation, Services, granted, prepare
from parachute.runs.request import Attachment
from parachute.runs.run import CutOff, Run
from parachute.sessions.models import Session
from parachute.workspaces.models import Workspace

log = logging.getLogger(__name__)

_PRIOR_LIMIT = 60_000
_REPORTED = "transcript_reported_missing"

_LEFT_OUT = "instructions_left_out"

_NEARLY_FULL = "context_nearly_full"
_CONTEXT_SHARE = 0.8
"""The part of the model's context that has to be full for `context.limit.approaching` (spec 000)."""
_CONTEXT_TOKENS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")

_FURTHER_TURN_SECONDS = 10.0
"""How long a result may be followed by nothing while a message that was put in is not accounted for."""


class Turn:
    """Answers one message; its terminal event is the last thing it appends to the run's log."""

    def __init__(self, services: Services, run: Run, decoded: list[tuple[Attachment, bytes]]) -> None:
        self._services = services
        self._run = run
        self._decoded = decoded
        self._resume: dict[str, Any] = {}
        self._injected = 0

    async def answer(self) -> None:
        """Run the turn; errors: ParachuteError for what a person can mend, CancelledError when it is aborted."""
        services, run = self._services, self._run
        session = run.session
        kept = not run.is_new and services.pool.has(session.id)
        if kept and await self._moves_into_box():
            # Its process has to be gone before its transcript can be brought, and nothing else would bring it.
            await services.pool.discard(session.id)
            kept = False
        known = kept or (not run.is_new and await self._bring_transcript())
        prior = await self._prior(known)
        if prior is None:
            return
        workspace = await services.workspaces.of(session) if run.profile is None else None
        services.workspaces.check_agent(workspace, session.agent_path, session.agent_name)
        directory = await self._directory(workspace)
        if run.profile is not None:
            preparation, knowledge = await run.profile.prepare(session, resume=known), Knowledge()
        else:
            preparation, knowledge = await asyncio.gather(
                prepare(
                    services, session, run.request, directory, resume=known, workspace=workspace, by_owner=run.by_owner
                ),
                services.contexts.for_message(session.id, run.request.message),
            )
        run.is_direct = preparation.execution.mode == "direct"
        for title, message in [*self._warnings(preparation), *await self._left_out(preparation)]:
            run.log.append(events.warning(title, message))
        if run.added:
            sources = (f"hook {each.hook}" for each in run.added if each.text)
            told = filter(None, (joined(run.added), knowledge.text))
            knowledge = dataclasses.replace(knowledge, text="\n\n".join(told), sources=(*sources, *knowledge.sources))
        shown = preparation.prompt.metadata(services.settings.trust_mode, knowledge.text, knowledge.sources)
        shown |= {"knownNames": knowledge.names, "knownEntries": knowledge.entries}
        run.log.append({"type": "prompt_metadata", **shown})
        folder = services.sessions.attachments(session.id)
        names: list[str] = []
        if self._decoded:
            names = await asyncio.to_thread(attachments.store, services.vault, session.id, self._decoded)
        text = f"{prior}{run.request.message}"
        content = attachments.content(text, self._decoded, names, preparation.execution, folder)

        async def policy_with_grants() -> Policy:
            return dataclasses.replace(preparation.policy, grants=await granted(services, session.id))

        interaction = Interaction(run, preparation.policy, services.audit, policy_with_grants)
        interaction.know(knowledge.text)
        conversation = Conversation(run, interaction)
        services.gateway.take_problem(session.id)  # of an earlier turn
        services.gateway.resume(session.id)
        client, first = await self._send(preparation, content, interaction, kept=kept, known=known)
        keep = False
        try:
            result = await self._receive(client, first, conversation)
            await self._watch_context(result)
            # A stopped process may still hold messages that were put in, and would answer them to the next turn.
            keep = not run.texts if run.stopping else not result.is_error
        finally:
            run.answered, run.client = True, None
            # Who stops an agent stops what it has started, too: that ends with its process only.
            services.pool.release(client, keep=keep and run.profile is None and not run.stopping)
            # What was said until now belongs to the session, however the turn ended.
            stored = await self._record(conversation, preparation, resumable=keep)
        if run.stopping:
            run.stopped()
        elif result.is_error:
            run.log.append(failures.of_result(session.id, result, services.gateway.take_problem(session.id)))
        else:
            run.status = "done"
            if run.profile is None and stored is not None:
                count = {"session_id": session.id, "message_count": stored.message_count}
                await services.events.publish(SESSION_MESSAGE, count)
            run.log.append(
                {
                    "type": "done",
                    "sessionId": session.id,
                    "title": stored.title if stored else session.title,
                    "model": conversation.model,
                    "durationMs": round((time.monotonic() - run.started) * 1000),
                    "sessionResume": self._resume,
                }
            )

    async def _moves_into_box(self) -> bool:
        services, session = self._services, self._run.session
        return (
            session.effective_execution_mode == "direct"
            and await services.sessions.level(session) == "sandboxed"
            and await services.sandboxes.reason_unavailable() is None
        )

    async def _bring_transcript(self) -> bool:
        transcripts, session = self._services.sessions.transcripts, self._run.session
        if await self._services.sessions.level(session) == "direct":
            return await asyncio.to_thread(transcripts.find, session.id) is not None
        return await asyncio.to_thread(transcripts.bring, session.id)

    async def _send(
        self,
        preparation: Preparation,
        content: str | list[dict[str, Any]],
        interaction: Interaction,
        *,
        kept: bool,
        known: bool,
    ) -> tuple[AgentClient, Any]:
        services, run = self._services, self._run
        identifier = run.message
        # `@path` in a message would read a file without asking any rule; only a plain `/command` of a person is left to the program.
        composed = not run.typed or "@" in run.request.message or content != run.request.message
        while True:
            specification = preparation.specification
            client = await services.pool.take_spare(run.session.id, specification.fingerprint())
            warm = client is not None
            if client is None:
                client, warm = await services.pool.acquire(specification)
            client.handler = interaction
            try:
                run.unanswered[identifier] = run.request.message
                await client.send(content, identifier, composed=composed)
                first = await client.receive()
                break
            except AgentEnded:
                services.pool.release(client, keep=False)
                if not warm:
                    raise
                # A kept process may have ended unnoticed: the next one is new, and then the error counts.
            except BaseException:
                services.pool.release(client, keep=False)
                raise
        self._resume = events.session_resume(
            "sdk_resume" if known else "new",
            resumed=known,
            warm=warm and kept,
            previous=run.session.message_count,
            injected=self._injected,
            failed=not known and run.session.message_count > 0,
        )
        run.log.append(
            events.session(
                run.session.id, trust_level=run.session.trust_level, title=run.session.title, resume=self._resume
            )
        )
        return client, first

    async def _receive(self, client: AgentClient, message: Any, conversation: Conversation) -> Any:
        from claude_agent_sdk import ResultMessage, SystemMessage

        run = self._run
        while run.waiting:
            identifier, text = run.waiting[0]
            run.unanswered[identifier] = text
            await client.send(text, identifier, composed="@" in text)
            run.waiting.pop(0)
        run.client = client
        result: Any = None
        while True:
            if isinstance(message, ResultMessage):
                result = message
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
                message = await asyncio.wait_for(client.receive(), _FURTHER_TURN_SECONDS if result else None)
            except TimeoutError:
                return result

    async def _watch_context(self, result: Any) -> None:
        """Tell once when a conversation has filled most of the model's context, and again after it was compacted."""
        window = max((usage.get("contextWindow", 0) for usage in (result.model_usage or {}).values()), default=0)
        counts = result.usage or {}
        tokens = sum(counts.get(name) or 0 for name in _CONTEXT_TOKENS)
        metadata = self._run.session.metadata
        if not window or (tokens >= _CONTEXT_SHARE * window) == metadata.get(_NEARLY_FULL, False):
            return
        metadata[_NEARLY_FULL] = not metadata.get(_NEARLY_FULL, False)
        await self._services.sessions.save(self._run.session)
        if metadata[_NEARLY_FULL]:
            data = {"session_id": self._run.session.id, "token_count": tokens, "threshold": _CONTEXT_SHARE}
            await self._services.events.publish(CONTEXT_LIMIT, data)

    async def _record(self, conversation: Conversation, preparation: Preparation, *, resumable: bool) -> Session | None:
        run, sessions = self._run, self._services.sessions
        texts = [("user", run.request.message), *(("user", text) for _, text in run.texts)]
        if conversation.text:
            texts.append(("assistant", conversation.text))
        stored = await sessions.record_turn(run.session.id, texts=texts, mode=preparation.execution.mode)
        with contextlib.suppress(OSError):  # the disk may be full; the words are in the database
            await asyncio.to_thread(sessions.transcripts.sync, run.session.id)
        if stored and not resumable and await asyncio.to_thread(sessions.transcripts.find, stored.id) is None:
            # The process ended before it wrote any transcript: the next message goes on with the words, without a fuss.
            stored.metadata[_REPORTED] = True
            await sessions.save(stored)
        return stored

    async def _prior(self, known: bool) -> str | None:
        """What goes before the message; None when the turn ends here because the transcript is gone."""
        run, sessions = self._run, self._services.sessions
        parts: list[tuple[str, str]] = []
        if run.request.initial_context and not known:
            parts.append(("context", run.request.initial_context))
        if run.request.prior_conversation and not known:
            parts.append(("prior_conversation", run.request.prior_conversation))
        if run.is_new and run.session.continued_from:
            parts.append(("prior_conversation", await self._told(run.session.continued_from)))
        if not known and run.session.message_count > 0:
            if not run.session.metadata.pop(_REPORTED, False):
                run.session.metadata[_REPORTED] = True
                await sessions.save(run.session)
                self._report_missing()
                return None
            # The app asked again after it heard that the transcript is gone: go on with the words we have.
            await sessions.save(run.session)
            parts.append(("prior_conversation", await sessions.words(run.session.id)))
        for cut_off in await self._lost(known):
            parts.append(("interrupted_turn", "\n\n".join(f"{role}: {text}" for role, text in cut_off.texts)))
        self._injected = sum(1 for _, text in parts if text)
        return "".join(f"<{name}>\n{text[-_PRIOR_LIMIT:]}\n</{name}>\n\n" for name, text in parts if text)

    async def _lost(self, known: bool) -> list[CutOff]:
        """Earlier turns whose program was killed before it wrote their message into the transcript."""
        if not self._run.cut_off:
            return []
        written = {message["id"] for message in await self._services.sessions.messages(self._run.session.id)}
        # A message that is there has taken those along that were lost before it.
        last = max((number for number, each in enumerate(self._run.cut_off, 1) if each.message in written), default=0)
        return [each for each in self._run.cut_off[last:] if known or not each.is_recorded]

    def _report_missing(self) -> None:
        run = self._run
        message = "The transcript of this conversation is not on this computer any more."
        run.log.append(
            {
                "type": "session_unavailable",
                "reason": "transcript_not_found",
                "sessionId": run.session.id,
                "hasMarkdownHistory": False,
                "messageCount": run.session.message_count,
                "message": f"{message} Send the message again to go on with what is left of it, or start a new chat.",
            }
        )
        run.status = "done"
        run.log.append({"type": "done", "sessionId": run.session.id, "title": run.session.title, "durationMs": 0})

    async def _told(self, session: str) -> str:
        messages = await self._services.sessions.messages(session)
        lines = []
        for message in messages:
            text = " ".join(block["text"] for block in message["content"] if block["type"] == "text")
            if text:
                lines.append(f"{message['role']}: {text}")
        return "\n\n".join(lines)

    async def _directory(self, workspace: Workspace | None) -> Path | None:
        run, vault = self._run, self._services.vault
        stored = run.session.working_directory or (workspace and workspace.working_directory)
        if not stored:
            return None
        directory = vault.absolute(stored)
        if not await asyncio.to_thread(directory.is_dir):
            run.log.append(
                events.warning(
                    "Folder not found", f"{directory} does not exist any more; working without a project folder."
                )
            )
            return None
        return self._services.sandboxes.check_directory(directory)

    async def _left_out(self, preparation: Preparation) -> list[tuple[str, str]]:
        """What the prompt is without, said when it begins and when it changes."""
        names, metadata = preparation.prompt.left_out, self._run.session.metadata
        if names == metadata.get(_LEFT_OUT, []):
            return []
        metadata[_LEFT_OUT] = names
        await self._services.sessions.save(self._run.session)
        return [
            (
                "Instructions left out",
                f"{name} is not approved for conversations that run directly, so this one goes on without it. "
                f"`parachute prompts approve {shlex.quote(name)}` shows it, and asks.",
            )
            for name in names
        ]

    def _warnings(self, preparation: Preparation) -> list[tuple[str, str]]:
        found = list(preparation.execution.warnings)
        found += ((f"Hook {each.hook}", each.notice) for each in self._run.added if each.notice)
        if self._run.wanted_direct and preparation.execution.mode == "sandboxed":
            found.append(("Sandboxed", "The workspace of this conversation keeps it in a sandbox."))
        differences = self._services.sandboxes.take_differences(self._run.session.id)
        found += (("Sandbox not as asked", sentence) for sentence in differences)
        wanted = self._run.request.model
        if wanted and preparation.provider.model and wanted != preparation.provider.model:
            found.append(("Model", f"{wanted} is not used: {preparation.provider.model} answers, as the settings say."))
        if unknown := sorted(self._run.request.model_extra or ()):
            names = ", ".join(name[:40] for name in unknown[:5]) + (", …" if len(unknown) > 5 else "")
            found.append(("Unknown fields", f"The message came with fields that are not known here: {names}."))
        empty = [attachment.file_name for attachment in self._run.request.attachments if attachment.base64_data is None]
        if empty:
            found.append(("Attachment without content", f"The app sent only the name of {', '.join(empty)}."))
        if preparation.provider.name == "offline" and self._services.settings.provider == "auto" and self._run.is_new:
            found.append(
                (
                    "Offline model",
                    "No credentials for Claude are configured, so a small model on this computer answers, often wrongly. "
                    "`parachute auth login` connects Claude, or a server such as Ollama with --base-url.",
                )
            )
        return found
