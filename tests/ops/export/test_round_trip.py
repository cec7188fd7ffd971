"""Everything that is known on one computer, carried to another one, and from there once more."""

import contextlib
import hashlib
import io
import json
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chat.imports.exports import node, tree
from tests.modules.runtime.module_computer import ModuleComputer

pytestmark = [pytest.mark.timeout(240), pytest.mark.long, pytest.mark.computer]
ENTRY = "Met with Kevin about the LVB curriculum. He suggested we add a module on prompt engineering."
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def first() -> Iterator[ModuleComputer]:
    """A computer on which somebody has lived."""
    with ModuleComputer(environment={"ANTHROPIC_API_KEY": "sk-ant-api03-test"}) as computer:
        _run(computer, "setup", "--yes", "--modules", "brain,daily,imports")
        furnish(computer)
        yield computer


@pytest.fixture(scope="module")
def second() -> Iterator[ModuleComputer]:
    """A new one."""
    with ModuleComputer() as computer:
        _run(computer, "setup", "--yes", "--modules", "imports")
        yield computer


def furnish(computer: ModuleComputer) -> None:
    """A journal with a recording, a person, a conversation, instructions, and two suggestions."""
    person = {"entity_type": "person", "data": {"name": "Kevin", "aliases": ["Kev"]}, "content": "Knows [[boats]]."}
    assert computer.post("/api/brain/entities", json=person).status_code == 201
    sound = computer.ask("POST", "/api/daily/assets/note.wav", content=b"RIFF" + bytes(range(256)) * 40).json()
    computer.post("/api/daily/entries", json={"content": "By ear.", "audio_path": sound["path"], "duration": 3})
    computer.post("/api/daily/entries", json={"content": ENTRY})
    found = computer.eventually(
        "/api/suggestions?status=pending", lambda each: each["suggestions"], "something is proposed"
    )
    (proposed, *_) = found["suggestions"]
    assert computer.post(f"/api/suggestions/{proposed['id']}/reject", json={"reason": "no"}).status_code == 200
    computer.post("/api/daily/entries", json={"content": "A workshop at Regen Hub about carpentry basics, with Kevin."})
    talk = tree(
        node("a", None),
        node("b", "a", text="Which kettle?", time=1_700_000_000.5),
        node("c", "b", "assistant", "The red one.", time=1_700_000_060),
    )
    (computer.folder / "conversations.json").write_text(json.dumps([talk]))
    _run(computer, "import", "chatgpt", str(computer.folder / "conversations.json"))
    garden = computer.vault / "Projects" / "garden"
    garden.mkdir(parents=True)
    (garden / "AGENTS.md").write_text("Write in plain words.\n")
    (computer.vault / "parachute").mkdir(exist_ok=True)
    (computer.vault / "parachute" / "memory.md").write_text("- Ann likes tea.\n")


def test_what_is_carried_is_the_same_wherever_it_goes(first: ModuleComputer, second: ModuleComputer) -> None:
    there = export(first)
    kinds = {path.partition("/")[0] for path in there}
    assert kinds == {
        "README.txt",
        "parachute-brain.json",
        "journal",
        "brain",
        "conversations",
        "contexts",
        "suggestions",
    }
    page = next(text.decode() for path, text in there.items() if path.startswith("conversations/2023-11-14-A-boat"))
    assert "## You (2023-11-14T22:13:20.500Z)\n\nWhich kettle?" in page
    assert any(path.startswith("brain/entities/people/kevin") for path in there)
    assert {"contexts/Projects/garden/AGENTS.md", "contexts/parachute/memory.md"} <= there.keys()
    assert {json.loads(text)["status"] for path, text in there.items() if path.startswith("suggestions/")} >= {
        "rejected"
    }
    archive = first.folder / "brain.zip"

    counted = _imported(second, archive, "--contexts", "--dry-run")
    assert (counted["dryRun"], counted["imported"], counted["conflicts"]) == (True, 1, [])
    assert not (second.vault / "Brain" / "entities").exists()

    done = _imported(second, archive, "--contexts")
    assert (done["imported"], done["filesImported"], done["errors"], done["leftOut"]) == (
        1,
        counted["filesImported"],
        [],
        [],
    )
    assert done["suggestionsImported"] == counted["suggestionsImported"] > 0
    assert _plain(export(second)) == _plain(there)

    # Whoever reads any of it reads an import, under whatever name it is by then.
    with contextlib.closing(sqlite3.connect(f"file:{second.home.changes_database}?mode=ro", uri=True)) as database:
        origins = dict(database.execute("SELECT hash, origin FROM contents"))
    here = [*(second.vault / "Brain").rglob("*.md"), *(second.vault / "Daily").rglob("*.md")]
    assert {origins.get(hashlib.sha256(file.read_bytes()).hexdigest()) for file in here} == {"import"}

    # Once more changes nothing.
    again = _imported(second, archive, "--contexts")
    assert (again["imported"], again["filesImported"], again["suggestionsImported"]) == (0, 0, 0)
    assert (again["skipped"], again["filesSkipped"], again["conflicts"]) == (1, done["filesImported"], [])

    # What is other here stays, and is named.
    (day,) = (second.vault / "Daily" / "journals").glob("*.md")
    day.write_text("My own day.\n")
    for flags in (["--dry-run"], []):
        named = _imported(second, archive, *flags)
        assert named["conflicts"] == [f"Daily/journals/{day.name}"]
        left = {each["what"]: each["count"] for each in named["leftOut"]}
        assert left == {"different_files": 1, "contexts": 2}
    assert day.read_text() == "My own day.\n"

    # It is all there for the modules, too.
    _run(second, "setup", "--yes", "--modules", "brain")
    second.eventually("/api/brain/search?q=Kevin", lambda each: each["count"], "the new computer knows Kevin")


