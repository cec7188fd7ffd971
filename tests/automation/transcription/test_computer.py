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

TEXT = SAID["text"].strip()


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """The owner's server."""
    with scripted_server() as running:
        yield running


@pytest.fixture(scope="module")
def computer(server: ScriptedServer) -> Iterator[ModuleComputer]:
    """A computer with a journal."""
    with ModuleComputer(environment={"ANTHROPIC_API_KEY": "sk-ant-api03-test"}) as running:
        done = running.command("setup", "--yes", "--modules", "daily")
        assert done.returncode == 0, done.stderr
        make_model(running.folder / "sherpa-onnx-nemo-ctc-tiny")
        yield running


@pytest.fixture
def with_server(computer: ModuleComputer, server: ScriptedServer) -> Iterator[ScriptedServer]:
    """The server transcribes."""
    server.asked.clear()
    server.answers[:] = [(200, SAID)]
    server.free.set()
    _set(computer, "voice.server", server.url)
    yield server
    server.free.set()
    assert computer.command("config", "unset", "voice.server").returncode == 0


@pytest.fixture
def with_model(computer: ModuleComputer) -> Iterator[None]:
    """The model on this machine transcribes."""
    _set(computer, "voice.model", str(computer.folder / "sherpa-onnx-nemo-ctc-tiny"))
    yield
    assert computer.command("config", "unset", "voice.model").returncode == 0


def test_without_a_transcriber_it_is_said_how_to_get_one(computer: ModuleComputer) -> None:
    checked = computer.command("voice", "check")
    assert checked.returncode == 1
    assert "voice.server ADDRESS" in checked.stderr
    status = computer.value("/api/voice")
    assert (status["ready"], status["kind"], status["problem"]["key"]) == (False, "none", "no_transcriber")
    (computer.vault / "a.wav").write_bytes(b"x")
    asked = computer.post("/api/voice/transcriptions", json={"path": "a.wav"})
    assert (asked.status_code, asked.json()["key"]) == (409, "no_transcriber")


def test_a_recording_of_the_journal_gets_its_text_from_the_model_here(
    computer: ModuleComputer, with_model: None, tmp_path: Path
) -> None:
    entry = record(computer, write(tmp_path / "browser.webm", 3))
    found = computer.eventually(f"/api/daily/entries/{entry['id']}", lambda each: each["content"], "it has a text")
    assert set(found["content"].split()) <= set(WORDS)
    job = of_entry(computer, entry)
    assert (job["state"], job["text"], job["error"]) == ("done", found["content"], None)
    assert job["seconds"] == pytest.approx(3, abs=0.1)
    # The recording stays as it came, with what was said when beside it.
    audio = computer.vault / found["audio_path"]
    assert audio.read_bytes() == (tmp_path / "browser.webm").read_bytes()
    assert audio.with_name(f"{audio.name}.vtt").read_text().startswith("WEBVTT\n\n00:00:00.000 --> 00:00:0")
    assert computer.command("voice", "check").returncode == 0


