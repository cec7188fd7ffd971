"""Voice notes whose transcription takes too long, fails or was begun by an earlier server."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from parachute.automation.transcription import store as transcription_store
from parachute.automation.transcription.service import Transcriptions
from parachute.automation.transcription.store import TranscriptionStore
from parachute.base.clock import SYSTEM, Clock
from parachute.base.database import Database
from parachute.config.settings.home import Home
from parachute.config.vault.service import Vault
from parachute.connectors.conversations.voice_notes import VoiceNotes
from parachute.connectors.platforms.models import Chat, File, Sender, Update
from parachute.connectors.updates.store import Batch
from parachute.events.bus.service import Events
from parachute.events.bus.store import EventStore, create_events
from parachute.security.audit.service import Audit
from tests.automation.transcription.scripted_server import SAID, ScriptedServer, scripted_server
from tests.support.clock import ManualClock

pytestmark = pytest.mark.process

BATCH = Batch("7-abcd1234", "telegram", "42", None, None, 0)
WORDS = str(SAID["text"]).strip()


class Listening:
    """Transcriptions of a vault, and the folder that connectors share with the server."""

    def __init__(self, folder: Path, server: ScriptedServer, transcriptions: Transcriptions, vault: Vault) -> None:
        self.shared = folder / "shared"
        self.shared.mkdir()
        self.server = server
        self.transcriptions = transcriptions
        self.vault = vault

    async def hear(self, *names: str, clock: Clock = SYSTEM) -> Update:
        """Somebody sends files, with a few words; what the agent gets."""
        for name in names:
            (self.shared / name).write_bytes(name.encode())
        files = tuple(File("voice", name, "audio/ogg", 1, name) for name in names)
        update = Update("1", "message", Chat("42", "private"), Sender("42"), 0.0, text="Listen:", files=files)
        notes = VoiceNotes(self.transcriptions, self.vault, clock)
        (heard,) = await notes.transcribed(self.shared, BATCH, [update], "en")
        return heard


@pytest.fixture
async def listening(tmp_path: Path) -> AsyncIterator[Listening]:
    """A server that transcribes, and its queue."""
    async with AsyncExitStack() as stack:
        server = stack.enter_context(scripted_server())
        home = Home(tmp_path / "home")
        home.root.mkdir()
        home.config.write_text(yaml.safe_dump({"voice": {"server": server.url}}))
        vault = Vault(tmp_path / "vault")
        vault.prepare()
        audit = Audit(tmp_path / "audit")
        audit.start()
        stack.push_async_callback(audit.close)
        database = Database(tmp_path / "events.db", (*transcription_store.ALL, create_events))
        await database.open()
        stack.push_async_callback(database.close)
        events = Events(audit, EventStore(database))
        await events.start()
        stack.push_async_callback(events.close)
        texts: Any = None  # there is no entry that a text could go to
        store = TranscriptionStore(database)
        transcriptions = Transcriptions(home, vault, store, texts, events, lambda: False, lambda _: None)
        await transcriptions.start()
        stack.push_async_callback(transcriptions.close)
        yield Listening(tmp_path, server, transcriptions, vault)


async def test_what_takes_too_long_goes_on_as_a_file_and_leaves_the_queue(listening: Listening) -> None:
    listening.server.free.clear()
    clock = ManualClock()
    heard = await clock.until_done(listening.hear("a.ogg", "b.ogg", clock=clock))
    assert [file.name for file in heard.files] == ["a.ogg", "b.ogg"]
    said = "[The voice note {} has no text: transcribing it took too long.]"
    assert heard.text == "\n\n".join(["Listen:", said.format("a.ogg"), said.format("b.ogg")])
    assert await listening.transcriptions.open_count() == 0
    # The recording stays in the vault, where the owner may have it transcribed once more.
    (job,) = await listening.transcriptions.newest(10)
    assert (listening.vault.root / job.path).read_bytes() == b"a.ogg"


async def test_one_that_an_earlier_server_has_heard_is_not_sent_again(listening: Listening) -> None:
    first = await listening.hear("a.ogg")
    assert first.files == ()
    assert first.text.splitlines()[-1] == WORDS
    assert await listening.hear("a.ogg") == first
    assert len(listening.server.asked) == 1


async def test_a_link_is_not_followed_and_none_that_failed_keeps_another_from_its_text(listening: Listening) -> None:
    (listening.shared / "secret").write_bytes(b"secret")
    (listening.shared / "link.ogg").symlink_to("secret")
    files = tuple(File("voice", name, "audio/ogg", 1, name) for name in ("link.ogg", "b.ogg"))
    (listening.shared / "b.ogg").write_bytes(b"b")
    update = Update("1", "message", Chat("42", "private"), Sender("42"), 0.0, files=files)
    (heard,) = await VoiceNotes(listening.transcriptions, listening.vault).transcribed(
        listening.shared, BATCH, [update], "en"
    )
    assert [file.name for file in heard.files] == ["link.ogg"]
    assert "[The voice note link.ogg has no text: transcribing it failed.]" in heard.text
    assert [each.data for each in listening.server.asked] == [b"b"]


async def test_a_text_is_bounded_and_silence_is_said(listening: Listening) -> None:
    listening.server.answers[:] = [(200, {**SAID, "text": "word " * 5000}), (200, {**SAID, "text": " "})]
    heard = await listening.hear("a.ogg", "b.ogg")
    assert heard.files == ()
    assert 4_000 < len(heard.text) < 4_500
    assert "[…]" in heard.text
    assert "In the voice note b.ogg no words were heard" in heard.text