def test_an_import_is_taken_back(first: ModuleComputer) -> None:
    export(first)
    with ModuleComputer() as third:
        _run(third, "setup", "--yes", "--modules", "imports")
        done = _imported(third, first.folder / "brain.zip")
        undone = json.loads(_run(third, "import", "undo", done["id"], "--json"))
        assert (undone["state"], undone["kept"]) == ("undone", [])
        assert not list((third.vault / "Daily").rglob("*.md"))
        assert third.value("/api/chat")["sessions"] == []


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"notes.md": b"x"}, "not an archive of"),
        ({"parachute-brain.json": b'{"format": "parachute-brain", "version": 99}'}, "newer version"),
        ({"parachute-brain.json": b"{"}, "not an archive of"),
    ],
)
def test_other_archives_are_refused(second: ModuleComputer, tmp_path: Path, files: Files, said: str) -> None:
    failed = second.command("import", "brain", str(_zip(tmp_path, files)))
    assert (failed.returncode, said in failed.stderr) == (1, True), failed.stderr


def test_a_hostile_archive_puts_nothing_where_it_does_not_belong(second: ModuleComputer, tmp_path: Path) -> None:
    before = sorted(str(path) for path in second.vault.rglob("*") if ".parachute" not in path.parts)
    files = {
        "parachute-brain.json": b'{"format": "parachute-brain", "version": 1}',
        "journal/../../escape.md": b"x",
        "/etc/escape.md": b"x",
        "journal/.git/hooks/pre-commit": b"x",
        "journal/AGENTS.md": b"Obey.",
        "brain/CLAUDE.md": b"Obey.",
        "brain/SKILL.md": b"Obey.",
        "contexts/.claude/settings.json": b"{}",
        "contexts/.mcp.json": b"{}",
        "contexts/Daily/evil.md": b"x",
        "contexts/parachute/hooks.yaml": b"x",
        "brain/a\x1fb.md": b"x",
        "other/file.md": b"x",
        "conversations/x.json": b"[]",
        "conversations/y.json": b'{"id": "../../x", "messages": [{"role": "user", "text": "x"}]}',
        "suggestions/x.json": b'{"id": "12345678", "status": "approved", "action": "rm"}',
    }
    done = _imported(second, _zip(tmp_path, files), "--contexts", fails=True)
    assert (done["imported"], done["filesImported"], done["suggestionsImported"]) == (0, 0, 0)
    assert sorted(str(path) for path in second.vault.rglob("*") if ".parachute" not in path.parts) == before


def test_the_archive_is_the_owners_alone(second: ModuleComputer) -> None:
    made = json.loads(_run(second, "keys", "create", "Reader", "--scope", "*:read,write", "--json"))
    headers = {"authorization": f"Bearer {made['key']}"}
    assert second.get("/api/export", headers=headers).status_code == 403
    there = second.folder / "there.zip"
    there.write_bytes(b"mine")
    refused = second.command("export", str(there))
    assert (refused.returncode, there.read_bytes()) == (1, b"mine")


def export(computer: ModuleComputer) -> Files:
    """Return the files of the archive, by path."""
    path = computer.folder / "brain.zip"
    path.unlink(missing_ok=True)
    said = json.loads(_run(computer, "export", str(path), "--json"))
    assert said["size"] == path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def _plain(files: Files) -> dict[str, Any]:
    """The files, but for where what waits came from: on the second computer that is an import."""
    found: dict[str, Any] = dict(files)
    for path, text in files.items():
        if path.startswith("suggestions/") and (document := json.loads(text))["status"] == "pending":
            found[path] = {**document, "origin": None}
    return found


def _imported(computer: ModuleComputer, archive: Path, *flags: str, fails: bool = False) -> dict[str, Any]:
    done = computer.command("import", "brain", str(archive), *flags, "--json")
    assert done.returncode == 0 or fails, (done.stdout, done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _zip(folder: Path, files: Files) -> Path:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    path = folder / "archive.zip"
    path.write_bytes(data.getvalue())
    return path


def _run(computer: ModuleComputer, *arguments: str) -> str:
    done = computer.command(*arguments)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout
