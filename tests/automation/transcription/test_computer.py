"""Recordings of a whole computer: entries of the journal, files that somebody asks about, a killed server."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.automation.transcription.scripted_server import SAID, ScriptedServer, scripted_server
from tests.automation.transcription.sounds import write, write_wav
from tests.automation.transcription.tiny_model import WORDS, make_model
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.computer import Computer
from tests.support.making import Make

TEXT = SAID["text"].strip()


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """The owner's server."""
    with scripted_server() as running:
        yield running


@pytest.fixture(scope="module")
def journal(make_shared_computer: Make[Computer]) -> ModuleComputer:
    """A computer with a journal."""
    computer = make_shared_computer(ModuleComputer)
    done = computer.command("setup", "--yes", "--modules", "daily")
    assert done.returncode == 0, done.stderr
    make_model(computer.folder / "sherpa-onnx-nemo-ctc-tiny")
    return computer


@pytest.fixture
def with_server(journal: ModuleComputer, server: ScriptedServer) -> Iterator[ScriptedServer]:
    """The server transcribes."""
    server.asked.clear()
    server.answers[:] = [(200, SAID)]
    server.free.set()
    _set(journal, "voice.server", server.url)
    yield server
    server.free.set()
    assert journal.command("config", "unset", "voice.server").returncode == 0


@pytest.fixture
def with_model(journal: ModuleComputer) -> Iterator[None]:
    """The model on this machine transcribes."""
    _set(journal, "voice.model", str(journal.folder / "sherpa-onnx-nemo-ctc-tiny"))
    yield
    assert journal.command("config", "unset", "voice.model").returncode == 0


def test_without_a_transcriber_it_is_said_how_to_get_one(journal: ModuleComputer) -> None:
    checked = journal.command("voice", "check")
    assert checked.returncode == 1
    assert "voice.server ADDRESS" in checked.stderr
    status = journal.value("/api/voice")
    assert (status["ready"], status["kind"], status["problem"]["key"]) == (False, "none", "no_transcriber")
    (journal.vault / "a.wav").write_bytes(b"x")
    asked = journal.post("/api/voice/transcriptions", json={"path": "a.wav"})
    assert (asked.status_code, asked.json()["key"]) == (409, "no_transcriber")


def test_a_recording_of_the_journal_gets_its_text_from_the_model_here(
    journal: ModuleComputer, with_model: None, tmp_path: Path
) -> None:
    entry = record(journal, write(tmp_path / "browser.webm", 3))
    found = journal.heard(f"/api/daily/entries/{entry['id']}", lambda each: each["content"], "it has a text")
    assert set(found["content"].split()) <= set(WORDS)
    job = of_entry(journal, entry)
    assert (job["state"], job["text"], job["error"]) == ("done", found["content"], None)
    assert job["seconds"] == pytest.approx(3, abs=0.1)
    # The recording stays as it came, with what was said when beside it.
    audio = journal.vault / found["audio_path"]
    assert audio.read_bytes() == (tmp_path / "browser.webm").read_bytes()
    assert audio.with_name(f"{audio.name}.vtt").read_text().startswith("WEBVTT\n\n00:00:00.000 --> 00:00:0")
    assert journal.command("voice", "check").returncode == 0


