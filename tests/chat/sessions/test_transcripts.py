"""Transcripts: found, read in parts, and read as something that anybody may have written."""

import asyncio
import copy
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parachute.base.errors import NotFound
from parachute.base.signatures import JUST_NOW_NS
from parachute.chat.sessions.events import event_of
from parachute.chat.sessions.messages import assistant_text, messages_of, shows, user_text
from parachute.chat.sessions.transcripts import Transcripts
from parachute.config.vault.service import Vault
from tests.contract.dart import check
from tests.contract.sessions import SessionWithMessages
from tests.contract.transcripts import Transcript
from tests.support.auditing import audited
from tests.support.waiting import wait_until

from .conftest import SessionStorage, text_of

USER = {
    "type": "user",
    "uuid": "u1",
    "parentUuid": None,
    "timestamp": "2026-01-01T00:00:00.000Z",
    "message": {"role": "user", "content": "Which kettle?"},
}
ASSISTANT = {
    "type": "assistant",
    "uuid": "a1",
    "parentUuid": "u1",
    "timestamp": "2026-01-01T00:00:01.000Z",
    "message": {
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "x"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
        ],
    },
}
RESULT = {
    "type": "user",
    "uuid": "u2",
    "timestamp": "2026-01-01T00:00:02.000Z",
    "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "kettle.txt"}]},
    "toolUseResult": {"stdout": "kettle.txt"},
}
BOUNDARY = {"type": "system", "subtype": "compact_boundary", "uuid": "s1", "timestamp": "2026-01-01T00:00:03.000Z"}
SUMMARY = {"type": "user", "uuid": "u3", "isCompactSummary": True, "message": {"content": "Summary."}}
SECOND = {**USER, "uuid": "u4", "parentUuid": "u3"}
THIRD = [{**BOUNDARY, "uuid": "s2"}, {**SUMMARY, "uuid": "u5"}, {**ASSISTANT, "uuid": "a2", "parentUuid": "u5"}]
HIDDEN = [{"type": "summary", "summary": "x"}, {**USER, "isSidechain": True}, {"type": "file-history-snapshot"}]


def jsonl(*events: Any) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


async def read(
    storage: SessionStorage, session: str = "a", *, full: bool = False, segment: int | None = None
) -> dict[str, Any]:
    body = json.loads(await storage.service.transcript(session, full=full, segment=segment))
    check(Transcript, body)
    assert isinstance(body, dict)
    return body


@pytest.fixture
async def with_transcript(storage: SessionStorage) -> SessionStorage:
    await storage.add("a")
    first = [USER, ASSISTANT, RESULT, *HIDDEN]
    storage.write_transcript("a", jsonl(*first, BOUNDARY, SUMMARY, SECOND, *THIRD))
    return storage


def ids(answer: dict[str, Any]) -> list[str]:
    return [event["uuid"] for event in answer["events"]]


async def test_the_newest_segment(with_transcript: SessionStorage) -> None:
    answer = await read(with_transcript)
    assert ids(answer) == ["s2", "u5", "a2"]
    assert (answer["segmentCount"], answer["loadedSegmentIndex"], answer["eventCount"]) == (3, 2, 9)
    assert [segment["loaded"] for segment in answer["segments"]] == [False, False, True]
    assert [segment["isCompacted"] for segment in answer["segments"]] == [True, True, False]
    first = answer["segments"][0]
    assert (first["messageCount"], first["eventCount"], first["preview"]) == (3, 3, "Which kettle?")
    assert (first["startTime"], first["endTime"]) == ("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:02.000Z")


async def test_all_and_one(with_transcript: SessionStorage) -> None:
    answer = await read(with_transcript, full=True)
    assert ids(answer) == ["u1", "a1", "u2", "s1", "u3", "u4", "s2", "u5", "a2"]
    assert all(segment["loaded"] for segment in answer["segments"])
    assert answer["loadedSegmentIndex"] is None
    answer = await read(with_transcript, segment=0)
    assert ids(answer) == ["u1", "a1", "u2"]
    assert answer["loadedSegmentIndex"] == 0
    answer = await read(with_transcript, segment=99)
    assert (ids(answer), answer["loadedSegmentIndex"]) == ([], None)


