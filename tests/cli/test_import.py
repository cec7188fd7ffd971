"""`parachute import`."""

import io
import json
import os
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.chat.imports.exports import MARKDOWN, SESSION, old_database, old_transcript
from tests.chat.imports.journals import mail
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

EXPIRING = ("GET", "/api/claude-code/expiring")
TALK = {
    "sessionId": "0d6a3f0e-6c1d-4a35-9d5c-0f0c8a1b2c3d",
    "title": None,
    "firstMessage": "Which kettle?",
    "projectPath": "/home/sam/boat",
    "endsAt": "2026-01-02T03:04:05.000Z",
}


def test_what_claude_code_deletes_is_listed(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers[EXPIRING] = 200, {"cleanupPeriodDays": 30, "sessions": [TALK]}
        parachute.ok("import", "expiring", "--days", "3")
        assert json.loads(parachute.ok("import", "expiring", "--json")) == [TALK]
        core.answers[EXPIRING] = 200, {"cleanupPeriodDays": None, "sessions": []}
        parachute("import", "expiring")
    assert [call.query for call in core.calls if call.path == EXPIRING[1]] == [
        {"days": "3"},
        {"days": "7"},
        {"days": "7"},
    ]
    assert parachute.screens == snapshot


def test_what_comes_here_is_counted_and_what_does_not_is_named(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/claude-code/keep"] = 200, {"kept": ["a", "b"], "failed": []}
        parachute.ok("import", "keep")
        failed = [{"sessionId": "c", "reason": "It is too long."}]
        core.answers["POST", "/api/claude-code/keep"] = 200, {"kept": [], "failed": failed}
        parachute.fails("import", "keep")
    assert parachute.screens == snapshot


def answers(core: ScriptedCore, **changes: Any) -> None:
    """Let the core answer as to an import that is over."""
    record = {
        **{"id": "4c8e11d2", "name": "export", "kind": "chatgpt", "state": "done", "dryRun": False, "archived": False},
        **{"startedAt": "2026-01-02T03:04:05.000Z", "endedAt": "2026-01-02T03:04:06.000Z", "progress": 1.0},
        **{"conversations": 3, "imported": 2, "skipped": 1, "files": 1, "filesImported": 1, "filesSkipped": 0},
        **{"messages": 9, "oldest": "2023-11-14T22:13:20.250Z", "newest": "2024-11-14T22:13:20.250Z"},
        "leftOut": [{"what": "tool_calls", "count": 7, "why": "they are not what was said"}],
        **{"errors": [], "kept": []},
        **changes,
    }
    core.answers["POST", "/api/imports"] = core.answers["POST", "/api/imports/4c8e11d2/undo"] = 200, record
    core.answers["GET", "/api/imports/4c8e11d2/events"] = core.answers["GET", "/api/imports/4c8e11d2"] = 200, record
    core.answers["DELETE", "/api/imports/4c8e11d2"] = 200, record
    core.answers["GET", "/api/imports"] = 200, {"imports": [record]}


def test_an_export_is_sent_and_what_came_is_told(
    parachute: Terminal, home: Home, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    export = tmp_path / "chat export.zip"
    export.write_bytes(b"PK\x03\x04" + bytes(1_000_000))
    with ScriptedCore(home) as core:
        answers(core)
        parachute.ok("import", "chatgpt", str(export), "--archived")
        call = core.calls[0]
        assert call.body == export.read_bytes()
        assert call.query == {"kind": "chatgpt", "name": "chat export", "archived": "true"}
        left_out = [
            {"what": what, "count": count, "why": "it is not read", "names": names}
            for what, count, names in (
                ("audio", 2, []),
                ("branches", 2, []),
                ("tool_calls", 1, []),
                ("unknown_content", 2, ["hologram", "poem"]),
            )
        ]
        answers(core, grown=1, beside=1, documents=1, leftOut=left_out)
        parachute.ok("import", "chatgpt", str(export))
        answers(core, dryRun=True, grown=2, beside=2, documents=2, attachments=3)
        parachute.ok("import", "file", str(export), "--dry-run")
        assert core.calls[-3].query["kind"] == "auto"
        assert json.loads(parachute.ok("import", "claude", str(export), "--json"))["id"] == "4c8e11d2"
    assert parachute.screens == snapshot


def test_what_fails_has_a_sentence_and_a_code(
    parachute: Terminal, home: Home, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        answers(core, state="failed", errors=["The archive has no conversations.json."], imported=0)
        (tmp_path / "x.zip").write_bytes(b"PK")
        parachute.fails("import", "chatgpt", str(tmp_path / "x.zip"))
        parachute.fails("import", "chatgpt", str(tmp_path / "missing.zip"))
        (tmp_path / "no.db").write_text("nothing")
        parachute.fails("import", "parachute", str(tmp_path / "no.db"))
    assert parachute.screens == snapshot


def test_imports_are_listed_undone_and_cancelled(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        answers(core, state="undone", kept=["Sails"])
        parachute.ok("import", "list")
        answers(core, dryRun=True)
        parachute.ok("import", "list")
        answers(core, state="undone", kept=["Sails"])
        parachute.ok("import", "undo", "4c8e11d2")
        parachute.ok("import", "cancel", "4c8e11d2")
    assert parachute.screens == snapshot


def sent(core: ScriptedCore) -> dict[str, bytes]:
    """The files of the archive that was sent last."""
    call = next(call for call in reversed(core.calls) if call.method == "POST")
    with zipfile.ZipFile(io.BytesIO(call.body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_folder_of_notes_is_packed_without_what_is_hidden(parachute: Terminal, home: Home, tmp_path: Path) -> None:
    notes = tmp_path / "Thoughts"
    (notes / ".obsidian" / "plugins").mkdir(parents=True)
    (notes / ".obsidian" / "plugins" / "main.js").write_text("steal()")
    (notes / "Boats").mkdir()
    (notes / "Boats" / "Ottilie.md").write_text("A ketch.")
    os.utime(notes / "Boats" / "Ottilie.md", (1, 1))
    (notes / "secret.md").symlink_to("/etc/passwd")
    os.mkfifo(notes / "pipe.md")
    with ScriptedCore(home) as core:
        answers(core)
        parachute.ok("import", "obsidian", str(notes))
        assert sent(core) == {"Thoughts/Boats/Ottilie.md": b"A ketch."}
        assert core.calls[0].query["name"] == "Thoughts"


def test_of_lm_studio_conversations_are_packed_and_no_model(parachute: Terminal, home: Home, tmp_path: Path) -> None:
    folder = tmp_path / ".lmstudio"
    files = {"conversations/Work/1.conversation.json": "{}", "user-files/pond.png": "PNG", "models/large.gguf": "0"}
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    with ScriptedCore(home) as core:
        answers(core)
        parachute.ok("import", "lmstudio", str(folder))
        assert sorted(sent(core)) == [
            ".lmstudio/conversations/Work/1.conversation.json",
            ".lmstudio/user-files/pond.png",
        ]


def test_a_list_of_an_export_brings_the_archives_beside_it(parachute: Terminal, home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    listed = json.dumps({"data_files": [{"filename": "conversations-000.zip"}, {"filename": "frames-000.zip"}]})
    (folder / "manifest-e1.json").write_text(listed)
    (folder / "conversations-000.zip").write_bytes(b"PK")
    (folder / "other.zip").write_bytes(b"PK")
    with ScriptedCore(home) as core:
        answers(core)
        parachute.ok("import", "claude", str(folder / "manifest-e1.json"))
        assert sent(core) == {"export/manifest-e1.json": listed.encode(), "export/conversations-000.zip": b"PK"}
        for other in ("[]", "{", json.dumps({"data_files": [{}]})):
            (folder / "manifest-e1.json").write_text(other)
            parachute.ok("import", "claude", str(folder / "manifest-e1.json"))
            assert core.calls[-3].body == other.encode()


def test_an_older_vault_is_packed_with_what_its_database_has_not_settled(
    parachute: Terminal, home: Home, tmp_path: Path
) -> None:
    vault = tmp_path / "Vault"
    (vault / "Chat" / "sessions").mkdir(parents=True)
    (vault / ".claude" / "projects" / "-vault").mkdir(parents=True)
    (vault / "Daily").mkdir()
    (vault / "Daily" / "2024-01-01.md").write_text("Mine.")
    (vault / "Chat" / "sessions" / "tides.md").write_text(MARKDOWN)
    (vault / ".claude" / "projects" / "-vault" / f"{SESSION}.jsonl").write_text(old_transcript())
    old_database(vault / "Chat" / "sessions.db")
    database = sqlite3.connect(vault / "Chat" / "sessions.db")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("UPDATE sessions SET title = 'Newest' WHERE id = ?", (SESSION,))
    database.commit()
    try:
        with ScriptedCore(home) as core:
            answers(core)
            parachute.ok("import", "parachute", str(vault))
            files = sent(core)
            assert sorted(files) == [
                f"Vault/.claude/projects/-vault/{SESSION}.jsonl",
                "Vault/Chat/sessions.db",
                "Vault/Chat/sessions/tides.md",
            ]
            assert b"Newest" in files["Vault/Chat/sessions.db"]
            parachute.ok("import", "parachute", str(vault / "Chat" / "sessions.db"))
            assert b"Newest" in core.calls[3].body
    finally:
        database.close()


def test_a_journal_is_counted_in_entries(parachute: Terminal, home: Home, tmp_path: Path) -> None:
    path = str(tmp_path / "one.eml")
    Path(path).write_bytes(mail())
    counts = {"imported": 0, "filesImported": 0, "skipped": 0, "filesSkipped": 0, "entries": 3, "entriesSkipped": 1}
    done = {
        **{"id": "4c8e11d2", "state": "done", "kind": "mail", "dryRun": False, "errors": [], "progress": 1.0},
        **{"oldest": "2024-03-05", "newest": "2024-03-05", "media": 2, "entriesImported": 1, **counts},
        "leftOut": [{"what": "changed_entries", "count": 2, "why": "they are other ones here", "names": []}],
    }
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/imports"] = 200, done
        core.answers["GET", "/api/imports/4c8e11d2"] = core.answers["GET", "/api/imports/4c8e11d2/events"] = 200, done
        shown = parachute.ok("import", "mail", path)
        assert parachute.ok("daily", "add", path) == shown
        assert json.loads(parachute.ok("daily", "add", "--file", path, "--json")) == done
        kinds = [call.query["kind"] for call in core.calls if call.path == "/api/imports"]
    assert kinds == ["mail"] * 3
    assert "2 changed entries" in shown
