"""Exports that somebody made to do harm, or that broke on their way: an answer within limits, and the rest is read."""

import json
import os
import random
import stat
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from reading_once import Read, read

from tests.chat.imports import exports
from tests.chat.imports.exports import boat, claude_conversation, node, packed, tree

LONG = 100_000


def exported(folder: Path, *conversations: Any) -> Read:
    return read(folder, json.dumps(list(conversations)).encode())


def test_a_loop_in_the_tree_ends(tmp_path: Path) -> None:
    loop = tree(
        node("a", "c", text="One."), node("b", "a", "assistant", "Two."), node("c", "b", text="Three."), title="L"
    )
    alone = tree(node("a", "a", text="Me."), title="Self", name="s")
    found = exported(tmp_path, loop, alone)
    assert found.said["L"] == [("user", "One."), ("assistant", "Two."), ("user", "Three.")]
    assert found.said["Self"] == [("user", "Me.")]
    assert found.is_whole


def test_missing_parents_and_no_current_node(tmp_path: Path) -> None:
    hole = tree(node("b", "lost", text="Two."), node("c", "b", "assistant", "Three."), title="Hole", current="nowhere")
    found = exported(tmp_path, hole, tree(title="Empty", current="x", name="e"))
    assert found.said == {"Hole": [("user", "Two."), ("assistant", "Three.")]}
    assert found.left_out == {"empty_conversations": 1}


@pytest.mark.long
def test_a_chain_of_100_000_messages(tmp_path: Path) -> None:
    nodes = [node(str(n), str(n - 1) if n else None, text=f"{n}") for n in range(5_000)]
    bare = {str(n): {"parent": str(n - 1), "message": None} for n in range(5_000, LONG)}
    long = tree(*nodes, title="Long")
    long["mapping"].update(bare)
    long["current_node"] = str(LONG - 1)
    found = exported(tmp_path, long)
    assert len(found.said["Long"]) == 5_000
    assert found.said["Long"][-1] == ("user", "4999")


def test_a_tree_of_very_many_branches_brings_some_of_them(tmp_path: Path) -> None:
    nodes = [node("root", None, text="Root.")] + [node(f"n{n}", "root", "assistant", f"{n}") for n in range(3000)]
    found = exported(tmp_path, tree(*nodes, title="Bush"))
    assert 40 < len(found.conversations) <= 51
    assert found.left_out["branches"] == 2950


def test_wrong_types_everywhere(tmp_path: Path) -> None:
    values: list[Any] = [None, True, -1, 1.5, "text", [], {}, [None], {"a": []}, [[1]], "\ud800", 10**30]
    chooser = random.Random(7)

    def damaged(value: Any) -> Any:
        if chooser.random() < 0.15:
            return chooser.choice(values)
        if isinstance(value, dict):
            return {key: damaged(inner) for key, inner in value.items()}
        return [damaged(inner) for inner in value] if isinstance(value, list) else value

    broken = [damaged(boat(f"c-{n}")) if n % 2 else damaged(claude_conversation(f"k-{n}")) for n in range(300)]
    for number, wanted in enumerate(("chatgpt", "claude")):
        folder = tmp_path / str(number)
        folder.mkdir()
        # Of the other program's conversations nothing is left but objects that are no conversations.
        data = json.dumps([each for n, each in enumerate(broken) if n % 2 != number]).encode()
        found = read(folder, data, wanted)
        assert found.is_whole, found.errors
        assert found.left_out.total() > 10


def test_halves_of_characters_and_zero_bytes(tmp_path: Path) -> None:
    odd = tree(node("a", None, text="A\ud83d and \x00 B"), title="T\ud800\x00itle")
    found = exported(tmp_path, odd)
    (title,) = found.titles()
    assert title is not None
    (text,) = (text for _, text in found.said[title])
    for each in (title, text):
        each.encode()
        assert "\x00" not in each


@pytest.mark.parametrize(
    "time", ["1e999", "-62135596801", "253402300800", "NaN", '"99999-01-01"', "-0.0", "true", "[]"]
)
def test_times_of_no_year_in_which_people_chat(tmp_path: Path, time: str) -> None:
    value = tree(node("a", None, text="When?"), title="T")
    value["create_time"] = value["update_time"] = value["mapping"]["a"]["message"]["create_time"] = "TIME"
    found = read(tmp_path, json.dumps([value]).replace('"TIME"', time).encode())
    if time == "NaN":  # which is no JSON
        assert (found.conversations, len(found.errors)) == ([], 1)
    else:
        (conversation,) = found.conversations
        assert (conversation["created"], conversation["updated"]) == (None, None)


