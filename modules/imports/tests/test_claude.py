"""Artifacts, files and voice of Claude, and its export since August 2026: a list, and an archive for each kind of thing."""

import json
from pathlib import Path
from typing import Any

from reading_once import Read, read

from tests.chat.imports.exports import claude_conversation, claude_message, packed

UNSUPPORTED = "```\nThis block is not supported on your current device yet.\n```"


def talk(folder: Path, *messages: dict[str, Any]) -> Read:
    """Read one conversation."""
    found = read(folder, json.dumps([claude_conversation(chat_messages=list(messages))]).encode())
    assert found.errors == []
    return found


def call(number: int, *blocks: dict[str, Any], text: str = "") -> dict[str, Any]:
    """An answer with these blocks."""
    said = [{"type": "text", "text": text}] if text else []
    return claude_message(number, "assistant", "", content=[*said, *blocks])


def artifact(command: str, **arguments: Any) -> dict[str, Any]:
    """A call that makes or changes an artifact."""
    return {"type": "tool_use", "name": "artifacts", "input": {"id": "plan", "command": command, **arguments}}


def test_an_artifact_stands_as_it_is_in_the_end_where_it_changed_last(tmp_path: Path) -> None:
    made = artifact("create", type="text/markdown", title="The plan", content="A pond in the north.")
    changed = artifact("update", old_str="north", new_str="west")
    code = {"id": "code", "type": "application/vnd.ant.code", "language": "python", "content": "print(1)"}
    found = talk(
        tmp_path,
        claude_message(1, "human", "Write a plan."),
        call(2, made, text="Here."),
        claude_message(3, "human", "West."),
        call(4, changed, artifact("create", **code), artifact("rewrite", id="unheard"), text="Done."),
    )
    assert found.said["Kettles"] == [
        ("user", "Write a plan."),
        ("assistant", "Here."),
        ("user", "West."),
        ("assistant", "Done."),
        ("assistant", "[Document: The plan]\n\nA pond in the west."),
        ("assistant", "[Document: Document]\n\n```python\nprint(1)\n```"),
    ]
    assert found.conversations[0]["documents"] == 2
    assert found.left_out == {"tool_calls": 1, "versions": 1}


def test_files_that_it_wrote_are_documents(tmp_path: Path) -> None:
    made = {"type": "tool_use", "name": "create_file", "input": {"path": "/home/a.md", "file_text": "One."}}
    changed = {"path": "/home/a.md", "old_str": "One", "new_str": "Two"}
    unknown = {**changed, "path": "/home/other.md"}
    calls = [{"type": "tool_use", "name": "str_replace", "input": each} for each in (changed, unknown)]
    found = talk(tmp_path, claude_message(1, "human", "?"), call(2, made, *calls))
    assert found.said["Kettles"][1] == ("assistant", "[Document: a.md]\n\nTwo.")
    assert found.left_out == {"tool_calls": 1}


