"""Exports as each program writes them are read: what was said, by whom and when, and what is left out is counted."""

import json
import sqlite3
from pathlib import Path

import pytest
from imports.reading import brain, export
from reading_once import Read, read, uploaded

from tests.chat.imports import exports
from tests.chat.imports.exports import KEPT, SESSION, boat, claude_conversation, claude_message, node, packed, tree


def test_chatgpt_the_branch_that_was_shown_is_the_conversation(tmp_path: Path) -> None:
    found = read(tmp_path, exports.chatgpt_zip(boat(), boat("c-2")))
    assert (found.kind, found.errors) == ("chatgpt", [])
    assert found.said["A boat"] == [
        ("user", "[Picture]\n\nMy boat is called Ottilie."),
        ("assistant", "A fine name for a ketch."),
        ("user", "Thank you."),
        ("assistant", "You are welcome."),
    ]
    first, branch, *_ = found.conversations
    assert (first["created"], first["updated"]) == ("2023-11-14T22:13:20.250Z", "2023-11-14T23:13:20.000Z")
    assert (first["source"], first["original"], first["archived"], first["messages"]) == ("chatgpt", "c-1", False, 4)
    assert (branch["title"], branch["archived"]) == ("A boat (branch 2)", True)
    assert found.said["A boat (branch 2)"][-1] == ("assistant", "What a strange name.")
    assert found.left_out == {"images": 2, "tool_calls": 4, "hidden_messages": 2, "other_files": 3}
    asked, answered, *_ = found.messages[0]
    assert asked["time"] == "2023-11-14T22:13:21.000Z"
    assert answered["model"] == "gpt-4o"


def test_what_is_known_is_skipped(tmp_path: Path) -> None:
    first = read(tmp_path, exports.chatgpt_zip(boat()))
    ids = tuple(each["session"] for each in first.conversations)
    again = read(tmp_path, exports.chatgpt_zip(boat()), known=ids)
    assert (again.conversations, tuple(again.skipped)) == ([], ids)


@pytest.mark.parametrize("parts", [2, 7])
def test_an_upload_in_parts_is_one_file(tmp_path: Path, parts: int) -> None:
    found, data = Read(), exports.chatgpt_zip(boat(), boat("c-2"))
    export.read(uploaded(tmp_path, data, parts), "auto", set(), found.take)
    assert (found.titles(), found.errors) == (read(tmp_path, data).titles(), [])
    with uploaded(tmp_path, data, parts).open() as file:
        assert (file.seek(-5, 2), file.read(9), file.read(1)) == (len(data) - 5, data[-5:], b"")


def test_chatgpt_voice_thoughts_and_kinds_of_tomorrow(tmp_path: Path) -> None:
    spoken = {"content_type": "audio_transcription", "text": "Ahoy.", "direction": "in"}
    recorded = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://1"}
    talk = tree(
        node("a", None, kind="multimodal_text", parts=[spoken, recorded, {"content_type": "hologram"}]),
        node("b", "a", "assistant", kind="thoughts", parts=[], content={"content_type": "thoughts", "thoughts": []}),
        node("c", "b", "assistant", kind="poem", parts=["?"]),
        node("d", "c", "assistant", "Hidden.", metadata={"is_visually_hidden_from_conversation": True}),
        node("e", "d", "assistant", "Ahoy."),
    )
    found = read(tmp_path, json.dumps([talk]).encode())
    assert found.said == {"A boat": [("user", "Ahoy."), ("assistant", "Ahoy.")]}
    assert found.left_out == {
        "audio": 1,
        "unknown_content:hologram": 1,
        "unknown_content:poem": 1,
        "thoughts": 1,
        "hidden_messages": 1,
    }


def test_claude_with_the_text_of_what_was_attached_and_the_documents_of_projects(tmp_path: Path) -> None:
    found = read(tmp_path, exports.claude_zip(claude_conversation()))
    assert (found.kind, found.errors) == ("claude", [])
    assert found.said["Kettles"] == [
        ("user", "What is this?\n\n[Attached: kettle.txt]\nIt whistles in F sharp.\n\n[Picture: photo.png]"),
        ("assistant", "Then it is a good kettle."),
    ]
    assert found.conversations[0]["created"] == "2024-03-01T09:59:59.000Z"
    assert found.files == {
        "Tea / coffee/Project instructions.md": b"Answer as a kettle.",
        "Tea / coffee/leaves.md": b"Green, black.",
        "Tea / coffee/AGENTS.md": b"Obey.",
    }
    assert found.left_out == {"tool_calls": 1, "images": 1, "other_files": 1}


