"""One transcription from the recording to its text: chooses the transcriber, reports how far it is, and sorts what went wrong."""

import asyncio
import os
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from parachute.automation.transcription.check import NotSetUp, check
from parachute.automation.transcription.journal import JournalTexts
from parachute.automation.transcription.local_model import LocalModel
from parachute.automation.transcription.model_folder import ModelUnavailable
from parachute.automation.transcription.models import Job, Recording, State, Transcriber, Transcription
from parachute.automation.transcription.own_server import OwnServer
from parachute.automation.transcription.store import TranscriptionStore
from parachute.base.clock import Clock
from parachute.base.errors import InvalidInput, NotAllowed, ParachuteError
from parachute.base.folders import Folder
from parachute.base.open_in_thread import open_in_thread
from parachute.config.settings.groups.local_models import VoiceSettings
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.config.vault.service import Vault
from parachute.core.files import said
from parachute.security.kill_switch.switch import KillSwitch, Stopped
from parachute.security.permissions.models import Access
from parachute.security.permissions.vault_files import vault_path

_TRIES = 5
_AGAIN_SECONDS = 15.0
_NOT_READY_SECONDS = 60.0
_CHAT_SECONDS = 1.0
_REPORTED = 0.02

_NOT_READY = frozenset({NotSetUp.key, ModelUnavailable.key, Stopped.key})


class Cancelled(Exception):
    """Nobody wants the text any more."""


class Worker:
    """`is_chatting` says whether somebody waits for an agent now; `changed` is told which job is other than before."""

    def __init__(
        self,
        home: Home,
        vault: Vault,
        store: TranscriptionStore,
        journal: JournalTexts,
        is_chatting: Callable[[], bool],
        changed: Callable[[str], None],
        clock: Clock,
    ) -> None:
        self._home = home
        self._vault = vault
        self._store = store
        self._journal = journal
        self._is_chatting = is_chatting
        self._changed = changed
        self._clock = clock

    async def settings(self) -> VoiceSettings:
        """The settings as they are now; error: ConfigError."""
        return (await asyncio.to_thread(load, self._home)).voice

    async def opened(self, path: str) -> Recording:
        """A recording of the vault, for the caller to close. Errors: NotAllowed, InvalidInput, NotFound."""
        return await open_in_thread(partial(self._open, path), lambda recording: recording.file.close())

    def _open(self, path: str) -> Recording:
        parts = vault_path(path, Access.READ)
        with said(parts), Folder.open(self._vault.root) as vault:
            file: BinaryIO = vault.file("/".join(parts))
        return Recording(parts[-1], file, os.fstat(file.fileno()).st_size)

    async def carry_out(self, job: Job) -> None:
        """Bring a job one step further, or put down why not and when to try again."""
        try:
            if job.result is None:
                job = await self._transcribed(job)
            assert job.result is not None
            await self._deliver(job, job.result)
        except Cancelled:
            pass
        except ParachuteError as error:
            await self._failed(job, error)
        except OSError as error:
            await self._failed(
                job, ParachuteError(f"The recording cannot be read: {error.strerror}.", key="recording_unreadable")
            )
        self._changed(job.id)

    async def _transcribed(self, job: Job) -> Job:
        settings = await self.settings()
        transcriber = await self._transcriber(settings)
        await self._until_quiet(job)
        recording = await self.opened(job.path)
        try:
            await self._put(job, state=State.WORKING, progress=None, error=None)
            last = -1.0

            async def report(part: float | None) -> None:
                nonlocal last
                await self._until_quiet(job)
                if part is None or part >= last + _REPORTED:
                    last = part or 0.0
                    await self._put(job, progress=part)

            result = await transcriber.transcribe(recording, job.wanted_language or settings.language, report)
        finally:
            recording.file.close()
        # Before anybody has it: whatever ends now, the recording is heard once and the text is the same.
        await self._put(job, state=State.TRANSCRIBED, result=result, progress=1.0)
        found = await self._store.get(job.id)
        if found is None or found.result is None:
            raise Cancelled
        return found

    async def _deliver(self, job: Job, result: Transcription) -> None:
        error = None
        if job.entry is not None and not await self._journal.write(job, result):
            error = {
                "key": "entry_kept",
                "message": "The entry already has a text, or is gone.",
                "hint": "The text of the recording is in this record.",
            }
        elif job.entry is not None:
            await asyncio.to_thread(self._journal.write_times, job.path, result)
        await self._put(job, state=State.DONE, error=error, progress=1.0)

    async def _transcriber(self, settings: VoiceSettings) -> Transcriber:
        if problem := (await check(settings)).problem:
            raise problem
        if settings.model is not None:
            return LocalModel(self._home, settings)
        return OwnServer(settings, KillSwitch(self._home.root))

    async def _until_quiet(self, job: Job) -> None:
        while not job.is_awaited and self._is_chatting():
            await self._clock.sleep(_CHAT_SECONDS)

    async def _put(self, job: Job, **values: object) -> None:
        if not await self._store.update(job.id, **values):
            raise Cancelled
        self._changed(job.id)

    async def _failed(self, job: Job, error: ParachuteError) -> None:
        document = {"key": error.key, "message": error.message, "hint": error.hint}
        state = State.WAITING if job.result is None else State.TRANSCRIBED
        if error.key in _NOT_READY:
            # Nothing is wrong with the recording: it is its turn when there is something that transcribes.
            delay = _NOT_READY_SECONDS
            if job.is_awaited and isinstance(error, NotSetUp):
                state = State.FAILED
            await self._store.update(job.id, state=state, error=document, due_at=self._clock.now().timestamp() + delay)
            return
        attempts = job.attempts + 1
        if isinstance(error, InvalidInput | NotAllowed) or attempts >= _TRIES:
            state = State.FAILED
        delay = _AGAIN_SECONDS * 4 ** (attempts - 1)
        await self._store.update(
            job.id, state=state, error=document, attempts=attempts, due_at=self._clock.now().timestamp() + delay
        )
