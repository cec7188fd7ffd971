"""Data from a connector is read as untrusted."""

from typing import Any

import pytest

from parachute.base.errors import InvalidInput
from parachute.connectors.runtime.reading import read_identity, read_sent, read_state, read_updates


def update(**fields: Any) -> dict[str, Any]:
    """An update as JSON says it."""
    return {
        "id": "1",
        "kind": "message",
        "chat": {"id": "42", "kind": "private", "title": ""},
        "sender": {"id": "42", "name": "Ada", "is_bot": False},
        "seconds": 5.0,
        "message": "7",
        "text": "Hello",
        "is_for_bot": True,
        "files": [],
        "button": "",
        **fields,
    }


def file(**fields: Any) -> dict[str, Any]:
    """A file as JSON says it."""
    return {"kind": "document", "name": "a", "media_type": "text/plain", "size": 1, "path": "1-0", **fields}


def test_updates_are_read() -> None:
    updates = read_updates({"updates": [update(), update(id="2", files=[file()])], "position": "3"})
    assert [each.id for each in updates.updates] == ["1", "2"]
    assert updates.updates[1].files[0].path == "1-0"


@pytest.mark.parametrize(
    "wrong",
    [
        update(id=""),
        update(id="x" * 256),
        update(id=1),
        update(kind="command"),
        update(chat={"id": "42", "kind": "channel", "title": ""}),
        update(chat={"id": "", "kind": "private", "title": ""}),
        update(sender={"id": "42", "name": "A", "is_bot": False, "is_owner": True}),
        update(sender={"id": "", "name": "A", "is_bot": False}),
        update(text="x" * 200_001),
        update(text="half \ud83d"),
        update(seconds=-1.0),
        update(seconds=float("inf")),
        update(seconds=float("nan")),
        update(session="a"),
        update(files=[file(path="../keys.yaml")]),
        update(files=[file(path="/etc/passwd")]),
        update(files=[file(path=".shown.jsonl")]),
        update(files=[file(path="")]),
        update(files=[file(kind="program")]),
        update(files=[file(size=-1)]),
        update(files=[file()] * 21),
        None,
        [],
    ],
)
def test_what_is_none_is_refused_whole(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        read_updates({"updates": [update(), wrong], "position": ""})


@pytest.mark.parametrize(
    "wrong", [None, [], {}, {"updates": {}}, {"updates": [update()] * 101}, {"updates": [], "x": 1}]
)
def test_only_updates_are_read(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        read_updates(wrong)


def test_states_answers_and_identities_are_read_with_limits() -> None:
    assert read_state({"kind": "waiting", "sentence": "No network", "name": ""}).sentence == "No network"
    assert read_sent({"messages": ["1"], "problem": ""}).messages == ("1",)
    assert read_identity({"id": "1", "name": "@bot"}).name == "@bot"
    for read, wrong in (
        (read_state, {"kind": "happy"}),
        (read_state, {"kind": "waiting", "sentence": "x" * 3_000}),
        (read_sent, {"messages": ["1"] * 1_001}),
        (read_sent, {"messages": [1]}),
        (read_identity, {"id": "1", "name": "x" * 1_000}),
    ):
        with pytest.raises(InvalidInput):
            read(wrong)
