"""The history of Claude Code is read as it is, whatever lies in its folder."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from parachute.base.errors import NotFound
from parachute.chat.claude_code_import.history import History
from tests.chat.sessions.shapes import SHAPES, Talk
from tests.support.errors import raises

from .writing import LATER, NOON, said, talk, write


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    """The folder of Claude Code."""
    (tmp_path / "claude" / "projects").mkdir(parents=True)
    return tmp_path / "claude"


def listed(claude: Path) -> list[str]:
    """The ids of all conversations, the newest first."""
    return [summary.session for summary in History(claude).newest(100)]


def test_what_a_conversation_says_of_itself(claude: Path) -> None:
    meta = said("user", "Caveat: made by the program", isMeta=True)
    command = said("user", "<command-name>/clear</command-name>")
    session = write(
        claude,
        "/home/ada/my-boat",
        {"type": "summary", "summary": "Old name"},
        {"type": "file-history-snapshot", "snapshot": {}},
        meta,
        command,
        *talk("/home/ada/my-boat"),
        {"type": "custom-title", "customTitle": "Kettles"},
        {"type": "ai-title", "aiTitle": "Made up"},
        {"type": "progress", "data": {"message": {"type": "assistant"}}},
        said("assistant", "aside", isSidechain=True),
    )
    (summary,) = History(claude).newest(100)
    assert summary.as_json() == {
        "sessionId": session,
        "title": "Kettles",
        "firstMessage": "Which kettle?",
        "messageCount": 4,
        "createdAt": NOON,
        "lastTimestamp": LATER,
        "model": "claude-opus-4-5",
        "cwd": "/home/ada/my-boat",
        "projectPath": "/home/ada/my-boat",
        "projectDisplayName": "home/ada/my-boat",
    }


def test_what_was_taken_back_is_not_shown_before_it_is_adopted(claude: Path) -> None:
    talk = Talk()
    SHAPES["branches: gone back"](talk)
    history = History(claude)
    found = history.find(write(claude, "/a", talk.content))[0]
    shown = [(each["type"], each["content"]) for each in history.messages(found)]
    assert shown == [("user", "asked1"), ("assistant", "answered2"), ("user", "asked7"), ("assistant", "answered8")]


def test_a_question_with_a_large_picture_is_read(claude: Path) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 3_000_000}}
    question = said("user", [picture, {"type": "text", "text": "Which boat is this?"}], "/a")
    session = write(claude, "/a", question, *talk("/a"))
    history = History(claude)
    found, summary = history.find(session)
    assert (summary.first_message, summary.message_count) == ("Which boat is this?", 3)
    assert history.messages(found)[0]["content"] == "Which boat is this?"


def test_a_conversation_that_was_named_in_its_middle_keeps_its_name(claude: Path) -> None:
    later = [said("user", [{"type": "tool_result", "tool_use_id": "t", "content": "x" * 10_000}]) for _ in range(40)]
    name = {"type": "custom-title", "customTitle": "My harbour"}
    write(claude, "/home/ada/my-boat", *talk("/home/ada/my-boat"), name, *later)
    assert [summary.title for summary in History(claude).newest(1)] == ["My harbour"]
    long = [said("user", [{"type": "tool_result", "tool_use_id": "t", "content": "x" * 1_000_000}])] * 40
    write(claude, "/home/ada/my-boat", *talk("/home/ada/my-boat"), *long, name, *later)
    assert [summary.title for summary in History(claude).newest(2)] == ["My harbour"] * 2


def test_projects_that_share_a_folder_are_told_apart(claude: Path) -> None:
    first = write(claude, "/home/ada/my-boat", *talk("/home/ada/my-boat"), at=1_000)
    second = write(claude, "/home/ada/my/boat", *talk("/home/ada/my/boat"), at=3_000)
    # A conversation that went elsewhere later belongs to where it began.
    moved = [said("user", "cd", "/home/ada/other"), *talk("/home/ada/my/boat")]
    third = write(claude, "/home/ada/my/boat", *moved, at=2_000)
    history = History(claude)
    folder = "-home-ada-my-boat"
    assert history.projects() == [
        {"encodedName": folder, "path": "/home/ada/my/boat", "sessionCount": 2},
        {"encodedName": folder, "path": "/home/ada/my-boat", "sessionCount": 1},
    ]
    assert [summary.session for summary in history.newest(100, "/home/ada/my/boat")] == [second, third]
    assert [summary.session for summary in history.newest(100, "/home/ada/my-boat")] == [first]
    assert [summary.session for summary in history.newest(2)] == [second, third]
    with pytest.raises(NotFound):
        history.find(first, "/home/ada/my/boat")


def test_a_file_that_goes_on_is_read_again(claude: Path) -> None:
    session = write(claude, "/a", *talk("/a"), at=1_000)
    history = History(claude)
    assert history.find(session)[1].message_count == 2
    write(claude, "/a", *talk("/a"), said("user", "Thanks.", "/a"), session=session, at=2_000)
    assert history.find(session)[1].message_count == 3


def test_only_conversations_are_listed(claude: Path) -> None:
    session = write(claude, "/a", *talk("/a"))
    folder = claude / "projects" / "-a"
    for name in ("agent-1234.jsonl", "notes.jsonl", f"{session}.json", f"{session.upper()}x.jsonl"):
        (folder / name).write_text(json.dumps(said("user", "Hi", "/a")))
    write(claude, "/a", {"type": "summary", "summary": "Nothing was said"})
    # Where the vault is the home folder, this computer's own conversations lie there.
    own = claude / "projects" / "-scratch-x"
    own.mkdir()
    (folder / f"{session}.jsonl").rename(own / f"{session}.jsonl")
    assert listed(claude) == []
    (own / f"{session}.jsonl").rename(folder / f"{session}.jsonl")
    assert listed(claude) == [session]


@pytest.mark.parametrize("kind", ["link", "linked folder", "pipe", "folder", "changed to a link"])
async def test_nothing_outside_of_it_is_read(claude: Path, tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "elsewhere"
    session = write(secret, "/a", *talk("/a"))
    original = secret / "projects" / "-a" / f"{session}.jsonl"
    folder = claude / "projects" / "-a"
    path = folder / f"{session}.jsonl"
    history = History(claude)
    if kind == "linked folder":
        folder.symlink_to(original.parent)
    else:
        folder.mkdir()
    if kind == "link":
        path.symlink_to(original)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "changed to a link":
        write(claude, "/a", *talk("/a"), session=session)
        found = history.find(session)[0]
        path.unlink()
        path.symlink_to(original)
        assert history.messages(found) == []
        with pytest.raises(NotFound):
            history.copy(found, tmp_path / "copy")
        assert not (tmp_path / "copy").exists()
    assert await asyncio.wait_for(asyncio.to_thread(history.newest, 100), 60) == []
    assert history.projects() == []
    with pytest.raises(NotFound):
        history.find(session)


HOSTILE = {
    "not json": b"{not json\n",
    "zeroes": b"\0" * 3_000_000 + b"\n",
    "deep": b'{"type":"user","cwd":' + b"[" * 100_000 + b"\n",
    "deep title": b'{"type":"custom-title","customTitle":' + b"[" * 20_000 + b"\n",
    "huge number": b'{"type":"summary","summary":' + b"9" * 5000 + b"}\n",
    "wrong types": b'{"type":["user"],"cwd":7,"summary":[]}\n{"type":"custom-title","customTitle":{}}\n',
    "no folder": b'{"type":"user","cwd":"relative"}\n{"type":"user","cwd":"/a\\u0000b"}\n',
    "halves of characters": b'{"type":"user","message":{"content":"\\ud800"},"isMeta":true}\n',
    "not utf-8": b'{"type":"user","message":{"content":"\xff"}}\n',
    "a list": b"[1]\n",
    "no message": b'{"type":"assistant"}\n{"type":"assistant","message":{"content":"x","model":""}}\n',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_lines_that_are_none_hide_no_others(claude: Path, name: str) -> None:
    session = write(claude, "/a", HOSTILE[name], *talk("/a"), HOSTILE[name])
    history = History(claude)
    found, summary = history.find(session, "/a")
    texts = [message["content"] for message in history.messages(found)]
    assert [text for text in texts if "kettle" in text or "red" in text] == ["Which kettle?", "The red one."]
    assert summary.last_timestamp == LATER or name == "zeroes"


def test_halves_of_characters_become_question_marks(claude: Path) -> None:
    line = b'{"type":"user","cwd":"/a","message":{"content":"\\ud800 tea"}}\n{"type":"ai-title","aiTitle":"\\udfff"}\n'
    session = write(claude, "/a", line)
    summary = History(claude).find(session)[1]
    assert (summary.first_message, summary.title) == ("? tea", "?")


@pytest.mark.long
def test_a_sparse_file_of_a_gigabyte(claude: Path, tmp_path: Path) -> None:
    good = write(claude, "/a", *talk("/a"), at=1_000)
    empty = write(claude, "/a")
    large = write(claude, "/a", *talk("/a"))
    for session in (empty, large):
        os.truncate(claude / "projects" / "-a" / f"{session}.jsonl", 1024**3)
    assert sorted(listed(claude)) == sorted([good, large])
    history = History(claude)
    found, _ = history.find(large)
    assert len(history.messages(found)) == 2
    with raises("too_long"):
        history.copy(found, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_copy_ends_with_a_whole_line(claude: Path, tmp_path: Path) -> None:
    session = write(claude, "/a", *talk("/a"), b'{"type":"us')
    history = History(claude)
    history.copy(history.find(session)[0], tmp_path / "copy")
    original = (claude / "projects" / "-a" / f"{session}.jsonl").read_bytes()
    assert (tmp_path / "copy").read_bytes() == original + b"\n"


def test_without_claude_code(tmp_path: Path) -> None:
    history = History(tmp_path / "absent")
    assert (history.newest(10), history.projects()) == ([], [])
    (tmp_path / "absent").write_text("a file")
    assert history.newest(10) == []
