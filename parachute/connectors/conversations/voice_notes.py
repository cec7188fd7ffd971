"""Voice notes as text: recordings go into the vault's folder of them, and what was said in them stands in the message."""

import asyncio
import contextlib
import logging
import mimetypes
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from parachute.automation.transcription.check import NotSetUp
from parachute.automation.transcription.models import Job, State
from parachute.automation.transcription.service import Transcriptions
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.config.vault.service import Vault
from parachute.connectors.chats.models import shown_name
from parachute.connectors.platforms.models import File, Update
from parachute.connectors.texts import Language, say
from parachute.connectors.updates.store import Batch

log = logging.getLogger(__name__)

FOLDER = "Chat/recordings"
_KINDS = ("voice", "audio")
_LARGEST = 20 * 1024 * 1024
_PATIENCE_SECONDS = 90.0
_LONGEST = 4_000
"""Characters of one text: ten recordings and what was written fit into a message."""

_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}")


class VoiceNotes(Struct, frozen=True):
    """Has recordings of messages transcribed; those of one message are waited for a minute and a half together."""

    transcriptions: Transcriptions
    vault: Vault
    clock: Clock = SYSTEM

    async def transcribed(
        self, folder: Path, batch: Batch, updates: Sequence[Update], language: Language
    ) -> Sequence[Update]:
        """The updates with what was said in their recordings; one without a text stays a file, and a sentence says so."""
        if not any(file.kind in _KINDS and file.path for update in updates for file in update.files):
            return updates
        missing = await self._missing()
        deadline = self.clock.awake() + _PATIENCE_SECONDS
        changed: list[Update] = []
        number = 0
        for update in updates:
            words, files = [update.text.strip()], []
            for file in update.files:
                said = missing
                if file.kind not in _KINDS or not file.path:
                    files.append(file)
                    continue
                # The same one after a crash: a batch has the same files for ever.
                path = f"{FOLDER}/{batch.platform}-{batch.id}-{number}{_ending(file)}"
                number += 1
                text = None
                if not said:
                    text, said = await self._text(folder, file, path, deadline)
                if text is None:
                    files.append(file)
                name = shown_name(file.name) or file.kind
                words.append(say(language, said, name=name, path=path) + (f"\n{text}" if text else ""))
            changed.append(replace(update, text="\n\n".join(filter(None, words)), files=tuple(files)))
        return changed

    async def _missing(self) -> str:
        """The sentence that says why nothing is transcribed here; empty where it is."""
        try:
            problem = (await self.transcriptions.check()).problem
        except ParachuteError as error:
            problem = error
        if problem is None:
            return ""
        if isinstance(problem, NotSetUp):
            return "voice_not_set_up"
        log.warning("Voice notes are not transcribed: %s", problem)
        return "voice_failed"

    async def _text(self, folder: Path, file: File, path: str, deadline: float) -> tuple[str | None, str]:
        """Return the speech of a recording, None without a text, and the sentence about it."""
        try:
            if self.clock.awake() >= deadline:
                return None, "voice_slow"
            job = await self._finished(await self._job(folder, file, path), deadline)
        except TimeoutError:
            return None, "voice_slow"
        except (OSError, ParachuteError) as error:
            log.warning("A voice note was not transcribed: %s", error)
            return None, "voice_failed"
        if job.state is not State.DONE or job.result is None:
            return None, "voice_failed"
        # In one line: nothing that was said looks like a message of somebody else.
        text = " ".join(job.result.text.split())
        return (text if len(text) <= _LONGEST else f"{text[:_LONGEST]} […]"), "voice_heard" if text else "voice_silent"

    async def _job(self, folder: Path, file: File, path: str) -> Job:
        """The transcription of a recording, as an earlier server has asked for it or a new one."""
        found = await self.transcriptions.newest(1, path=path)
        if found and found[0].state is not State.CANCELLED:
            return found[0]
        await asyncio.to_thread(self._keep, folder, file, path)
        return await self.transcriptions.ask(path)

    async def _finished(self, job: Job, deadline: float) -> Job:
        try:
            async with self.clock.timeout(deadline - self.clock.awake()):
                return await self.transcriptions.finished(job.id)
        except TimeoutError:
            # Nobody waits for it any more, and whoever sends many does not fill the owner's queue.
            with contextlib.suppress(ParachuteError):
                await self.transcriptions.cancel(job.id)
            raise

    def _keep(self, folder: Path, file: File, path: str) -> None:
        """Put a recording into the vault, where it stays; blocking."""
        with Folder.open(folder) as shared:
            data = shared.read(file.path, _LARGEST)
        with Folder.open(self.vault.root) as vault:
            vault.folder(FOLDER, make=True, mode=0o755).close()
            vault.write(path, data, 0o644)


def _ending(file: File) -> str:
    """The ending that says the format, by which a server of the owner's knows it."""
    ending = PurePosixPath(file.name).suffix
    if _ENDING.fullmatch(ending):
        return ending.lower()
    return mimetypes.guess_extension(file.media_type) or ""