def test_what_an_app_pushes_becomes_text_too(
    journal: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    sound = write(tmp_path / "phone.m4a", 1).read_bytes()
    date = journal.value("/api/daily/today")["date"]
    fields = f"  abc123:\n    type: voice\n    audio: assets/{date}/n.m4a\n"
    day = f"---\ndate: {date}\nentries:\n{fields}---\n\n# para:abc123 08:15\n"
    for path, content, is_binary in (
        (f"assets/{date}/n.m4a", base64.b64encode(sound).decode(), True),
        (f"journals/{date}.md", day, False),
    ):
        body = {"root": "Daily", "files": [{"path": path, "content": content, "is_binary": is_binary}]}
        assert journal.post("/api/sync/push", json=body).json()["pushed"] == 1
    found = journal.heard("/api/daily/entries/para:abc123", lambda each: each["content"], "it has a text")
    assert (found["content"], found["fields"]["language"]) == (TEXT, "german")
    (asked,) = with_server.asked
    assert (asked.data, asked.name, asked.fields["model"]) == (sound, "recording.m4a", "whisper-1")
    assert "authorization" not in asked.headers


def test_an_entry_with_words_of_its_own_is_left_alone(
    journal: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    own = record(journal, write_wav(tmp_path / "app.wav", 1), content="My own words.")
    after = record(journal, write_wav(tmp_path / "app.wav", 1))
    journal.heard(f"/api/daily/entries/{after['id']}", lambda each: each["content"], "the next one has a text")
    assert journal.value(f"/api/daily/entries/{own['id']}")["content"] == "My own words."
    assert journal.value(f"/api/voice/transcriptions?entry={own['id']}") == {"transcriptions": []}
    body = {"path": own["audio_path"], "entry": own["id"], "again": True}
    refused = journal.post("/api/voice/transcriptions", json=body)
    assert (refused.status_code, refused.json()["key"]) == (409, "has_own_text")


def test_it_is_transcribed_again_when_somebody_asks_for_that(
    journal: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    entry = record(journal, write_wav(tmp_path / "app.wav", 1))
    address = f"/api/daily/entries/{entry['id']}"
    found = journal.heard(address, lambda each: each["content"] == TEXT, "it has a text")
    of_entry(journal, entry)
    with_server.answers[:] = [(200, {**SAID, "text": "Better heard."})]
    body = {"path": found["audio_path"], "entry": entry["id"]}
    assert journal.post("/api/voice/transcriptions", json=body).json()["key"] == "has_text"
    assert journal.post("/api/voice/transcriptions", json={**body, "again": True}).status_code == 200
    journal.heard(address, lambda each: each["content"] == "Better heard.", "it has the new text")


def test_a_killed_server_loses_no_recording_and_writes_each_text_once(
    journal: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    with_server.free.clear()
    entries = [record(journal, write_wav(tmp_path / "app.wav", 1)) for _ in range(3)]
    with_server.wait(lambda: with_server.asked, "the first one is being transcribed", journal.logs)
    journal.kill_core()
    with_server.free.set()
    for entry in entries:
        journal.heard(f"/api/daily/entries/{entry['id']}", lambda each: each["content"] == TEXT, "it has a text")
        assert of_entry(journal, entry)["state"] == "done"
    assert len(with_server.asked) == 4
    day = (journal.vault / "Daily" / "journals" / f"{entries[0]['date']}.md").read_text()
    for entry in entries:
        block = day.split(f"# {entry['id']}")[1].partition("\n# para:")[0]
        assert block.count(TEXT) == 1


def test_a_server_that_fails_is_asked_again_and_a_refusal_is_told(
    journal: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    with_server.answers[:] = [(500, {"error": {"message": "out of memory"}}), (200, SAID)]
    (journal.vault / "again.wav").write_bytes(write_wav(tmp_path / "app.wav", 1).read_bytes())
    job = journal.post("/api/voice/transcriptions", json={"path": "again.wav"}).json()
    address = f"/api/voice/transcriptions/{job['id']}"
    waits = journal.heard(address, lambda each: each["error"], "it has failed once")
    assert (waits["state"], waits["attempts"]) == ("waiting", 1)
    assert "out of memory" in waits["error"]["message"]
    assert journal.post(f"{address}/retry").status_code == 200
    assert journal.heard(address, lambda each: each["state"] == "done", "it is done")["text"] == TEXT

    with_server.answers[:] = [(400, {"error": {"message": "Invalid file format."}})]
    failed = journal.command("voice", "transcribe", str(journal.vault / "again.wav"))
    assert failed.returncode == 1
    assert "Invalid file format" in failed.stderr


@pytest.mark.parametrize("answer", [b"", b"<html>", [], {"text": 3}, {"text": "x", "segments": [{"start": "a"}]}])
def test_an_answer_that_is_none_changes_nothing(
    journal: ModuleComputer, with_server: ScriptedServer, tmp_path: Path, word: str, answer: Any
) -> None:
    with_server.answers[:] = [(200, answer)]
    (journal.vault / f"{word}.wav").write_bytes(write_wav(tmp_path / "app.wav", 1).read_bytes())
    job = journal.post("/api/voice/transcriptions", json={"path": f"{word}.wav"}).json()
    address = f"/api/voice/transcriptions/{job['id']}"
    waits = journal.heard(address, lambda each: each["error"], "it has failed")
    assert (waits["text"], "is not a transcription" in waits["error"]["message"]) == (None, True)
    assert journal.ask("DELETE", address).json()["state"] == "cancelled"


def test_one_is_cancelled_in_its_middle_and_the_next_one_has_its_turn(
    journal: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    with_server.free.clear()
    for name in ("one.wav", "two.wav"):
        (journal.vault / name).write_bytes(write_wav(tmp_path / "app.wav", 1).read_bytes())
    first = journal.post("/api/voice/transcriptions", json={"path": "one.wav"}).json()
    assert journal.post("/api/voice/transcriptions", json={"path": "one.wav"}).json()["id"] == first["id"]
    with_server.wait(lambda: with_server.asked, "it is being transcribed", journal.logs)
    second = journal.post("/api/voice/transcriptions", json={"path": "two.wav"}).json()
    journal.heard(f"/api/voice/transcriptions/{first['id']}", lambda each: each["progress"] == 0.5, "it was sent")
    assert json.loads(journal.command("voice", "cancel", first["id"], "--json").stdout)["state"] == "cancelled"
    with_server.free.set()
    address = f"/api/voice/transcriptions/{second['id']}"
    assert journal.heard(address, lambda each: each["state"] == "done", "the next one is done")["text"] == TEXT
    assert journal.value(f"/api/voice/transcriptions/{first['id']}")["text"] is None


def test_nothing_is_sent_while_everything_is_stopped(
    journal: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    assert journal.command("panic").returncode == 0
    (journal.vault / "later.wav").write_bytes(write_wav(tmp_path / "app.wav", 1).read_bytes())
    job = journal.post("/api/voice/transcriptions", json={"path": "later.wav"}).json()
    address = f"/api/voice/transcriptions/{job['id']}"
    waits = journal.heard(address, lambda each: each["error"], "it waits")
    assert (waits["state"], waits["error"]["key"], with_server.asked) == ("waiting", "panic", [])
    assert journal.command("resume").returncode == 0
    assert journal.post(f"{address}/retry").status_code == 200
    journal.heard(address, lambda each: each["state"] == "done", "it is done")


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("../etc/passwd", "path_leads_out"),
        (".parachute/events.db", "secret_path"),
        (".obsidian/note.wav", "hidden_path"),
        ("no.wav", "path_not_found"),
        ("Daily", "not_a_file"),
    ],
)
def test_only_files_of_the_vault_are_read(
    journal: ModuleComputer, with_server: ScriptedServer, path: str, key: str
) -> None:
    asked = journal.post("/api/voice/transcriptions", json={"path": path})
    assert (asked.status_code < 500, asked.json()["key"]) == (True, key)
    assert with_server.asked == []


def test_the_command_line_prints_what_was_said(journal: ModuleComputer, with_model: None, tmp_path: Path) -> None:
    write_wav(journal.vault / "memo.wav", 2)
    said = journal.command("voice", "transcribe", str(journal.vault / "memo.wav"), "--json")
    assert said.returncode == 0, said.stderr
    document = json.loads(said.stdout)
    assert (document["state"], document["seconds"], len(document["segments"])) == ("done", 2.0, 1)
    assert document["text"] in journal.command("voice", "show", document["id"]).stdout
    elsewhere = journal.command("voice", "transcribe", str(write_wav(tmp_path / "memo.wav", 1)))
    assert elsewhere.returncode == 1
    assert "files upload" in elsewhere.stderr


def record(computer: ModuleComputer, path: Path, content: str = "") -> dict[str, Any]:
    """Write an entry with a recording, as the console does."""
    kept = computer.ask("POST", f"/api/daily/assets/{path.name}", content=path.read_bytes()).json()
    entry: dict[str, Any] = computer.post(
        "/api/daily/entries", json={"content": content, "audio_path": kept["path"], "duration": 3}
    ).json()
    return entry


def of_entry(computer: ModuleComputer, entry: dict[str, Any]) -> dict[str, Any]:
    """The transcription of an entry, when it is over."""

    def over(found: dict[str, Any]) -> bool:
        return bool(found["transcriptions"]) and found["transcriptions"][0]["state"] in ("done", "failed")

    found = computer.heard(f"/api/voice/transcriptions?entry={entry['id']}", over, "it is over")
    whole: dict[str, Any] = computer.value(f"/api/voice/transcriptions/{found['transcriptions'][0]['id']}")
    return whole


def _set(computer: ModuleComputer, name: str, value: str) -> None:
    done = computer.command("config", "set", name, value)
    assert done.returncode == 0, done.stderr