def test_claude_messages_that_were_edited_are_branches(tmp_path: Path) -> None:
    first, old, new = (
        claude_message(n, "human" if n == 1 else "assistant", text) for n, text in enumerate(("A?", "B.", "C."), 1)
    )
    old["parent_message_uuid"] = new["parent_message_uuid"] = first["uuid"]
    first["parent_message_uuid"] = "00000000-0000-4000-8000-000000000000"
    found = read(tmp_path, json.dumps([claude_conversation(chat_messages=[first, old, new])]).encode())
    assert found.said == {
        "Kettles": [("user", "A?"), ("assistant", "C.")],
        "Kettles (branch 2)": [("user", "A?"), ("assistant", "B.")],
    }


def test_an_older_parachute_with_its_database_transcripts_and_markdown(tmp_path: Path) -> None:
    found = read(tmp_path, exports.old_vault(tmp_path))
    assert (found.kind, found.errors) == ("parachute", [])
    sails, ropes, tides = found.conversations
    assert (sails["session"], sails["messages"], sails["created"]) == (SESSION, 2, "2026-01-02T03:04:05.123Z")
    assert sails["labels"] == {"trustLevel": "full", "workingDirectory": "/vault/Projects/boat"}
    assert found.said["Sails"] == [("user", "How many sails has a ketch?"), ("assistant", "Often three.")]
    assert (ropes["session"], found.said["Ropes"], ropes["messages"], ropes["labels"]) == (
        KEPT,
        [],
        4,
        {"trustLevel": "a word of tomorrow"},
    )
    assert (tides["title"], tides["archived"]) == ("Tides: a question", True)
    assert found.said["Tides: a question"][0] == ("user", "When is high water?")
    assert found.left_out == {"tool_calls": 1, "other_files": 1}


def test_a_database_alone_is_one_of_an_older_parachute(tmp_path: Path) -> None:
    exports.old_database(tmp_path / "old.db")
    assert read(tmp_path, tmp_path / "old.db").titles() == ["Sails", "Ropes"]


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE VIEW sessions AS SELECT 1 AS id, 2 AS created_at")
    found = read(tmp_path, tmp_path / "other.db", "parachute")
    assert found.conversations == []
    assert "no sessions" in found.errors[0]


def test_notes_without_settings_and_plugins(tmp_path: Path) -> None:
    found = read(tmp_path, exports.notes_zip())
    assert found.kind == "obsidian"
    assert found.files.keys() == {"Boats/Ottilie.md", "Boats/ketch.png", "2024-05-06.md", "CLAUDE.md"}
    assert found.files["Boats/Ottilie.md"] == b"A ketch. See [[Kettle]] and ![[ketch.png]]."
    assert found.left_out == {"hidden_files": 2}


def test_the_kind_is_told_or_found_out_and_another_one_is_refused(tmp_path: Path) -> None:
    for number, (data, kind) in enumerate(
        (
            (exports.chatgpt_zip(boat()), "claude"),
            (json.dumps([claude_conversation()]).encode(), "chatgpt"),
            (packed({"a.txt": "?"}), "auto"),
            (packed({"conversations.json": "[]"}), "auto"),
            (packed({"a.txt": "?"}), "chatgpt"),
            (packed({"a.txt": "?"}), "parachute"),
            (b"# A page\n", "auto"),
            # Whoever made an archive has written the file that makes it one of a computer of the owner's.
            (packed({brain.ABOUT: json.dumps({"format": brain.FORMAT, "version": 1}), "journal/a.md": "?"}), "auto"),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = read(folder, data, kind)
        assert (found.conversations, len(found.errors)) == ([], 1), kind


def test_what_is_no_export_is_said_to_be_none(tmp_path: Path) -> None:
    for name, data, kind, said in (
        ("page", b"# A page\n", "auto", "This is not an export"),
        ("folder", packed({"a.txt": "?"}), "parachute", "no data of Parachute"),
        ("broken", b'[{"a": tru', "auto", "The JSON of the export is not whole: "),
    ):
        (tmp_path / name).mkdir()
        (error,) = read(tmp_path / name, data, kind).errors
        assert said in error
        assert not error.endswith("..")


def test_a_single_conversation_and_what_the_app_sends(tmp_path: Path) -> None:
    for number, sent in enumerate(
        (boat(), {"data": [boat()]}, {"data": {"conversations": [boat()]}, "archived": False})
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert read(folder, json.dumps(sent).encode()).titles() == ["A boat", "A boat (branch 2)"], sent.keys()


def test_what_agents_are_told_comes_from_one_place_of_an_archive_alone() -> None:
    for path in ("journal/prompt.md", "brain/prompt.md", "brain/GEMINI.md", "journal/a/AGENTS.md", "contexts/a.md"):
        assert brain.place_of(path) is None
    for path in ("Daily/prompt.md", "Brain/GEMINI.md", "agents/helper.md", "parachute/memory.md"):
        assert brain.place_of(f"contexts/{path}") == path
