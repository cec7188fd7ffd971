"""F3: bodies that are short to send and long to read."""

import json

import httpx2
import pytest

from tests.support.computer import Computer
from tests.support.installation import PLAIN


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"[]," * 5_000_000 + b"[]]",
        json.dumps({f"unknown{number}": 1 for number in range(150_000)}).encode(),
        json.dumps({"message": "x", "attachments": [1] * 150_000}).encode(),
    ],
    ids=["lists", "unknown keys", "wrong values"],
)
def test_very_many_values_are_not_looked_at(computer: Computer, body: bytes) -> None:
    core = computer.find_process("parachute.server")
    with httpx2.Client(base_url=computer.url, timeout=60, **PLAIN) as client:
        before = core.memory_info().rss
        response = client.post("/api/chat", content=body, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["key"]) == (413, "too_many_values")
    assert core.memory_info().rss - before < 150_000_000


def test_a_long_text_is_one_value(computer: Computer) -> None:
    text = '{"a": [1, 2, 3]}, ' * 5_000
    with httpx2.Client(base_url=computer.url, timeout=60, **PLAIN) as client:
        response = client.post("/api/chat", json={"message": text, "session_id": "no such"})
    assert response.json().get("key") != "too_many_values"


def test_of_many_problems_five_are_named(computer: Computer) -> None:
    wrong = {"message": "x", "contexts": [1] * 100, "attachments": [{"type": 1}] * 20}
    with httpx2.Client(base_url=computer.url, timeout=60, **PLAIN) as client:
        response = client.post("/api/chat", json=wrong)
    assert response.status_code == 422
    *named, rest = response.json()["detail"].split("; ")
    assert len(named) == 5
    assert rest == "and 135 more."
