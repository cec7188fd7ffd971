"""Files that people write, move and break by hand."""

import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from brain.database import Database
from module import BrainModule

from parachute.core import Unavailable
from parachute.core.testing import Running, run

Write = Callable[[str, str | bytes], str]


async def _problems(brain: Running) -> dict[str, str]:
    return {entry["path"]: entry["problem"] for entry in (await brain.get("/problems")).json()["problems"]}


async def test_a_file_without_an_id_gets_one_once(brain: Running, write: Write, vault: Path) -> None:
    path = write("people/Kevin Regen.md", "﻿---\r\ntype: person\r\n# mine\r\n---\r\n\r\n# Kevin  #\r\n\r\ntext  \r\n")
    await brain.emit("vault.changed", paths=[path])
    first = (vault / path).read_bytes()
    id = (await brain.get("/resolve/kevin")).json()["para_id"]
    assert first.decode() == (
        f"﻿---\r\npara_id: {id}\r\ntype: person\r\n# mine\r\n---\r\n\r\n# Kevin  #\r\n\r\ntext  \r\n"
    )
    await brain.emit("vault.changed", paths=[path])
    assert [event["type"] for event in (await brain.post("/reload")).events()][-1] == "done"
    assert (vault / path).read_bytes() == first


async def test_a_file_without_frontmatter_and_deep_in_folders(brain: Running, write: Write) -> None:
    path = write("topics/deep/er/🎉 Party.md", "Just text, [[kevin]]\n")
    await brain.emit("vault.changed", paths=[path])
    found = (await brain.get("/search", q="party")).json()["results"][0]
    assert (found["name"], found["type"], found["path"]) == ("🎉 Party", "topic", path)
    text = (brain.vault / path).read_text()
    assert text == f"---\npara_id: {found['para_id']}\n---\nJust text, [[kevin]]\n"


BROKEN = (
    (b"---\nname: \xff\xfe\n---\n", "UTF-8"),
    (b"---\naliases: [a\n---\n# X\n", "not YAML"),
    (b"---\ntype: person\n# no end\n", "has no end"),
    (b"---\n- a\n- b\n---\n", "name: value"),
    (b"---\na: &x [1]\nb: *x\n---\n", "aliases"),
    (b"---\na: !!python/object:os.system x\n---\n", "The tag"),
    (b"---\na: " + b"[" * 100_000 + b"\n---\n", "lists inside of lists"),
    (b"x" * 1_000_001, "larger than"),
    (b"a\0b", "zero bytes"),
    (b"---\n" + b"a: 1\n" * 30_000 + b"---\n", "larger than"),
)


NOT_WHOLE = ("not YAML", "has no end", "name: value", "aliases", "The tag", "lists inside of lists")
"""Of these files the text and the name can be read."""


async def test_a_broken_file_is_a_problem_and_stays_as_it_is(brain: Running, write: Write) -> None:
    good = write("people/ann.md", "# Ann\n")
    for number, (content, reason) in enumerate(BROKEN, 1):
        path = write(f"people/broken{number}.md", content)
        await brain.emit("vault.changed", paths=[good, path])
        assert reason in (await _problems(brain))[path]
        assert (brain.vault / path).read_bytes() == content
        is_read = reason in NOT_WHOLE or content.startswith(b"---\na: 1")
        assert (await brain.get("/status")).json()["entities"] == number + is_read
        (brain.vault / path).write_text(f"# Mended{number}\n")
        await brain.emit("vault.changed", paths=[path])
        assert await _problems(brain) == {}
        assert (await brain.get(f"/resolve/mended{number}")).status == 200


