"""Conversations of chats: one message after the other in each, and none twice, whenever the computer ends."""

import asyncio
import contextlib
import logging
import secrets
from dataclasses import dataclass, field
from typing import NamedTuple

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, NotFound, ParachuteError
from parachute.chat.runs.interrupted import Begun, InterruptedAnswers
from parachute.chat.runs.request import Attachment, TurnRequest
from parachute.chat.runs.run import Run
from parachute.chat.runs.service import Runs
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions
from parachute.connectors.chats.models import LinkedChat, shown_name
from parachute.connectors.chats.sessions import ChatSessions
from parachute.connectors.chats.store import ChatStore
from parachute.connectors.configuration.models import Platform
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.conversations.answering import Answer
from parachute.connectors.conversations.commands import Commands, command_of
from parachute.connectors.conversations.messages import (
    MOST_UPDATES,
    attachments_of,
    is_answered,
    joined,
    text_of,
)
from parachute.connectors.conversations.voice_notes import VoiceNotes
from parachute.connectors.deliveries.service import Deliveries
from parachute.connectors.platforms.available import label
from parachute.connectors.platforms.models import Outgoing, Update
from parachute.connectors.platforms.shared_files import remove_files
from parachute.connectors.runtime.open_connectors import OpenConnectors
from parachute.connectors.texts import Language, say
from parachute.connectors.updates.store import Batch, Stored, UpdateStore
from parachute.sandbox.engines.service import Sandboxes
from parachute.security.kill_switch.switch import KillSwitch, Stopped
from parachute.security.origin import Origin

log = logging.getLogger(__name__)

_AT_ONCE = 4
"""Chats that are answered at the same time: each has an agent of its own in the memory."""

_LOOKED_THROUGH = 200
"""Messages that wait, among which the one is sought that stops an answer."""

_TRIES = 3
_PAUSE_SECONDS, _LONGEST_PAUSE = 10.0, 300.0


class _Key(NamedTuple):
    platform: Platform
    chat: str


