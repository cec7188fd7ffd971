"""A removal that is killed at every step: doing it again ends it, and the audit log still verifies."""

import json
import resource
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from parachute.ops.forget import erasing, ordering
from parachute.ops.forget.models import FileChoices, Order
from parachute.ops.forget.passages import passages
from parachute.ops.forget.words import Words
from parachute.security.audit.seals import Seals
from parachute.security.audit.service import Audit
from parachute.security.audit.verifying import verify
from tests.support.crashing import at_every_step

pytestmark = pytest.mark.process
WORD = "Zwiebelkuchen"
NOTE = f"# Tea\n{WORD} here.\n# para:daily:aaaaaaaaaaaa 10:00\nAbout {WORD}\nand more.\n# para:daily:bbbbbbbbbbbb 11:00\nRain.\n"


async def lived(root: Path) -> None:
    """A state directory and a vault with the word in every kind of place."""
    home, vault = root / "home", root / "vault"
    for folder in (".parachute/runs", ".claude/projects/-scratch-s1", "Daily/journals"):
        (vault / folder).mkdir(parents=True)
    for folder in ("logs", "changes", "meaning", "module-data/daily/versions"):
        (home / folder).mkdir(parents=True)
    for path in (
        vault / ".parachute/runs/7.jsonl",
        vault / ".claude/projects/-scratch-s1/s1.jsonl",
        home / "logs/core.log",
        home / "changes/00aa",
        home / "meaning/index.db",
        home / "doctor.json",
        vault / f"{WORD}.md",
    ):
        path.write_text(f'{{"text": "\\n{WORD}"}}\n')
    (home / "module-data/daily/versions/00bb").write_bytes(b"z" + zlib.compress(WORD.encode()))
    (vault / "Daily/journals/2026-01-01.md").write_text(NOTE)
    with closing(sqlite3.connect(vault / ".parachute/suggestions.db")) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE suggestions (id TEXT PRIMARY KEY, payload TEXT, data BLOB)")
        database.execute("CREATE TABLE other (id TEXT PRIMARY KEY, text TEXT, data BLOB) WITHOUT ROWID")
        database.execute("CREATE VIRTUAL TABLE words USING fts5 (body, detail = none, prefix = '2 3')")
        long = "x" * 9000 + f" {WORD} "
        for number in range(3):
            row = (f"{WORD} {number}", long, zlib.compress(long.encode()))
            database.execute("INSERT INTO suggestions VALUES (?, ?, ?)", row)
            database.execute("INSERT INTO other VALUES (?, ?, ?)", row)
            database.execute("INSERT INTO words VALUES (?)", (long,))
        database.execute("DELETE FROM words WHERE rowid = 1")
        database.execute("INSERT INTO other VALUES ('kept', 'Tea', NULL)")
        database.commit()
    audit = Audit(vault / ".parachute/audit", home / "audit-seals.json")
    for text in ("Tea", WORD, "Rain"):
        audit.append(
            event_type="x", source_type="user", source_id="me", target_module="vault", target_endpoint=f"{text}.md"
        )
    await audit.close()


def order(root: Path) -> Order:
    """The owner's choices: the entry of the journal and the file go, the first line as well."""
    first = next(passages(NOTE.encode(), Words(WORD)))
    day = FileChoices(lines=[first.hash], entries=["# para:daily:aaaaaaaaaaaa"])
    chosen = {"Daily/journals/2026-01-01.md": day, f"{WORD}.md": FileChoices(removes=True)}
    return Order(WORD, "me", "files", ["s1"], [], chosen, [], [])


def finish(root: Path) -> None:
    """Do what was ordered, as a start does."""
    erasing.finish(root / "home", root / "vault", root / "home/audit-seals.json")


def left(root: Path) -> list[str]:
    """The files that have the word in their names, in their bytes, or packed; a full-text index may have it in pieces."""
    found = []
    for path in root.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        packed = zlib.decompress(data[1:]) if data[:2] == b"z\x78" else b""
        if any(WORD.encode().lower() in each.lower() for each in (path.name.encode(), data, packed)):
            found.append(str(path.relative_to(root)))
    return found


async def test_killed_at_every_step(tmp_path: Path) -> None:
    await lived(tmp_path / "made")
    root = tmp_path / "now"

    def prepare() -> None:
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(tmp_path / "made", root)
        ordering.write_order(root / "home", order(root))

    def change(count: Callable[[], None]) -> None:
        count()
        finish(root)

    def look() -> dict[str, Any]:
        cut_off = ordering.read_order(root / "home") is not None
        finish(root)
        report = ordering.read_report(root / "home")
        assert report is not None
        audit = Audit(root / "vault/.parachute/audit")
        seals = Seals(root / "home/audit-seals.json").read()
        return {
            "cut_off": cut_off,
            "left": left(root),
            "order": ordering.read_order(root / "home"),
            "found": report.found,
            "journal": (root / "vault/Daily/journals/2026-01-01.md").read_text(),
            "audit": verify(audit.days, seals).problems,
            "records": verify(audit.days, seals).records,
        }

    steps = at_every_step(prepare, change, look)
    assert len(steps) > 10
    assert [step["cut_off"] for step in steps][-1] is False
    for step in steps:
        wanted: dict[str, Any] = {
            "left": [],
            "order": None,
            "found": [],
            "journal": "# Tea\n# para:daily:bbbbbbbbbbbb 11:00\nRain.\n",
            "audit": (),
            "records": 3,
        }
        assert {name: step[name] for name in wanted} == wanted, step["step"]
    with closing(sqlite3.connect(root / "vault/.parachute/suggestions.db")) as database:
        assert database.execute("SELECT count(*) FROM suggestions").fetchone() == (0,)
        assert database.execute("SELECT text FROM other WHERE id = 'kept'").fetchone() == ("Tea",)
        assert database.execute("SELECT count(*) FROM words WHERE words MATCH ?", (WORD,)).fetchone() == (0,)