async def test_answers_to_a_question_are_json(storage: SessionStorage) -> None:
    await storage.add("a")
    answered = copy.deepcopy(RESULT)
    answered["toolUseResult"] = {"questions": [], "answers": {"Which one?": "Tea, please: ü"}}
    storage.write_transcript("a", jsonl(USER, ASSISTANT, answered))
    answer = await read(storage)
    (block,) = answer["events"][-1]["message"]["content"]
    assert json.loads(block["content"]) == {"answers": {"Which one?": "Tea, please: ü"}}


async def test_messages_join_calls_and_results(with_transcript: SessionStorage) -> None:
    body = json.loads(await with_transcript.service.with_messages("a"))
    check(SessionWithMessages, body)
    assert [message["role"] for message in body["messages"]] == [
        "user",
        "assistant",
        "user",
        "user",
        "user",
        "assistant",
    ]
    (text, call) = body["messages"][1]["content"]
    assert text == {"type": "text", "text": "Let me look."}
    assert call == {
        "type": "tool_use",
        "id": "t1",
        "name": "Bash",
        "input": {"command": "ls"},
        "result": "kettle.txt",
        "isError": False,
    }


async def test_without_a_transcript(storage: SessionStorage) -> None:
    await storage.add("a")
    with pytest.raises(NotFound):
        await storage.service.transcript("a", full=False, segment=None)
    assert json.loads(await storage.service.with_messages("a"))["messages"] == []
    with pytest.raises(NotFound):
        await storage.service.transcript("b", full=False, segment=None)


async def test_older_ones_are_found_where_the_program_kept_them(storage: SessionStorage) -> None:
    await storage.add("a")
    folder = storage.claude / "projects" / "-home-ada-notes"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(jsonl(USER))
    assert ids(await read(storage)) == ["u1"]
    in_vault = storage.vault.transcripts / "projects" / "-home-ada-Parachute"
    in_vault.mkdir(parents=True)
    (in_vault / "a.jsonl").write_bytes(jsonl(ASSISTANT))
    assert ids(await read(storage)) == ["a1"]
    assert storage.transcripts.bring("a")
    assert (storage.transcripts.folder("a") / "a.jsonl").exists()
    assert not (in_vault / "a.jsonl").exists()
    # What lies outside of the vault is not ours to remove.
    await storage.service.delete("a")
    assert (folder / "a.jsonl").exists()


def test_folders_that_have_just_changed_are_listed_again_whatever_time_they_bear(tmp_path: Path) -> None:
    root = tmp_path / "claude" / "projects"
    root.mkdir(parents=True)
    transcripts = Transcripts(Vault(tmp_path / "vault"), root.parent)

    def is_listed_twice() -> bool:
        # On a loaded machine it may have changed long ago when it is listed.
        os.utime(root, (1_700_000_000, 1_700_000_000))
        listed: list[object] = []
        with audited(lambda event, arguments: listed.append(arguments) if event == "os.scandir" else None):
            assert transcripts.find("a") is None
            assert transcripts.find("a") is None
        return len(listed) == 2

    wait_until(is_listed_twice, "it is listed twice", seconds_between=2 * JUST_NOW_NS / 1e9)


@pytest.mark.parametrize("left", [b"", b"\0" * 4096, b'{"type": "queue-operation"}\n{"type": "us'])
async def test_what_a_power_cut_has_left_is_no_transcript_to_go_on_with(storage: SessionStorage, left: bytes) -> None:
    await storage.add("a")
    own = storage.transcripts.folder("a") / "a.jsonl"
    own.parent.mkdir(parents=True)
    own.write_bytes(left)
    assert not storage.transcripts.bring("a")
    assert not own.exists(), "the program begins none while there is one of the name"
    own.write_bytes(jsonl(USER) + left)
    assert storage.transcripts.bring("a")
    assert own.read_bytes() == jsonl(USER) + left + (b"" if left[-1:] in (b"", b"\n") else b"\n")


