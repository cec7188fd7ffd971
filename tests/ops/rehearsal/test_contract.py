"""The shapes of answers that the app needs."""

from typing import Any

import pytest

from parachute.ops.rehearsal.contract import CALLS, found_at, problems

SHAPE = {"sessions": [{"id": str, "messageCount": int, "archived": bool, "title?": str}], "modified?": float}


@pytest.mark.parametrize(
    "answer",
    [
        {"sessions": []},
        {"sessions": [{"id": "a", "messageCount": 0, "archived": False, "more": 1}], "modified": 1},
        {"sessions": [{"id": "a", "messageCount": 0, "archived": True, "title": None}], "modified": 1.5},
    ],
)
def test_an_answer_that_has_everything(answer: Any) -> None:
    assert list(problems(answer, SHAPE)) == []


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([], "the answer is list, not an object"),
        ({}, "the answer has no sessions"),
        ({"sessions": None}, "the answer has no sessions"),
        ({"sessions": {}}, "the answer.sessions is dict, not a list"),
        ({"sessions": [{"id": 1, "messageCount": 0, "archived": False}]}, "the answer.sessions[0].id is int, not str"),
        ({"sessions": [{"id": "a", "messageCount": 1.0, "archived": False}]}, "messageCount is float, not int"),
        ({"sessions": [{"id": "a", "messageCount": True, "archived": False}]}, "messageCount is bool, not int"),
        ({"sessions": [{"id": "a", "messageCount": 1, "archived": 0}]}, "archived is int, not bool"),
        ({"sessions": [], "modified": "1"}, "the answer.modified is str, not float"),
    ],
)
def test_an_answer_on_which_the_app_cannot_go_on(answer: Any, says: str) -> None:
    (found,) = problems(answer, SHAPE)
    assert found.endswith(says)


def test_a_name_is_found_before_a_request_needs_it() -> None:
    found: set[str] = set()
    for call in CALLS:
        needed = {part.partition("}")[0] for part in call.path.split("{")[1:]}
        assert needed <= found, call.path
        found |= call.finds.keys()
    assert found_at({"sessions": [{"id": "a"}]}, ("sessions", 0, "id")) == "a"
    assert found_at({"sessions": []}, ("sessions", 0, "id")) is None