def test_json_that_ends_early_brings_what_came_before(tmp_path: Path) -> None:
    whole = json.dumps([boat(), boat("c-2")])
    found = read(tmp_path, whole[: len(whole) // 2 + 2000].encode())
    assert found.titles() == ["A boat", "A boat (branch 2)"]
    assert not found.is_whole
    assert "JSON" in found.errors[0]


@pytest.mark.parametrize(
    "data", [b"\0" * 5000, b"[" * 200_000, b'{"a":' * 200_000, b"\xff\xfe[\0]\0", b"[}", b'"x"', b"PK\x03\x04"]
)
def test_what_is_no_export_is_refused(tmp_path: Path, data: bytes) -> None:
    found = read(tmp_path, data)
    assert found.conversations == []
    assert found.errors or found.is_whole


def test_what_is_nested_too_deeply_is_passed_over(tmp_path: Path) -> None:
    deep = "[" * 50_000 + "]" * 50_000
    data = json.dumps([boat("c-1"), {"mapping": "DEEP"}, boat("c-2")]).replace('"DEEP"', deep)
    found = read(tmp_path, data.encode())
    assert (len(found.conversations), found.left_out["too_long"]) == (4, 1)
    assert found.is_whole


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_conversation_of_200_megabytes_is_passed_over(tmp_path: Path) -> None:
    nodes = [node(f"n{n}", f"n{n - 1}", text="word " * 200_000) for n in range(200)]
    found = exported(tmp_path, boat("c-1"), tree(*nodes, title="Huge", name="huge"), boat("c-2"))
    assert (len(found.conversations), found.left_out["too_long"]) == (4, 1)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_one_message_of_200_megabytes_is_cut(tmp_path: Path) -> None:
    for number, text in enumerate(("word " * 40_000_000, "\U0001f600\n\\" * 20_000_000)):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = exported(folder, tree(node("a", None, text=text), title="Huge"), boat("c-2"))
        assert found.errors == []
        assert "A boat" in found.titles()
        assert found.left_out["cut_texts"] + found.left_out["too_long"] == 1


def test_an_archive_that_unpacks_to_very_much_is_refused(tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(tmp_path / "bomb", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w") as file,
    ):
        file.write(b"[")
        for _ in range(100):
            file.write(b" " * 1024 * 1024)
    found = read(tmp_path, tmp_path / "bomb", "chatgpt")
    assert found.conversations == []
    assert "times its size" in found.errors[0]


def test_an_archive_that_somebody_attached_is_not_opened(tmp_path: Path) -> None:
    attached = exports.chatgpt_zip(boat("c-2"))
    found = read(tmp_path, packed({"attached.zip": attached, "conversations.json": json.dumps([boat()])}))
    assert len(found.conversations) == 2
    assert found.left_out["other_files"] == 1


def test_an_archive_in_an_archive_that_unpacks_to_very_much_is_refused(tmp_path: Path) -> None:
    inner = packed({"conversations.json": "[" + " " * 100 * 1024 * 1024})
    for name in ("conversations-000.zip", "any.zip"):
        found = read(tmp_path, packed({name: inner}))
        assert found.conversations == []
        assert "times its size" in found.errors[0]
        assert not list((tmp_path / "upload").glob("inner*"))


def test_an_archive_in_an_archive_that_is_none_is_left_out_or_told(tmp_path: Path) -> None:
    good = exports.chatgpt_zip(boat())
    found = read(tmp_path, packed({"export.zip": good, "broken.zip": "PK\x03\x04"}))
    assert (len(found.conversations), found.errors, found.left_out["other_files"]) == (2, [], 1)
    assert read(tmp_path, packed({"conversations-000.zip": "PK\x03\x04", "a.zip": good})).errors


def test_changes_of_a_document_that_grow_it_without_end_are_bounded(tmp_path: Path) -> None:
    def call(name: str, after: str | None, recipient: str, said: dict[str, Any]) -> dict[str, Any]:
        found = node(name, after, "assistant", json.dumps(said))
        found["message"]["recipient"] = recipient
        return found

    twice = {"updates": [{"pattern": "a", "replacement": "aa", "multiple": True}] * 40}
    nowhere = {"updates": [{"pattern": "zz", "replacement": "y" * 300}] * 20_000}
    made = {"name": "Plan", "type": "document", "content": "a"}
    nodes = [
        node("ask", None, text="Write it."),
        call("make", "ask", "canmore.create_textdoc", made),
        call("twice", "make", "canmore.update_textdoc", twice),
        call("nowhere", "twice", "canmore.update_textdoc", nowhere),
    ]
    began = time.monotonic()
    found = exported(tmp_path, tree(*nodes))
    assert time.monotonic() - began < 60
    assert found.messages[0][1]["text"].startswith("[Document: Plan]\n\naaaa")
    assert len(found.messages[0][1]["text"]) < 1_100_000


def test_a_mark_whose_source_is_very_long_is_bounded(tmp_path: Path) -> None:
    said = node("a", None, "assistant", "【1】" * 50_000)
    said["message"]["metadata"] = {"content_references": [{"matched_text": "【1】", "alt": "x" * 500_000}]}
    found = exported(tmp_path, tree(said))
    assert len(found.messages[0][0]["text"]) == 1_000_000


def test_folded_parts_without_an_end_are_read_at_once(tmp_path: Path) -> None:
    talk = {
        "messages": {"a": {"role": "user", "content": '<details type="' * 300_000 + "</details>"}},
        "currentId": "a",
    }
    began = time.monotonic()
    found = read(tmp_path, json.dumps([{"id": "1", "chat": {"history": talk}}]).encode(), "openwebui")
    assert time.monotonic() - began < 20
    assert len(found.conversations) == 1


def test_names_that_lead_elsewhere_are_left_out(tmp_path: Path) -> None:
    names = [
        "../up.md",
        "/etc/absolute.md",
        "a/../../b.md",
        "back\\..\\..\\slash.md",
        "C:\\windows.md",
        "x/" * 50 + "deep.md",
    ]
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        for name in [*names, "Good.md", "Bad\u202e\x07name.md", "  .hidden\u200b .md", "w/CLAUDE.MD"]:
            archive.writestr(zipfile.ZipInfo(name), "text")
        link = zipfile.ZipInfo("link.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    found = read(tmp_path, tmp_path / "zip", "obsidian")
    assert found.left_out["unsafe_names"] == len(names) + 1
    # Names that look like others are made plain where the server places the files.
    assert found.files.keys() == {"Good.md", "Bad\u202e\x07name.md", "  .hidden\u200b .md", "w/CLAUDE.MD"}


def test_a_million_entries_are_refused(tmp_path: Path) -> None:
    count = 1_000_000
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    directory = entry * count
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, len(directory), 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(directory), 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    (tmp_path / "many").write_bytes(directory + end64 + locator + end)
    found = read(tmp_path, tmp_path / "many", "obsidian")
    assert found.files == {}
    assert len(found.errors) == 1


def test_a_damaged_entry_is_told(tmp_path: Path) -> None:
    data = bytearray(exports.chatgpt_zip(boat(), boat("c-2")))
    place = data.index(b"conversations-000.json") + 60
    data[place : place + 40] = bytes(40)
    found = read(tmp_path, bytes(data))
    assert not found.is_whole
    assert found.errors


def test_a_hostile_database_runs_nothing(tmp_path: Path) -> None:
    exports.old_database(tmp_path / "old.db")
    data = bytearray((tmp_path / "old.db").read_bytes())
    random.Random(3).shuffle(order := list(range(4096, len(data))))
    for place in order[:3000]:
        data[place] ^= 0x5A
    found = read(tmp_path, bytes(data), "parachute")
    assert found.errors or found.is_whole


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.process
def test_a_gigabyte_is_read_in_less_than_200_megabytes(tmp_path: Path) -> None:
    words = random.Random(1)
    talks = []
    for number in range(200):
        texts = (" ".join(words.choices(("sail", "rope", "tide", "Ottilie", "kettle\n"), k=400)) for _ in range(40))
        roles = ("user", "assistant")
        nodes = [node(f"n{n}", f"n{n - 1}" if n else None, roles[n % 2], each) for n, each in enumerate(texts)]
        talks.append(tree(*nodes, name=f"c-{number}", title=f"Number {number}"))
    part = json.dumps(talks)[1:-1].encode()
    upload, count = tmp_path / "upload" / "part-0000", 0
    upload.parent.mkdir()
    with upload.open("wb") as file:
        while file.tell() < 1024**3:
            file.write((b"," if count else b"[") + part.replace(b'"c-', b'"c-%d-' % count))
            count += 1
        file.write(b"]")
    command = [sys.executable, "-c", _MEASURE, str(upload.parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path])}
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=800, check=True, env=environment)
    finally:
        upload.unlink()
    read_count, kilobytes = map(int, ran.stdout.split())
    assert read_count == 200 * count
    assert kilobytes < 200 * 1024


_MEASURE = """
import re, sys
from pathlib import Path
from imports.reading.export import read
from imports.upload import Upload
count = 0
def take(found):
    global count
    assert "error" not in found
    count += "conversation" in found
read(Upload(Path(sys.argv[1])), "chatgpt", set(), take)
print(count, re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