async def test_another_sandbox_cannot_lay_one_there(storage: SessionStorage) -> None:
    await storage.add("a")
    foreign = storage.transcripts.folder("b")
    foreign.mkdir(parents=True)
    (foreign / "a.jsonl").write_bytes(jsonl(USER))
    assert storage.transcripts.find("a") is None


@pytest.mark.parametrize("kind", ["symlink", "folder", "pipe", "link of a folder", "root is a file"])
async def test_what_is_no_plain_file_is_not_read(storage: SessionStorage, kind: str, tmp_path: Path) -> None:
    await storage.add("a")
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(jsonl(USER))
    folder = storage.transcripts.folder("a")
    path = folder / "a.jsonl"
    folder.parent.mkdir(parents=True, exist_ok=True)
    if kind == "root is a file":
        folder.parent.rmdir()
        folder.parent.write_text("x")
    elif kind == "link of a folder":
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "a.jsonl").write_bytes(jsonl(USER))
        (folder.parent / "-else").symlink_to(tmp_path / "other")
    else:
        folder.mkdir()
        if kind == "symlink":
            path.symlink_to(secret)
        elif kind == "folder":
            path.mkdir()
        else:
            os.mkfifo(path)
    with pytest.raises(NotFound):
        await asyncio.wait_for(storage.service.transcript("a", full=True, segment=None), 60)
    assert json.loads(await asyncio.wait_for(storage.service.with_messages("a"), 60))["messages"] == []


LINES = {
    "not json": b"{not json\n",
    "no utf-8": b'{"type":"user","message":{"content":"\xff\xfe"}}\n',
    "halves of characters": b'{"type":"user","uuid":"s","message":{"content":"\\ud800 \\udfff"}}\n',
    "deep": b'{"type":"user","message":{"content":' + b"[" * 100_000 + b"]" * 100_000 + b"}}\n",
    "deep input": b'{"type":"user","toolUseResult":' + b'{"a":' * 600 + b"1" + b"}" * 600 + b"}\n",
    "huge number": b'{"type":"user","timestamp":' + b"9" * 5000 + b"}\n",
    "large number": b'{"type":"user","uuid":"s","timestamp":' + b"9" * 400 + b"}\n",
    "nan": b'{"type":"user","x":NaN}\n',
    "infinite": b'{"type":"user","x":1e999}\n',
    "a list": b"[1,2]\n",
    "a text": b'"user"\n',
    "null": b"null\n",
    "type of a wrong type": b'{"type":{"a":1}}\n',
    "nothing": b"\n\n\n",
    "zeroes": b"\0" * 1000 + b"\n",
    "no end": b'{"type":"user"',
}


async def test_a_line_that_is_none_hides_no_other(storage: SessionStorage) -> None:
    for number, (name, line) in enumerate(LINES.items()):
        session = f"s{number}"
        await storage.add(session)
        storage.write_transcript(session, jsonl(USER) + line + b"\n" + jsonl(ASSISTANT))
        answer = await read(storage, session, full=True)
        shown = [event["uuid"] for event in answer["events"] if event.get("uuid") in ("u1", "a1")]
        assert shown == ["u1", "a1"], name
        check(SessionWithMessages, json.loads(await storage.service.with_messages(session)))
    await storage.service.search_index.rebuild()


async def test_the_pieces_of_a_long_line_are_no_lines(storage: SessionStorage) -> None:
    await storage.add("a")
    forged = jsonl({"type": "user", "uuid": "forged", "message": {"content": "x"}})
    storage.write_transcript("a", jsonl(USER) + b" " * (16 * 1024 * 1024) + forged + jsonl(ASSISTANT))
    assert ids(await read(storage, full=True)) == ["u1", "a1"]


async def test_the_newest_are_kept_of_what_is_too_much(storage: SessionStorage) -> None:
    await storage.add("a")
    events = [{**USER, "uuid": f"u{number}", "message": {"content": "x" * 100_000}} for number in range(200)]
    storage.write_transcript("a", jsonl(*events))
    body = await storage.service.transcript("a", full=True, segment=None)
    answer = json.loads(body)
    assert len(body) < 9 * 1024 * 1024
    assert answer["eventCount"] == 200
    assert ids(answer)[-1] == "u199"
    assert 50 < len(answer["events"]) < 100


