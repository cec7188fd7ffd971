"""Transcriptions beside chats, and what is found out of settings and folders without starting anything."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from parachute.automation.transcription import store as transcription_store
from parachute.automation.transcription.check import check
from parachute.automation.transcription.journal import as_subtitles, recording_of
from parachute.automation.transcription.model_folder import read_model
from parachute.automation.transcription.models import Job, Segment, State, Transcription
from parachute.automation.transcription.service import Transcriptions
from parachute.automation.transcription.store import TranscriptionStore
from parachute.automation.transcription.worker import Worker
from parachute.base.database import Database
from parachute.base.errors import InvalidInput
from parachute.config.settings.groups.local_models import VoiceSettings
from parachute.config.settings.home import Home
from parachute.config.vault.service import Vault
from parachute.supervisor import units
from parachute.supervisor.systemd.rendering import render
from tests.automation.transcription.scripted_server import SAID, ScriptedServer, scripted_server
from tests.automation.transcription.sounds import write_wav
from tests.support.clock import ManualClock
from tests.support.errors import raises

pytestmark = pytest.mark.process


class Chats:
    """Chats with a flag whether somebody waits for an agent, and a count of calls."""

    def __init__(self) -> None:
        self.are_active = False
        self.asked = 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.are_active


class Kept:
    """A queue with one recording, and a server that transcribes it."""

    def __init__(self, folder: Path, server: ScriptedServer) -> None:
        self.home = Home(folder / "home")
        self.home.root.mkdir()
        self.home.config.write_text(yaml.safe_dump({"voice": {"server": server.url}}))
        vault = Vault(folder / "vault")
        vault.prepare()
        write_wav(vault.root / "note.wav", 1)
        self.database = Database(folder / "events.db", transcription_store.ALL)
        self.store = TranscriptionStore(self.database)
        self.chats = Chats()
        texts: Any = None  # there is no entry that a text could go to
        self.clock = ManualClock()
        self.worker = Worker(self.home, vault, self.store, texts, self.chats, lambda _: None, self.clock)

    async def job(self, **fields: Any) -> Job:
        """Put the recording into the queue."""
        await self.store.add(Job(id="a" * 16, path="note.wav", state=State.WAITING, **fields))
        found = await self.store.get("a" * 16)
        assert found is not None
        return found


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncIterator[tuple[Kept, ScriptedServer]]:
    """A queue and its server."""
    with scripted_server() as server:
        made = Kept(tmp_path, server)
        await made.database.open()
        yield made, server
        await made.database.close()


async def test_it_sleeps_during_chats(kept: tuple[Kept, ScriptedServer]) -> None:
    made, server = kept
    made.chats.are_active = True
    work = asyncio.create_task(made.worker.carry_out(await made.job()))
    await made.clock.advance(1)
    assert made.chats.asked == 2
    assert server.asked == []
    made.chats.are_active = False
    await made.clock.advance(1)
    await work
    job = await made.store.get("a" * 16)
    assert job is not None
    assert job.state is State.DONE
    assert job.result == Transcription(
        "Guten Morgen, hier ist Kevin.",
        "german",
        2.5,
        (Segment(0.0, 1.2, "Guten Morgen,"), Segment(1.2, 2.5, "hier ist Kevin.")),
    )


async def test_what_somebody_waits_for_does_not_sleep(kept: tuple[Kept, ScriptedServer]) -> None:
    made, server = kept
    made.chats.are_active = True
    await made.worker.carry_out(await made.job(is_awaited=True))
    assert len(server.asked) == 1


async def test_one_who_waits_no_more_takes_the_end_from_nobody(kept: tuple[Kept, ScriptedServer]) -> None:
    made, _ = kept
    job = await made.job()
    unused: Any = None  # neither the journal nor events are asked by who waits
    service = Transcriptions(made.home, Vault(made.home.root), made.store, unused, unused, made.chats, lambda _: None)
    impatient, patient = (asyncio.create_task(service.finished(job.id)) for _ in range(2))
    # Both wait: nothing but an answer of the database comes before that.
    assert await made.store.get(job.id) is not None
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.wait({impatient})
    await service.cancel(job.id)
    async with asyncio.timeout(60):
        assert (await patient).state is State.CANCELLED


async def test_the_key_goes_to_the_server_and_languages_are_told(
    kept: tuple[Kept, ScriptedServer], tmp_path: Path
) -> None:
    made, server = kept
    (tmp_path / "key").write_text("sk-own\n")
    voice = {
        "server": f"{server.url}/v1/",
        "key_file": str(tmp_path / "key"),
        "language": "de",
        "server_model": "large",
    }
    made.home.config.write_text(yaml.safe_dump({"voice": voice}))
    await made.worker.carry_out(await made.job())
    (asked,) = server.asked
    assert asked.headers["authorization"] == "Bearer sk-own"
    assert asked.fields == {"model": "large", "response_format": "verbose_json", "language": "de"}


async def test_a_refused_key_waits_for_its_owner(kept: tuple[Kept, ScriptedServer]) -> None:
    made, server = kept
    server.answers[:] = [(401, {"error": {"message": "Wrong key"}}), (200, SAID)]
    await made.worker.carry_out(await made.job())
    job = await made.store.get("a" * 16)
    assert job is not None
    assert (job.state, job.attempts, job.error and job.error["key"]) == (State.WAITING, 0, "no_voice_model")


async def test_what_a_killed_server_was_at_is_in_the_queue_again(kept: tuple[Kept, ScriptedServer]) -> None:
    made, _ = kept
    job = await made.job()
    await made.store.update(job.id, state=State.WORKING, progress=0.4)
    assert await made.store.next(1e12) is None
    await made.store.recover()
    found = await made.store.next(1e12)
    assert found is not None
    assert (found.id, found.progress) == (job.id, None)


@pytest.mark.parametrize(
    ("name", "files", "kind"),
    [
        (
            "sherpa-onnx-whisper-small",
            ["small-encoder.int8.onnx", "small-encoder.onnx", "small-decoder.onnx"],
            "whisper",
        ),
        (
            "sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8",
            ["encoder.onnx", "decoder.onnx", "joiner.onnx"],
            "nemo-transducer",
        ),
        ("sherpa-onnx-zipformer-en", ["encoder-9.onnx", "decoder-9.onnx", "joiner-9.onnx"], "transducer"),
        ("sherpa-onnx-nemo-canary-180m-flash", ["encoder.onnx", "decoder.onnx"], "nemo-canary"),
        ("sherpa-onnx-sense-voice-zh-en-ja-ko-yue", ["model.onnx", "model.int8.onnx"], "sense-voice"),
        ("sherpa-onnx-nemo-fast-conformer-ctc-be-de-en", ["model.onnx"], "nemo-ctc"),
        ("sherpa-onnx-paraformer-zh", ["model.onnx"], "paraformer"),
    ],
)
def test_folders_say_which_kind_they_hold(tmp_path: Path, name: str, files: list[str], kind: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    for each in (*files, "small-tokens.txt"):
        (folder / each).touch()
    found = read_model(folder)
    assert found.kind == kind
    assert all(Path(path).is_file() for path in found.files.values())
    assert not any(f"{Path(path).stem}.int8.onnx" in files for path in found.files.values())


def test_a_kind_that_the_folder_does_not_have_is_refused(tmp_path: Path) -> None:
    for each in ("model.onnx", "tokens.txt"):
        (tmp_path / each).touch()
    with raises("no_voice_model", names=r"no encoder\.onnx"):
        read_model(tmp_path, "whisper")


async def test_the_check_names_the_first_thing_that_is_missing(tmp_path: Path) -> None:
    found = await check(VoiceSettings(model=tmp_path / "none"))
    assert (found.kind, found.problem and "cannot be read" in found.problem.message) == ("model", True)
    found = await check(VoiceSettings(server="http://127.0.0.1:9", key_file=tmp_path / "none"))
    assert (found.kind, found.problem and "there is no" in found.problem.message) == ("server", True)
    assert (await check(VoiceSettings(server="http://127.0.0.1:9"))).problem is None


def test_only_entries_with_a_recording_and_without_a_text_are_for_it() -> None:
    event = {"entry_id": "para:daily:x", "content": "", "audio_path": "Daily/assets/a.wav"}
    assert recording_of(event) == ("para:daily:x", "Daily/assets/a.wav")
    assert recording_of({**event, "content": "x"}) is None
    assert recording_of({**event, "audio_path": None}) is None


def test_times_are_subtitles_whatever_was_said() -> None:
    said = Transcription("x", "de", 3700.0, (Segment(0, 3661.5, "a --> b\n\n<i>&"),))
    assert as_subtitles(said) == ("WEBVTT\n\nNOTE language: de\n\n00:00:00.000 --> 01:01:01.500\na → b &lt;i>&amp;\n")


def test_under_systemd_the_unit_reaches_the_model_and_nothing_else(tmp_path: Path) -> None:
    model = tmp_path / "model"
    environment = {"PARACHUTE_VOICE_MODEL": str(model), "PARACHUTE_VOICE_MEMORY_MEGABYTES": "512"}
    unit = units.by_name(Home(tmp_path), "transcriber", environment, confines=True)
    files = render(unit, Home(tmp_path), tmp_path / "log")
    confinement = files["parachute-transcriber.service.d/50-confinement.conf"].splitlines()
    assert {"PrivateNetwork=yes", "RestrictAddressFamilies=AF_UNIX", f"MemoryMax={512 << 20}"} <= set(confinement)
    assert f'BindReadOnlyPaths="-{model}"' in confinement
    assert not any(line.startswith("BindPaths") for line in confinement)
    assert "transcription.process" in files["parachute-transcriber.service"]
    for wrong in ({}, {**environment, "PATH": "/tmp"}, {**environment, "PARACHUTE_VOICE_MODEL": "relative"}):
        with pytest.raises(InvalidInput):
            units.by_name(Home(tmp_path), "transcriber", wrong, confines=True)
    assert units.works_for_agents("transcriber")