def test_what_an_app_pushes_becomes_text_too(
    computer: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    sound = write(tmp_path / "phone.m4a", 1).read_bytes()
    date = computer.value("/api/daily/today")["date"]
    fields = f"  abc123:\n    type: voice\n    audio: assets/{date}/n.m4a\n"
    day = f"---\ndate: {date}\nentries:\n{fields}---\n\n# para:abc123 08:15\n"
    for path, content, is_binary in (
        (f"assets/{date}/n.m4a", base64.b64encode(sound).decode(), True),
        (f"journals/{date}.md", day, False),
    ):
        body = {"root": "Daily", "files": [{"path": path, "content": content, "is_binary": is_binary}]}
        assert computer.post("/api/sync/push", json=body).json()["pushed"] == 1
    found = computer.eventually("/api/daily/entries/para:abc123", lambda each: each["content"], "it has a text")
    assert (found["content"], found["fields"]["language"]) == (TEXT, "german")
    (asked,) = with_server.asked
    assert (asked.data, asked.name, asked.fields["model"]) == (sound, "recording.m4a", "whisper-1")
    assert "authorization" not in asked.headers


def test_an_entry_with_words_of_its_own_is_left_alone(
    computer: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    own = record(computer, write_wav(tmp_path / "app.wav", 1), content="My own words.")
    after = record(computer, write_wav(tmp_path / "app.wav", 1))
    computer.eventually(f"/api/daily/entries/{after['id']}", lambda each: each["content"], "the next one has a text")
    assert computer.value(f"/api/daily/entries/{own['id']}")["content"] == "My own words."
    assert computer.value(f"/api/voice/transcriptions?entry={own['id']}") == {"transcriptions": []}
    body = {"path": own["audio_path"], "entry": own["id"], "again": True}
    refused = computer.post("/api/voice/transcriptions", json=body)
    assert (refused.status_code, refused.json()["key"]) == (409, "has_own_text")


def test_it_is_transcribed_again_when_somebody_asks_for_that(
    computer: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    entry = record(computer, write_wav(tmp_path / "app.wav", 1))
    address = f"/api/daily/entries/{entry['id']}"
    found = computer.eventually(address, lambda each: each["content"] == TEXT, "it has a text")
    of_entry(computer, entry)
    with_server.answers[:] = [(200, {**SAID, "text": "Better heard."})]
    body = {"path": found["audio_path"], "entry": entry["id"]}
    assert computer.post("/api/voice/transcriptions", json=body).json()["key"] == "has_text"
    assert computer.post("/api/voice/transcriptions", json={**body, "again": True}).status_code == 200
    computer.eventually(address, lambda each: each["content"] == "Better heard.", "it has the new text")


def test_a_killed_server_loses_no_recording_and_writes_each_text_once(
    computer: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    with_server.free.clear()
    entries = [record(computer, write_wav(tmp_path / "app.wav", 1)) for _ in range(3)]
    computer.wait_until(lambda: with_server.asked, "the first one is being transcribed")
    computer.kill_core()
    with_server.free.set()
    for entry in entries:
        computer.eventually(f"/api/daily/entries/{entry['id']}", lambda each: each["content"] == TEXT, "it has a text")
        assert of_entry(computer, entry)["state"] == "done"
    assert len(with_server.asked) == 4
    day = (computer.vault / "Daily" / "journals" / f"{entries[0]['date']}.md").read_text()
    for entry in entries:
        block = day.split(f"# {entry['id']}")[1].partition("\n# para:")[0]
        assert block.count(TEXT) == 1


def test_a_server_that_fails_is_asked_again_and_a_refusal_is_told(
    computer: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    with_server.answers[:] = [(500, {"error": {"message": "out of memory"}}), (200, SAID)]
    (computer.vault / "again.wav").write_bytes(write_wav(tmp_path / "app.wav", 1).read_bytes())
    job = computer.post("/api/voice/transcriptions", json={"path": "again.wav"}).json()
    address = f"/api/voice/transcriptions/{job['id']}"
    waits = computer.eventually(address, lambda each: each["error"], "it has failed once")
    assert (waits["state"], waits["attempts"]) == ("waiting", 1)
    assert "out of memory" in waits["error"]["message"]
    assert computer.post(f"{address}/retry").status_code == 200
    assert computer.eventually(address, lambda each: each["state"] == "done", "it is done")["text"] == TEXT

    with_server.answers[:] = [(400, {"error": {"message": "Invalid file format."}})]
    failed = computer.command("voice", "transcribe", str(computer.vault / "again.wav"))
    assert failed.returncode == 1
    assert "Invalid file format" in failed.stderr


@pytest.mark.parametrize("answer", [b"", b"<html>", [], {"text": 3}, {"text": "x", "segments": [{"start": "a"}]}])
def test_an_answer_that_is_none_changes_nothing(
    computer: ModuleComputer, with_server: ScriptedServer, tmp_path: Path, answer: Any
) -> None:
    with_server.answers[:] = [(200, answer)]
    (computer.vault / "odd.wav").write_bytes(write_wav(tmp_path / "app.wav", 1).read_bytes())
    job = computer.post("/api/voice/transcriptions", json={"path": "odd.wav"}).json()
    address = f"/api/voice/transcriptions/{job['id']}"
    waits = computer.eventually(address, lambda each: each["error"], "it has failed")
    assert (waits["text"], "is no transcription" in waits["error"]["message"]) == (None, True)
    assert computer.ask("DELETE", address).json()["state"] == "cancelled"


def test_one_is_cancelled_in_its_middle_and_the_next_one_has_its_turn(
    computer: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    with_server.free.clear()
    for name in ("one.wav", "two.wav"):
        (computer.vault / name).write_bytes(write_wav(tmp_path / "app.wav", 1).read_bytes())
    first = computer.post("/api/voice/transcriptions", json={"path": "one.wav"}).json()
    assert computer.post("/api/voice/transcriptions", json={"path": "one.wav"}).json()["id"] == first["id"]
    computer.wait_until(lambda: with_server.asked, "it is being transcribed")
    second = computer.post("/api/voice/transcriptions", json={"path": "two.wav"}).json()
    computer.eventually(f"/api/voice/transcriptions/{first['id']}", lambda each: each["progress"] == 0.5, "it was sent")
    assert json.loads(computer.command("voice", "cancel", first["id"], "--json").stdout)["state"] == "cancelled"
    with_server.free.set()
    address = f"/api/voice/transcriptions/{second['id']}"
    assert computer.eventually(address, lambda each: each["state"] == "done", "the next one is done")["text"] == TEXT
    assert computer.value(f"/api/voice/transcriptions/{first['id']}")["text"] is None


def test_nothing_is_sent_while_everything_is_stopped(
    computer: ModuleComputer, with_server: ScriptedServer, tmp_path: Path
) -> None:
    assert computer.command("panic").returncode == 0
    (computer.vault / "later.wav").write_bytes(write_wav(tmp_path / "app.wav", 1).read_bytes())
    job = computer.post("/api/voice/transcriptions", json={"path": "later.wav"}).json()
    address = f"/api/voice/transcriptions/{job['id']}"
    waits = computer.eventually(address, lambda each: each["error"], "it waits")
    assert (waits["state"], waits["error"]["key"], with_server.asked) == ("waiting", "panic", [])
    assert computer.command("resume").returncode == 0
    assert computer.post(f"{address}/retry").status_code == 200
    computer.eventually(address, lambda each: each["state"] == "done", "it is done")


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("../etc/passwd", "path_leads_out"),
        (".parachute/events.db", "secret_path"),
        (".obsidian/note.wav", "hidden_path"),
        ("no.wav", "not_found"),
        ("Daily", "not_a_file"),
    ],
)
def test_only_files_of_the_vault_are_read(
    computer: ModuleComputer, with_server: ScriptedServer, path: str, key: str
) -> None:
    asked = computer.post("/api/voice/transcriptions", json={"path": path})
    assert (asked.status_code < 500, asked.json()["key"]) == (True, key)
    assert with_server.asked == []


def test_the_command_line_prints_what_was_said(computer: ModuleComputer, with_model: None, tmp_path: Path) -> None:
    write_wav(computer.vault / "memo.wav", 2)
    said = computer.command("voice", "transcribe", str(computer.vault / "memo.wav"), "--json")
    assert said.returncode == 0, said.stderr
    document = json.loads(said.stdout)
    assert (document["state"], document["seconds"], len(document["segments"])) == ("done", 2.0, 1)
    assert document["text"] in computer.command("voice", "show", document["id"]).stdout
    elsewhere = computer.command("voice", "transcribe", str(write_wav(tmp_path / "memo.wav", 1)))
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

    found = computer.eventually(f"/api/voice/transcriptions?entry={entry['id']}", over, "it is over")
    whole: dict[str, Any] = computer.value(f"/api/voice/transcriptions/{found['transcriptions'][0]['id']}")
    return whole


def _set(computer: ModuleComputer, name: str, value: str) -> None:
    done = computer.command("config", "set", name, value)
    assert done.returncode == 0, done.stderr