async def test_more_boundaries_than_segments(storage: SessionStorage) -> None:
    await storage.add("a")
    storage.write_transcript("a", jsonl(BOUNDARY) * 2_000)
    assert (await read(storage))["segmentCount"] == 1000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
QUEUED = {
    "type": "attachment",
    "uuid": "q1",
    "attachment": {"type": "queued_command", "prompt": "x", "commandMode": "prompt"},
}
COMMAND = {"type": "system", "subtype": "local_command", "content": "<local-command-stdout>x</local-command-stdout>"}
SAMPLES = [USER, ASSISTANT, RESULT, BOUNDARY, SUMMARY, QUEUED, COMMAND]


def mutated(event: Any, seed: int, value: Any) -> Any:
    """A copy of an event with one member, at any depth, replaced by `value`."""
    changed = copy.deepcopy(event)
    places: list[tuple[Any, Any]] = []

    def walk(inner: Any) -> None:
        for key, item in list(inner.items()) if isinstance(inner, dict) else list(enumerate(inner)):
            places.append((inner, key))
            if isinstance(item, dict | list):
                walk(item)

    walk(changed)
    container, key = random.Random(seed).choice(places)
    container[key] = value
    return changed


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutations=st.lists(st.tuples(st.sampled_from(SAMPLES), st.integers(0, 1000), JSON), min_size=1, max_size=5))
def test_whatever_is_in_it_the_app_can_read_the_answer(
    tmp_path: Path, mutations: list[tuple[dict[str, Any], int, Any]]
) -> None:
    vault = Vault(tmp_path / "vault")
    transcripts = Transcripts(vault, tmp_path / "claude")
    folder = transcripts.folder("a")
    folder.mkdir(parents=True, exist_ok=True)
    lines = [mutated(event, seed, value) for event, seed, value in mutations]
    (folder / "a.jsonl").write_bytes(jsonl(*SAMPLES, *lines, *SAMPLES))
    kinds: tuple[Any, ...] = ("last", "all", 0)
    for kept in kinds:
        found = transcripts.read("a", kept)
        assert found is not None
        body = json.loads(found.as_json("a"), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        check(Transcript, body)
    found = transcripts.read("a")
    assert found is not None
    events = list(found.events)
    check(SessionWithMessages, {"id": "a", "messages": messages_of(events)})
    for event in events:
        for text in (user_text(event), assistant_text(event)):
            assert text is None or isinstance(text, str)


def shown(*lines: Any) -> list[tuple[str, str]]:
    """Role and text of each message that people see of some lines."""
    found = (event_of(line if isinstance(line, bytes) else json.dumps(line).encode()) for line in lines)
    events = [each[0] for each in found if each]
    messages = messages_of(events)
    assert len(messages) == sum(shows(event) for event in events)
    return [(each["role"], text_of(each)) for each in messages]


def said(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def test_a_command_that_the_program_answers_is_a_turn_like_others() -> None:
    command = {"type": "system", "subtype": "local_command"}
    context = "<command-name>/context</command-name>\n<command-message>context</command-message>\n"
    assert shown(
        {**command, "content": "/help"},
        {**command, "content": "<local-command-stdout>/help isn't available.</local-command-stdout>"},
        said("<local-command-caveat>The command …", isMeta=True),
        said(f"{context}<command-args>all</command-args>"),
        {**command, "content": "<local-command-stdout>## Usage\nLittle.</local-command-stdout>"},
        {**command, "content": ["no text"]},
        said("<command-name>/compact</command-name>"),
        said("<local-command-stdout>\x1b[2mCompacted\x1b[22m</local-command-stdout>"),
    ) == [
        ("user", "/help"),
        ("assistant", "/help isn't available."),
        ("user", "/context all"),
        ("assistant", "## Usage\nLittle."),
        ("user", "/compact"),
        ("assistant", "Compacted"),
    ]


def test_what_the_program_writes_in_the_persons_name_is_not_theirs() -> None:
    opened = {"type": "text", "text": "<ide_opened_file>The user opened x.py</ide_opened_file>"}
    assert shown(
        said("<task-notification>\n<task-id>a1</task-id>\n</task-notification>"),
        said([opened, {"type": "text", "text": "Second question"}]),
        said([opened]),
        said("<bash-input>ls</bash-input>"),
        said("<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr><bash-exit-code>1</bash-exit-code>"),
        said('<cross-session-message from="b">hi</cross-session-message>'),
        said("<tick>12:00</tick>"),
        said('<teammate-message teammate_id="a">hi</teammate-message>'),
        said([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
        said("<ide_selection>x</ide_selection>\n<system-reminder>y</system-reminder>\n\nThird question"),
        said("<system-reminder>is a tag of the program</system-reminder> Where does it come from?"),
    ) == [
        ("user", "Second question"),
        ("user", "!ls"),
        ("assistant", "x"),
        ("user", "Third question"),
        ("user", "<system-reminder>is a tag of the program</system-reminder> Where does it come from?"),
    ]


@pytest.mark.parametrize(
    ("parents", "shown"),
    [
        ({}, ["u1", "a1", "u2", "a2", "u3", "a3"]),
        ({"u3": "a1"}, ["u1", "a1", "u3", "a3"]),
        ({"u3": "a1", "u4": "a2"}, ["u1", "a1", "u2", "a2", "u4", "a4"]),
        ({"u2": "u1"}, ["u1", "u2", "a2", "u3", "a3"]),
        ({"u3": "unknown"}, ["u1", "a1", "u2", "a2", "u3", "a3"]),
    ],
    ids=["straight", "gone back", "two programs", "an answer that broke off", "of a line that is not shown"],
)
async def test_what_was_taken_back_is_not_shown(
    storage: SessionStorage, parents: dict[str, str], shown: list[str]
) -> None:
    lines, before = [], None
    for name in ("u1", "a1", "u2", "a2", "u3", "a3", *(("u4", "a4") if "u4" in parents else ())):
        event = USER if name[0] == "u" else {**ASSISTANT, "message": {"content": [{"type": "text", "text": name}]}}
        lines.append({**event, "uuid": name, "parentUuid": parents.get(name, before)})
        before = name
    await storage.add("a")
    storage.write_transcript("a", jsonl(*lines, lines[0], lines[-1]))  # as a compaction writes some once more
    assert [message["id"] for message in json.loads(await storage.service.with_messages("a"))["messages"]] == shown
    assert ids(await read(storage)) == shown


async def test_what_was_said_into_a_running_turn_stays_said(storage: SessionStorage) -> None:
    def queued(text: Any, **more: Any) -> dict[str, Any]:
        attachment = {"type": "queued_command", "prompt": text, "commandMode": "prompt", **more}
        return {"type": "attachment", "uuid": "q1", "timestamp": "2026-01-01T00:00:02.000Z", "attachment": attachment}

    await storage.add("a")
    storage.write_transcript(
        "a",
        jsonl(
            USER,
            ASSISTANT,
            RESULT,
            queued("And mind the quail.", source_uuid="sent"),
            queued("x", commandMode="task-notification"),
            queued("<task-notification>x</task-notification>"),
            queued("x", origin={"kind": "peer"}),
            {"type": "attachment", "attachment": {"type": "file", "prompt": "x", "commandMode": "prompt"}},
            {**ASSISTANT, "uuid": "a2", "parentUuid": "q1"},
        ),
    )
    answer = await read(storage)
    assert ids(answer) == ["u1", "a1", "u2", "sent", "a2"]
    assert answer["events"][3]["message"]["content"] == "And mind the quail."
    messages = json.loads(await storage.service.with_messages("a"))["messages"]
    assert [message["id"] for message in messages] == ["u1", "a1", "sent", "a2"]
    await storage.service.search_index.update("a")
    assert "user: And mind the quail." in await storage.service.search_index.words("a")


def test_a_torn_line_and_a_mark_of_utf_8_lose_nothing_else() -> None:
    torn = b'{"parentUuid":null,"type":"assistant","message":{"content":[{"type":"te'
    line = json.dumps({"parentUuid": None, **said("Kept.")}, separators=(",", ":")).encode()
    assert shown(b"\xef\xbb\xbf" + line, torn, torn + line) == [("user", "Kept."), ("user", "Kept.")]