@dataclass(slots=True)
class Conversations:
    """Answers what is stored, a task for each chat in which something waits."""

    store: UpdateStore
    chats: ChatStore
    chat_sessions: ChatSessions
    sessions: Sessions
    runs: Runs
    sandboxes: Sandboxes
    connectors: OpenConnectors
    deliveries: Deliveries
    configuration: BotConfiguration
    commands: Commands
    kill_switch: KillSwitch
    voice_notes: VoiceNotes
    interrupted: InterruptedAnswers
    clock: Clock = SYSTEM
    _working: dict[_Key, asyncio.Task[None]] = field(default_factory=dict, init=False)
    _arrived: dict[_Key, asyncio.Event] = field(default_factory=dict, init=False)
    _asking: dict[_Key, asyncio.Lock] = field(default_factory=dict, init=False)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE), init=False)
    _resumed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def take_up(self) -> None:
        """Go on with what the last server left."""
        for platform, chat in await self.store.open_chats():
            self.wake(platform, chat)

    async def close(self) -> None:
        """Stop; what is not answered is taken up by the next server."""
        tasks = list(self._working.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def resume(self) -> None:
        """Agents may work again."""
        self._resumed.set()
        self._resumed = asyncio.Event()

    def wake(self, platform: Platform, chat: str) -> None:
        """Something waits in a chat."""
        key = _Key(platform, chat)
        self._arrived.setdefault(key, asyncio.Event()).set()
        if key not in self._working:
            self._working[key] = asyncio.create_task(self._work(key), name=f"chat of {platform}")

    async def forget(self, chat: LinkedChat) -> None:
        """End what is done for a chat that was let out."""
        key = _Key(chat.platform, chat.chat)
        if task := self._working.get(key):
            task.cancel()
            await asyncio.wait({task})
        if chat.session:
            await self.stop(chat.session)

    async def revise(self, platform: Platform, update: Update) -> None:
        """Take a message as it is now, or out: until an agent is asked nothing else reaches it, and afterwards it is told."""
        async with self._lock(_Key(platform, update.chat.id)):
            if update.kind == "edited":
                await self.store.rewrite(platform, update)
                return
            withdrawn = await self.store.withdraw(platform, update)
        names = [file.path for each in withdrawn for file in each.update.files if file.path]
        await remove_files(self.connectors.files(platform), names)

    async def stop(self, session: str) -> bool:
        """Stop the answer in a session; False if there is none."""
        return await self.runs.stop(session)

    async def _work(self, key: _Key) -> None:
        arrived, pause = self._arrived[key], _PAUSE_SECONDS
        try:
            while True:
                arrived.clear()
                try:
                    if await self._step(key):
                        pause = _PAUSE_SECONDS
                        continue
                except Exception as error:
                    # A full disk, a database that is held: nothing is lost, and it is tried again.
                    known = isinstance(error, ParachuteError)
                    log.warning("A chat of %s cannot be answered: %s", key.platform, error, exc_info=not known)
                    await self.clock.sleep(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
                    continue
                if not arrived.is_set():
                    return
        finally:
            self._working.pop(key, None)

    async def _step(self, key: _Key) -> bool:
        """Answer what waits first in a chat; False if nothing does."""
        while self.kill_switch.panic is not None:
            await self.clock.wait(self._resumed, _PAUSE_SECONDS)
        chat = await self.chats.get(*key)
        if chat is None:
            await self.store.forget(*key)
            return False
        batch = await self.store.batch(*key)
        if batch is None and chat.chat != key.chat:
            # The platform has given it another id, under which it goes on.
            await self.store.move(*key, chat.chat)
            self.wake(key.platform, chat.chat)
            return False
        if batch is None:
            batch = await self._next_batch(chat)
            if batch is None:
                return await self.store.count_waiting(*key) > 0
        # Before a place is taken: no other chat waits for it.
        updates = await self._transcribed(chat, batch)
        async with self._slots:
            await self._answer(chat, batch, updates)
        return True

    async def _next_batch(self, chat: LinkedChat) -> Batch | None:
        """Take the messages that are answered next; commands are carried out, and what is for others is left alone."""
        waiting = await self.store.waiting(chat.platform, chat.chat, MOST_UPDATES)
        if not waiting:
            return None
        if name := command_of(waiting[0].update):
            await self._carry_out(chat, name, waiting[0])
            return None
        session = await self._session(chat, waiting)
        if session is None:
            return None
        rules = await self.chat_sessions.governing(chat, session)
        messages: list[Stored] = []
        left: list[Stored] = []
        for each in waiting:
            if command_of(each.update):
                break
            wanted = is_answered(chat, rules, each.update) and not rules.metadata.get("pending_initialization")
            (messages if wanted else left).append(each)
        if left:
            await self._done(chat, left)
        if not messages:
            return None
        taken = joined(messages)
        # Named by its first update: the same one has the same messages, also after a crash.
        batch = Batch(f"{taken[0].number}-{secrets.token_hex(4)}", chat.platform, chat.chat, None, None, 0)
        await self.store.take(batch, [each.number for each in taken])
        return batch

    async def _session(self, chat: LinkedChat, waiting: list[Stored], *, take_back: bool = False) -> Session | None:
        """The conversation of a chat; None where a rule of the owner does not allow one, which is said once."""
        try:
            return await self.chat_sessions.prepared(chat, take_back=take_back)
        except ParachuteError as error:
            if error.key != "blocked_by_hook":
                raise
            await self._say(chat, f"blocked-{waiting[0].number}", "blocked", waiting[0].update.message)
            await self._done(chat, waiting)
            return None

    async def _carry_out(self, chat: LinkedChat, name: str, stored: Stored) -> None:
        language = await self._language()
        text = await self.commands.carry_out(name, chat, stored.update, language)
        if text:
            outgoing = Outgoing(chat.place, text, answers=stored.update.message)
            await self.deliveries.put(chat.platform, f"command-{stored.number}", outgoing)
        await self.store.done([stored.number])

    async def _transcribed(self, chat: LinkedChat, batch: Batch) -> list[Update]:
        """The messages of a batch with what was said in their voice notes."""
        updates = [each.update for each in await self.store.of_batch(batch.id)]
        folder = self.connectors.files(chat.platform)
        return list(await self.voice_notes.transcribed(folder, batch, updates, await self._language()))

    async def _answer(self, chat: LinkedChat, batch: Batch, updates: list[Update]) -> None:
        stored = await self.store.of_batch(batch.id)
        if not stored:
            await self.store.finish(batch.id)
            return
        language = await self._language()
        session = await self._session(chat, stored, take_back=True)
        if session is None:
            await self.store.finish(batch.id)
            return
        answer = Answer(
            self.connectors,
            self.deliveries,
            chat.platform,
            chat.place,
            f"answer-{batch.id}",
            stored[-1].update.message,
            language,
        )
        if batch.run is not None and batch.session == session.id:
            said = await self.runs.ended.events(session.id, batch.run)
            if said is not None:
                await answer.replay(said)
                await self._finish(chat, batch)
                return
        begun: Begun | None = None
        if batch.tries:
            _, notes = await attachments_of(self.connectors.files(chat.platform), updates, language)
            begun = await self.interrupted.take_up(session.id, batch.run or 0, text_of(chat, updates, notes))
        if begun is not None:
            await answer.resume(begun.said)
        if refusal := await self._refusal(session, batch):
            await answer.refuse(say(language, refusal, sign=chat.sign))
            await self._finish(chat, batch)
            return
        run = await self._begin(chat, batch, session, updates, answer, begun)
        if run is None:
            await self._finish(chat, batch)
            return
        stopping = asyncio.create_task(self._stop_if_asked(chat), name=f"stop for {chat.platform}")
        try:
            await answer.follow(run.log.read())
        finally:
            stopping.cancel()
            await asyncio.wait({stopping})
        if run.interrupted:
            raise asyncio.CancelledError  # this server ends, and the next one goes on with it
        await self._finish(chat, batch)

    async def _refusal(self, session: Session, batch: Batch) -> str | None:
        """Return the reason why a message is not answered here, as the name of a sentence."""
        if batch.tries >= _TRIES:
            return "failed"
        if await self.sessions.level(session) == "direct":
            return "direct"
        if reason := await self.sandboxes.reason_unavailable():
            log.warning("Messages from others are refused, since nothing shuts their agents in: %s", reason)
            return "no_sandbox"
        return None

    async def _begin(
        self,
        chat: LinkedChat,
        batch: Batch,
        session: Session,
        updates: list[Update],
        answer: Answer,
        begun: Begun | None,
    ) -> Run | None:
        """Begin the run of a batch as soon as its session is free; None if it was refused, which was said, or nothing is left of it."""
        heard = {update.id: update for update in updates}
        before = {each.update.id: each.update for each in await self.store.of_batch(batch.id)}
        await self.store.trying(batch.id)
        files: list[Attachment] = []
        refused = ""
        while True:
            try:
                # What was changed or deleted until now is; what comes after it finds that the agent was asked.
                async with self._lock(_Key(chat.platform, chat.chat)):
                    stored = [each.update for each in await self.store.of_batch(batch.id)]
                    if not stored:
                        return None
                    current = [heard[each.id] if each == before[each.id] else each for each in stored]
                    notes = await self.store.notes(chat.platform, chat.chat)
                    if begun is None:
                        message, files = await self._message(chat, current, answer.language, refused)
                    else:
                        message = begun.message
                    message = "\n\n".join((message, *(each.update.text for each in notes)))
                    senders = ", ".join(dict.fromkeys(update.sender.id for update in current))
                    caller = f"{label(chat.platform)} {senders}"[:200]
                    request = TurnRequest(message=message, session_id=session.id, attachments=files)
                    run = await self.runs.begin(request, caller, typed=False, origin=Origin.GUEST)
                    await self.store.begun(batch.id, session.id, run.log.run, notes)
                    return run
            except Conflict as error:
                if error.key != "busy":
                    raise
                await self._until_free(session.id)
            except Stopped:
                raise
            except ParachuteError as error:
                if error.key == "offline_model" and files:
                    refused = error.message
                    continue
                if error.status >= 500:
                    raise
                log.warning("A message of %s was refused: %s", chat.platform, error)
                await answer.refuse(say(answer.language, "failed"))
                return None

    async def _message(
        self, chat: LinkedChat, updates: list[Update], language: Language, refused: str
    ) -> tuple[str, list[Attachment]]:
        """The text of updates and their files; without these where the agent's model `refused` them."""
        if not refused:
            files, left = await attachments_of(self.connectors.files(chat.platform), updates, language)
            return text_of(chat, updates, left), files
        names = [shown_name(file.name) or file.kind for update in updates for file in update.files]
        return text_of(chat, updates, [say(language, "file_left_out", name=name, why=refused) for name in names]), []

    def _lock(self, key: _Key) -> asyncio.Lock:
        return self._asking.setdefault(key, asyncio.Lock())

    async def _until_free(self, session: str) -> None:
        """Wait until what the owner has asked in the same conversation is answered."""
        with contextlib.suppress(NotFound):
            async for _ in await self.runs.follow(session, 0):
                pass
        # Its end is stored a moment later, and it may be only just beginning.
        await self.clock.sleep(0.05)

    async def _stop_if_asked(self, chat: LinkedChat) -> None:
        """Stop a run when that is asked during it; all else that comes waits, where its people can still change it."""
        arrived = self._arrived.setdefault(_Key(chat.platform, chat.chat), asyncio.Event())
        while True:
            for each in await self.store.waiting(chat.platform, chat.chat, _LOOKED_THROUGH):
                if command_of(each.update) == "stop":
                    await self._carry_out(chat, "stop", each)
            await arrived.wait()
            arrived.clear()

    async def _finish(self, chat: LinkedChat, batch: Batch) -> None:
        stored = await self.store.of_batch(batch.id)
        await self.store.finish(batch.id)
        await self._remove_files(chat, stored)

    async def _done(self, chat: LinkedChat, stored: list[Stored]) -> None:
        await self.store.done([each.number for each in stored])
        await self._remove_files(chat, stored)

    async def _remove_files(self, chat: LinkedChat, stored: list[Stored]) -> None:
        names = [file.path for each in stored for file in each.update.files if file.path]
        await remove_files(self.connectors.files(chat.platform), names)

    async def _say(self, chat: LinkedChat, key: str, sentence: str, answers: str) -> None:
        outgoing = Outgoing(chat.place, say(await self._language(), sentence, sign=chat.sign), answers=answers)
        await self.deliveries.put(chat.platform, key, outgoing)

    async def _language(self) -> Language:
        return (await asyncio.to_thread(self.configuration.read)).language
