"""Parts of the command line program's request that reach the model."""

import json
from typing import Any

import pytest

from parachute.base.errors import InvalidInput
from parachute.llm.offline.conversation import Turn, reduce_conversation, without_reminders
from parachute.llm.offline.request import parse_request
from tests.llm.offline.recorded import CLI_REQUEST
from tests.support.errors import raises


def reduced(*messages: dict[str, Any]) -> list[Turn]:
    request = parse_request(json.dumps({"model": "m", "messages": messages}).encode())
    return reduce_conversation(request.messages)


def test_a_request_of_the_command_line_program_becomes_plain_conversation() -> None:
    request = parse_request(json.dumps(CLI_REQUEST).encode())
    assert reduce_conversation(request.messages) == [
        Turn("user", "What is a journal good for?"),
        Turn("assistant", "For keeping thoughts."),
        Turn("user", "And for whom?"),
    ]
    assert (request.model, request.stream, request.max_tokens) == ("claude-opus-5-5", True, 128_000)


def test_tools_become_short_text_and_thinking_vanishes() -> None:
    turns = reduced(
        {"role": "user", "content": "Look at a.txt"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "secret", "signature": "x"},
                {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a.txt", "x": "y" * 5000}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t",
                    "content": [{"type": "text", "text": "line " * 5000}, {"type": "image", "source": {}}],
                },
                {"type": "tool_result", "tool_use_id": "u", "is_error": True, "content": "no such file"},
                {"type": "image", "source": {}},
            ],
        },
    )
    assert [turn.role for turn in turns] == ["user", "assistant", "user"]
    assert turns[1].text.startswith('[used the tool Read: {"file_path": "a.txt"')
    assert "secret" not in turns[1].text
    assert turns[2].text.startswith("[the tool answered: line line")
    assert turns[2].text.endswith("[the tool failed: no such file]\n\n[image]")
    assert all(len(turn.text) < 1000 for turn in turns)


def test_consecutive_turns_merge_and_the_ends_belong_to_the_user() -> None:
    assert reduced(
        {"role": "assistant", "content": "Earlier."},
        {"role": "user", "content": "One"},
        {"role": "system", "content": "Not for this model."},
        {"role": "user", "content": [{"type": "text", "text": "Two"}]},
        {"role": "assistant", "content": "{"},
    ) == [Turn("user", "One\n\nTwo")]


def test_reminders_go_and_a_tag_without_an_end_stays() -> None:
    assert without_reminders("<system-reminder>a</system-reminder>Hi<system-reminder>b</system-reminder>!") == "Hi!"
    assert without_reminders("What is <system-reminder>?") == "What is <system-reminder>?"


def test_many_open_tags_do_not_take_for_ever() -> None:
    text = "<system-reminder>" * 500_000
    assert without_reminders(text) == text


def test_nothing_from_the_user_is_an_error() -> None:
    with raises("no_user_message"):
        reduced({"role": "user", "content": "<system-reminder>only this</system-reminder>"})


@pytest.mark.parametrize(
    ("document", "named"),
    [
        (b"{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"\xff\xfe\xfa", "not valid JSON"),
        (b"[]", "JSON object"),
        (b"{}", "model"),
        (b'{"model":""}', "model"),
        (b'{"model":"m"}', "messages"),
        (b'{"model":"m","messages":[]}', "messages"),
        (b'{"model":"m","messages":["x"]}', r"messages\.0"),
        (b'{"model":"m","messages":[{"role":"tool","content":"x"}]}', r"messages\.0\.role"),
        (b'{"model":"m","messages":[{"role":["user"],"content":"x"}]}', r"messages\.0\.role"),
        (b'{"model":"m","messages":[{"role":"user"}]}', r"messages\.0\.content"),
        (b'{"model":"m","messages":[{"role":"user","content":[7]}]}', r"messages\.0\.content\.0"),
        (b'{"model":"m","messages":[{"role":"user","content":[{"type":"text"}]}]}', r"messages\.0\.content\.0\.text"),
        (b'{"model":"m","max_tokens":0,"messages":[{"role":"user","content":"x"}]}', "max_tokens"),
        (b'{"model":"m","max_tokens":true,"messages":[{"role":"user","content":"x"}]}', "max_tokens"),
        (b'{"model":"m","stream":1,"messages":[{"role":"user","content":"x"}]}', "stream"),
    ],
)
def test_a_bad_body_is_named(document: bytes, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        parse_request(document)