def test_what_another_device_could_not_show_is_not_what_was_said(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": f"Before.\n\n{UNSUPPORTED}\n\nAfter."}]
    found = talk(
        tmp_path,
        claude_message(1, "human", UNSUPPORTED, content=[]),
        claude_message(2, "assistant", "", content=blocks),
    )
    assert found.said["Kettles"] == [("assistant", "Before.\n\n\n\nAfter.")]


def test_voice_notes_have_a_text_and_unknown_blocks_a_name(tmp_path: Path) -> None:
    blocks = [{"type": "voice_note", "text": "Ahoy."}, {"type": "hologram"}]
    found = talk(tmp_path, claude_message(1, "human", "", content=blocks))
    assert (found.said["Kettles"], found.left_out) == ([("user", "Ahoy.")], {"unknown_content:hologram": 1})


def project(uuid: str, name: str = "Boat", *documents: tuple[str, str], **more: Any) -> dict[str, Any]:
    """A project with documents."""
    docs = [{"uuid": f"{uuid}{n}-doc", "filename": name, "content": text} for n, (name, text) in enumerate(documents)]
    return {"uuid": uuid, "name": name, "docs": docs, **more}


def test_no_two_documents_have_one_name(tmp_path: Path) -> None:
    projects = [
        project("aaaaaaaaaa", "Boat", ("plan.md", "1"), ("Plan.md", "2"), description="Of a boat."),
        project("bbbbbbbbbb", "Boat", ("plan.md", "3")),
    ]
    found = read(tmp_path, packed({"projects.json": json.dumps(projects)}), "claude")
    assert found.files == {
        "Boat/Description.md": b"Of a boat.",
        "Boat/plan.md": b"1",
        "Boat/Plan (aaaaaaaa).md": b"2",
        "Boat (bbbbbbbb)/plan.md": b"3",
    }


DESIGN = {
    "uuid": "d-1",
    "title": "Landing page",
    "messages": [
        {"uuid": "x", "role": "user", "content": {"content": "Make it blue.", "attachments": []}},
        {"uuid": "y", "role": "assistant", "content": {"contentBlocks": [{"type": "text", "text": "It is."}]}},
    ],
}
MEMORY = {
    "account_uuid": "acc",
    "conversations_memory": "Builds boats.",
    "project_memories": {"p-1": "Ends in May.", "p-2": "?"},
    "memory_files": [{"path": "/areas/../boats.md", "content": "Two boats."}],
}
LISTED = ("conversations-000.zip", "projects-000.zip", "memories-000.zip", "design_chats-000.zip", "frames-000.zip")


def manifest(*names: str) -> str:
    """The list of an export's archives."""
    return json.dumps({"export_uuid": "e", "data_files": [{"category": "x", "filename": name} for name in names]})


def archives() -> dict[str, bytes]:
    """The archives of an export."""
    inner = {
        "conversations-000.zip": {"conversations.json": json.dumps([claude_conversation()])},
        "projects-000.zip": {"projects/p-1.json": json.dumps(project("p-1", "Refit", ("plan.md", "# Plan")))},
        "memories-000.zip": {"memories/acc.json": json.dumps(MEMORY)},
        "design_chats-000.zip": {"design_chats/d-1.json": json.dumps(DESIGN)},
        "light_metadata-000.zip": {"users.json": "[]", "login_history.json": "[]"},
    }
    return {name: packed(dict(files)) for name, files in inner.items()}


def test_an_export_of_august_2026_comes_whole(tmp_path: Path) -> None:
    files = {f"export/{name}": data for name, data in archives().items()}
    found = read(tmp_path, packed({"export/manifest-e1.json": manifest(*LISTED), **files}))
    assert (found.errors, found.kind) == ([], "claude")
    assert found.said["Landing page"] == [("user", "Make it blue."), ("assistant", "It is.")]
    assert found.titles() == ["Kettles", "Landing page"]
    assert found.files == {
        "Refit/plan.md": b"# Plan",
        "Memory/Conversations.md": b"Builds boats.",
        "Memory/Projects/Refit.md": b"Ends in May.",
        "Memory/Projects/p-2.md": b"?",
        "Memory/Files/areas/boats.md": b"Two boats.",
    }
    assert found.left_out["archives_missing:frames-000.zip"] == 1
    assert found.left_out["other_files:light_metadata-000.zip"] == 2
    assert not (tmp_path / "upload" / "inner").exists()


def test_each_archive_is_known_alone(tmp_path: Path) -> None:
    for kind in ("auto", "claude"):
        for name, count in {"projects-000.zip": 1, "memories-000.zip": 4}.items():
            assert len(read(tmp_path, archives()[name], kind).files) == count
        assert read(tmp_path, archives()["design_chats-000.zip"], kind).titles() == ["Landing page"]


def test_a_list_without_its_archives_names_them(tmp_path: Path) -> None:
    for data in (manifest(*LISTED).encode(), packed({"manifest-e1.json": manifest(*LISTED)})):
        for kind in ("auto", "claude"):
            (sentence,) = read(tmp_path, data, kind).errors
            assert all(name in sentence for name in LISTED)


def test_an_archive_in_an_archive_in_an_archive_is_not_opened(tmp_path: Path) -> None:
    inner = packed({"conversations.json": json.dumps([claude_conversation()])})
    for depth, count in ((1, 1), (2, 0)):
        inner = packed({"conversations.zip": inner})
        assert len(read(tmp_path, inner).conversations) == count, depth