async def test_what_is_left_is_named_and_stays(tmp_path: Path) -> None:
    await lived(tmp_path)
    wanted = order(tmp_path)
    wanted.sessions, wanted.left_sessions = [], ["s1"]
    wanted.files, wanted.left_files = {}, ["Daily/journals/2026-01-01.md", f"{WORD}.md"]
    ordering.write_order(tmp_path / "home", wanted)
    finish(tmp_path)
    report = ordering.read_report(tmp_path / "home")
    assert report is not None
    assert (report.found, sorted(each.kind for each in report.left)) == ([], ["conversations", "journal", "notes"])
    assert WORD.encode() not in msgspec.json.encode(report)
    assert sorted(left(tmp_path)) == [
        "vault/.claude/projects/-scratch-s1/s1.jsonl",
        "vault/Daily/journals/2026-01-01.md",
        f"vault/{WORD}.md",
    ]


async def test_what_was_added_since_is_in_the_report(tmp_path: Path) -> None:
    await lived(tmp_path)
    ordering.write_order(tmp_path / "home", order(tmp_path))
    day = tmp_path / "vault/Daily/journals/2026-01-01.md"
    day.write_text(f"{NOTE}More {WORD}.\n")
    (tmp_path / "vault/new.md").write_text(WORD)
    finish(tmp_path)
    report = ordering.read_report(tmp_path / "home")
    assert report is not None
    assert sorted(each.places for each in report.found) == [["Daily/journals/2026-01-01.md"], ["new.md"]]
    assert day.read_text().endswith(f"Rain.\nMore {WORD}.\n")


async def test_names_of_folders_and_links_and_json_of_the_owner(tmp_path: Path) -> None:
    await lived(tmp_path)
    vault = tmp_path / "vault"
    (vault / WORD / "deep").mkdir(parents=True)
    (vault / WORD / "deep" / "note.md").write_text("Tea.\n")
    (vault / f"{WORD} link").symlink_to("nowhere")
    data = json.dumps({"a": [f"About {WORD}", 1]}, indent=1)
    (vault / ".mcp.json").write_text(data)
    wanted = order(tmp_path)
    for place in (f"{WORD}/deep/note.md", f"{WORD} link"):
        wanted.files[place] = FileChoices(removes=True)
    wanted.files[".mcp.json"] = FileChoices(lines=[each.hash for each in passages(data.encode(), Words(WORD))])
    ordering.write_order(tmp_path / "home", wanted)
    finish(tmp_path)
    report = ordering.read_report(tmp_path / "home")
    assert report is not None
    assert (report.found, left(tmp_path)) == ([], [])
    assert json.loads((vault / ".mcp.json").read_text()) == {"a": [f"About {'_' * len(WORD)}", 1]}


async def test_a_problem_has_no_words_and_the_start_goes_on(tmp_path: Path) -> None:
    root = tmp_path / WORD
    await lived(root)
    ordering.write_order(root / "home", order(root))
    day = root / "vault/.parachute/audit/2026-01-01.jsonl"
    day.mkdir()
    finish(root)
    waiting = ordering.read_order(root / "home")
    assert waiting is not None
    assert waiting.problem
    assert WORD not in waiting.problem
    day.rmdir()
    finish(root)
    assert (ordering.read_order(root / "home"), left(root)) == (None, [])


async def test_a_disk_that_fails_leaves_it_for_the_next_start(tmp_path: Path) -> None:
    await lived(tmp_path)
    ordering.write_order(tmp_path / "home", order(tmp_path))
    (tmp_path / "vault/.parachute/runs/7.jsonl").chmod(0o400)
    day = tmp_path / "vault/Daily/journals"
    day.chmod(0o500)
    finish(tmp_path)
    day.chmod(0o700)
    finish(tmp_path)
    assert (ordering.read_order(tmp_path / "home"), left(tmp_path)) == (None, [])


async def test_without_room_no_database_is_lost(tmp_path: Path) -> None:
    await lived(tmp_path)
    ordering.write_order(tmp_path / "home", order(tmp_path))
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limit[1]))
    try:
        finish(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    with closing(sqlite3.connect(tmp_path / "vault/.parachute/suggestions.db")) as database:
        assert database.execute("SELECT id FROM other WHERE id = 'kept'").fetchall() == [("kept",)]
    finish(tmp_path)
    assert (ordering.read_order(tmp_path / "home"), left(tmp_path)) == (None, [])


async def test_a_damaged_database_stays_and_is_named(tmp_path: Path) -> None:
    await lived(tmp_path)
    ordering.write_order(tmp_path / "home", order(tmp_path))
    damaged = tmp_path / "vault/.parachute/runs.db"
    damaged.write_text(f"no database: {WORD}")
    finish(tmp_path)
    report = ordering.read_report(tmp_path / "home")
    assert report is not None
    assert [each.places for each in report.found] == [[".parachute/runs.db"]]
    assert WORD in damaged.read_text()