async def test_what_no_entity_can_be_is_left_alone(brain: Running, write: Write, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n")
    path = write("people/ann.md", "# Ann\n")
    folder = (brain.vault / path).parent
    (folder / "link.md").symlink_to(secret)
    os.mkfifo(folder / "pipe.md")
    (folder / "folder.md").mkdir()
    (folder / ".hidden.md").write_text("# Hidden\n")
    await brain.emit("vault.changed", paths=[path, "Brain/entities/people", "../x.md", "/etc/passwd", "Daily/x.md"])
    assert (await brain.get("/status")).json()["entities"] == 1
    assert secret.read_text() == "# Secret\n"


async def test_a_file_that_is_moved_or_renamed_keeps_its_id(brain: Running, add: Any) -> None:
    made = await add("person", "Kevin")
    old, new = brain.vault / made["path"], brain.vault / "Brain/entities/people/team/kev.md"
    new.parent.mkdir()
    old.rename(new)
    # The watcher may tell of the new one first.
    await brain.emit("vault.changed", paths=[str(new.relative_to(brain.vault))])
    await brain.emit("vault.changed", paths=[made["path"]])
    found = (await brain.get(f"/entities/{made['entity_id']}")).json()
    assert (found["path"], found["name"]) == ("Brain/entities/people/team/kev.md", "Kevin")
    assert await _problems(brain) == {}


async def test_a_copy_of_a_file_waits_until_the_first_one_is_gone(brain: Running, add: Any) -> None:
    made = await add("person", "Kevin", "first")
    copy = "Brain/entities/people/copy.md"
    (brain.vault / copy).write_text((brain.vault / made["path"]).read_text().replace("first", "second"))
    await brain.emit("vault.changed", paths=[copy])
    assert "same para_id" in (await _problems(brain))[copy]
    assert (await brain.get(f"/entities/{made['entity_id']}")).json()["content"] == "first"
    (brain.vault / made["path"]).unlink()
    await brain.emit("vault.changed", paths=[made["path"]])
    assert await _problems(brain) == {}
    assert (await brain.get(f"/entities/{made['entity_id']}")).json()["content"] == "second"


async def test_what_changed_while_the_module_slept_is_seen_at_the_start(tmp_path: Path, write: Write) -> None:
    paths = [write(f"people/p{n}.md", f"# Person {n}\n") for n in range(4)]
    async with run(BrainModule, folder=tmp_path) as brain:
        ids = {(await brain.get(f"/resolve/person%20{n}")).json()["para_id"] for n in range(4)}
        assert len(ids) == 4
    (tmp_path / "vault" / paths[0]).unlink()
    (tmp_path / "vault/Brain/entities/topics").mkdir()
    (tmp_path / "vault" / paths[1]).rename(tmp_path / "vault/Brain/entities/topics/q.md")
    old = (tmp_path / "vault" / paths[2]).read_text()
    write("people/p2.md", old + "Likes tea.\n")
    async with run(BrainModule, folder=tmp_path) as brain:
        assert (await brain.get("/status")).json()["entities"] == 3
        assert (await brain.get("/search", q="tea")).json()["results"][0]["name"] == "Person 2"
        moved = (await brain.get("/resolve/person%201")).json()
        assert moved["para_id"] in ids
        assert moved["path"].endswith("topics/q.md")


async def test_a_vault_with_many_files_is_read_while_others_are_answered(tmp_path: Path, write: Write) -> None:
    for number in range(700):
        write(f"people/p{number}.md", f"---\npara_id: para:brain:{number:012}\n---\n# Person {number}\n")
    async with run(BrainModule, folder=tmp_path) as brain:
        assert (await brain.get("/status")).json()["building"] is True
        assert (await brain.post("/reload")).status == 409
        await brain.module.brain.settled()
        status = (await brain.get("/status")).json()
        assert (status["entities"], status["building"], status["done"]) == (700, False, 700)


@pytest.mark.parametrize("damage", [b"", b"not a database" * 1000, None])
async def test_a_damaged_index_is_built_anew(tmp_path: Path, write: Write, damage: bytes | None) -> None:
    write("people/ann.md", "# Ann\n")
    async with run(BrainModule, folder=tmp_path) as brain:
        id = (await brain.get("/resolve/ann")).json()["para_id"]
        await brain.post("/link", {"source_id": "para:daily:aaaaaaaaaaaa", "para_id": id})
    index = tmp_path / "data" / "index.db"
    assert index.exists()
    index.write_bytes(damage or b"")
    if damage is None:
        index.unlink()
        (index / "inside").mkdir(parents=True)
    async with run(BrainModule, folder=tmp_path) as brain:
        assert (await brain.get("/resolve/ann")).json()["para_id"] == id
        assert (await brain.get("/links", id=id)).json()["mentions"][0]["source_id"] == "para:daily:aaaaaaaaaaaa"


@contextmanager
def no_room() -> Iterator[None]:
    """Let this process write no file, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_an_index_stays_while_the_disk_is_full(tmp_path: Path) -> None:
    database = Database(tmp_path / "index.db")
    assert database.open() is True
    database.close()
    with no_room(), pytest.raises(Unavailable):
        database.open()
    assert database.open() is False
    database.close()


def test_an_index_that_is_built_anew_while_somebody_reads_is_read_then(tmp_path: Path) -> None:
    database = Database(tmp_path / "index.db")
    database.open()
    with database.read() as former:
        assert database.open(anew=True) is True
    with pytest.raises(sqlite3.ProgrammingError):
        former.execute("SELECT 1")
    with database.write() as connection:
        connection.execute("INSERT INTO mentions VALUES ('a', 'b', '2026', 'c')")
    with database.read() as reader:
        assert reader.execute("SELECT count(*) FROM mentions").fetchone()[0] == 1
    database.close()


async def test_a_file_in_a_vault_that_cannot_be_written_is_a_problem(tmp_path: Path, write: Write) -> None:
    path = write("people/ann.md", "# Ann\n")
    async with run(BrainModule, folder=tmp_path, permissions={"read": ["Brain/**"]}) as brain:
        assert "no para_id can be written" in (await _problems(brain))[path]
        assert (await brain.post("/entities", {"entity_type": "person", "data": {"name": "Bob"}})).status == 403


async def test_a_type_and_an_id_that_only_the_file_knows(brain: Running, write: Write) -> None:
    path = write("misc/x.md", "---\npara_id: para:brain:short\ntype: alien\neyes: 3\n---\n# Zork\n")
    await brain.emit("vault.changed", paths=[path])
    found = (await brain.get("/entities/para:brain:short")).json()
    assert (found["type"], found["legacy_id"], len(found["para_id"])) == ("alien", "para:brain:short", 23)
    answer = await brain.put(f"/entities/{found['para_id']}", {"data": {"eyes": 4}, "append": "Friendly."})
    assert answer.json()["eyes"] == 4
    assert "para_id: para:brain:short\n" in (brain.vault / path).read_text()


async def test_what_is_written_by_hand_is_told_to_others_once(brain: Running, write: Any, add: Any) -> None:
    path = write(
        "people/kevin.md", "---\npara_id: para:brain:kevin0000000\ntype: person\naliases: [Kev]\n---\n\n# Kevin\n"
    )
    created = [("brain.entity.created", {"para_id": "para:brain:kevin0000000", "names": ["Kevin", "Kev"]})]
    await brain.emit("vault.changed", paths=[path])
    assert brain.published == created
    write("people/kevin.md", "---\npara_id: para:brain:kevin0000000\ntype: person\n---\n\n# Kevin Nguyen\n")
    await brain.emit("vault.changed", paths=[path])
    assert brain.published == created
    # What was made here was told already.
    made = (await add("person", "Maria"))["path"]
    await brain.emit("vault.changed", paths=[made])
    assert [each[1]["names"] for each in brain.published] == [["Kevin", "Kev"], ["Maria"]]


UNQUOTED = "---\ntype: person\nrelated: [[Tide Tables]], [[Old Pier]]\n---\n# Mara Quill\nSails out of the harbour.\n"


async def test_a_note_whose_front_matter_only_people_can_read_is_known(brain: Running, write: Write) -> None:
    notes = {
        "topics/mara.md": (UNQUOTED, "line 3:"),
        "topics/second.md": ("---\ntitle: Re: harbour plans\n---\nPlans for the harbour.\n", "line 2:"),
        "topics/third.md": ("---\ntags: a\ntags: b\n---\n# Third\nThe harbour again.\n", "line 3:"),
        "topics/fourth.md": ("---\ntags:\n\t- a\naliases:\n- Four: 4\n- IV\n---\n# Fourth\nHarbour.\n", "line 3:"),
        "topics/fifth.md": ("---\ncreated: {{date}}\ntype: person\n---\n# Fifth\nAt the harbour.\n", "line 2:"),
        "topics/sixth.md": ("---\ntype: person\n\n# Sixth\nHarbour, [[Third]].\n", "no end"),
    }
    pier = write("topics/pier.md", "# Old Pier\n")
    paths = [write(path, text) for path, (text, _) in notes.items()]
    await brain.emit("vault.changed", paths=[pier, *paths])
    found = {each["path"]: each for each in (await brain.get("/search", q="harbour")).json()["results"]}
    assert found.keys() == set(paths)
    problems = await _problems(brain)
    for path, (text, reason) in zip(paths, notes.values(), strict=True):
        assert (brain.vault / path).read_text() == text
        assert reason in problems[path] == found[path]["problem"]
    assert [found[path]["tags"] for path in paths[2:4]] == [["a"], ["a"]]
    assert (found[paths[0]]["type"], found[paths[4]]["type"]) == ("person", "person")
    assert found[paths[1]]["name"] == "Re: harbour plans"
    assert "IV" in found[paths[3]]["aliases"]
    mara = (await brain.get("/resolve/Mara Quill")).json()["para_id"]
    linked = (await brain.get("/links", id=mara)).json()["links"]
    assert [each["name"] for each in linked if each["name"]] == ["Old Pier"]
    answer = await brain.put(f"/entities/{mara}", {"data": {"tags": ["x"]}})
    assert (answer.status, answer.json()["key"]) == (409, "file_unreadable")
    (brain.vault / paths[0]).write_text(UNQUOTED.replace("[[Tide Tables]], [[Old Pier]]", '"[[Old Pier]]"'))
    await brain.emit("vault.changed", paths=[paths[0]])
    assert (await brain.get("/resolve/Mara Quill")).json()["para_id"] == mara
    assert f"para_id: {mara}" in (brain.vault / paths[0]).read_text()


async def test_a_copy_that_another_program_left_beside_a_note_is_no_second_one(brain: Running, write: Write) -> None:
    note = write("people/ann.md", "# Ann\nIn Rome.\n")
    await brain.emit("vault.changed", paths=[note])
    text = (brain.vault / note).read_text()
    for copy_text in (text, "# Ann\nIn Oslo.\n"):
        copy = write("people/ann.sync-conflict-20261106-101112-ABCDEFG.md", copy_text)
        await brain.emit("vault.changed", paths=[copy])
        assert note in (await _problems(brain))[copy]
        assert "para_id" not in (await _problems(brain))[copy]
        assert (await brain.get("/status")).json()["entities"] == 1
        assert (brain.vault / copy).read_text() == copy_text
    write("people/ann.sync-conflict-20261106-101112-ABCDEFG.md", text)
    await brain.emit("vault.changed", paths=[copy])
    (brain.vault / note).unlink()
    await brain.emit("vault.changed", paths=[note])
    assert await _problems(brain) == {}
    assert (await brain.get("/resolve/Ann")).status == 200


async def test_a_copy_without_an_id_is_a_note_when_the_other_one_has_gone(brain: Running, write: Write) -> None:
    note = write("people/ann.md", "# Ann\nIn Rome.\n")
    copy = write("people/ann.sync-conflict-20261106-101112-ABCDEFG.md", "# Ann\nIn Oslo.\n")
    await brain.emit("vault.changed", paths=[note, copy])
    assert note in (await _problems(brain))[copy]
    (brain.vault / note).unlink()
    await brain.emit("vault.changed", paths=[note])
    assert await _problems(brain) == {}
    assert (await brain.get("/resolve/Ann")).json()["path"] == copy


async def test_types_and_aliases_in_lines_of_the_text(brain: Running, write: Write) -> None:
    text = (
        "# Ann\ntype:: [[person]]\nalias:: Annie, [[A. Quill]]\n\nText.\n```\nalias:: Code\n```\n  alias:: Indented\n"
    )
    other = "---\ntype: project\naliases: [B]\n---\n# Boat\ntype:: person\naliases:: Barge\nNo ::type.\n"
    paths = [write("topics/ann.md", text), write("topics/boat.md", other)]
    await brain.emit("vault.changed", paths=paths)
    found = {each["path"]: each for each in (await brain.get("/entities")).json()["results"]}
    assert (found[paths[0]]["type"], found[paths[0]]["aliases"]) == ("person", ["Annie", "A. Quill"])
    assert (found[paths[1]]["type"], found[paths[1]]["aliases"]) == ("project", ["B", "Barge"])
    assert (await brain.get("/resolve/Annie")).json()["name"] == "Ann"
