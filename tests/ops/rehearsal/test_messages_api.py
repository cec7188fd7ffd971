"""The scripted model, as the agents' program asks it."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from parachute.ops.rehearsal.messages_api import ScriptedModel
from tests.support.installation import PLAIN

TOOLS = [{"name": "Bash"}]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    found = ScriptedModel("the marker", "date", "All is well.")
    with found.running():
        yield found


def asked(model: ScriptedModel, messages: list[Any], **fields: Any) -> httpx2.Response:
    body = {"model": "m", "messages": messages, "max_tokens": 100, **fields}
    return httpx2.post(f"{model.url}/v1/messages?beta=true", json=body, timeout=60, **PLAIN)


def test_a_tool_and_then_the_answer(model: ScriptedModel) -> None:
    messages: list[Any] = [{"role": "user", "content": "Here is the marker."}]
    called = asked(model, messages, tools=TOOLS).json()
    assert called["stop_reason"] == "tool_use"
    (call,) = called["content"]
    assert (call["name"], call["input"]) == ("Bash", {"command": "date"})
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "today"}
    messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    answered = asked(model, messages, tools=TOOLS).json()
    assert (answered["stop_reason"], answered["content"][0]["text"]) == ("end_turn", "All is well.")


@pytest.mark.parametrize(("text", "tools"), [("Something else.", TOOLS), ("A title for the marker.", [])])
def test_what_belongs_to_no_rehearsal_is_answered_shortly(model: ScriptedModel, text: str, tools: list[Any]) -> None:
    answered = asked(model, [{"role": "user", "content": text}], tools=tools).json()
    assert answered["content"] == [{"type": "text", "text": "ok"}]


def test_a_stream_has_the_same_in_pieces(model: ScriptedModel) -> None:
    response = asked(model, [{"role": "user", "content": "the marker"}], tools=TOOLS, stream=True)
    kinds = [line.removeprefix("event: ") for line in response.text.splitlines() if line.startswith("event: ")]
    assert kinds == [
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("message_delta", "message_stop"),
    ]
    assert '\\"command\\": \\"date\\"' in response.text


def test_tokens_are_counted_and_nonsense_is_refused(model: ScriptedModel) -> None:
    counted = httpx2.post(f"{model.url}/v1/messages/count_tokens", json={"messages": []}, timeout=60, **PLAIN)
    assert counted.json() == {"input_tokens": 1}
    assert httpx2.post(f"{model.url}/v1/messages", content=b"[", timeout=60, **PLAIN).status_code == 400
