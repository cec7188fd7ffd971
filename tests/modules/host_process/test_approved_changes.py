"""Changes that the user approved, in the module's process: each is made once, and nothing is said that is not known."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import Conflict, InvalidInput
from parachute.core import Module, Preview
from parachute.core.testing import Running, run
from parachute.modules.host_process import approved_changes, kept_changes
from parachute.modules.host_process.approved_changes import ApprovedChanges
from tests.support.errors import raises


class Notes(Module):
    """Module with its applied suggestions in `made`."""

    name = "notes"
    version = "1.0.0"

    def __init__(self) -> None:
        self.made: list[Any] = []
        self.held = asyncio.Event()
        self.go = asyncio.Event()

    async def apply_suggestion(
        self, action: str, target_id: str | None, payload: dict[str, Any], expected_version: str | int | None
    ) -> Any:
        if payload.get("hold"):
            self.held.set()
            await self.go.wait()
        if reason := payload.get("refuse"):
            raise Conflict(reason)
        self.made.append((action, target_id, payload, expected_version))
        return object() if payload.get("odd") else {"number": len(self.made)}


@pytest.fixture
async def notes() -> AsyncIterator[Running]:
    """The module, in memory."""
    async with run(Notes) as running:
        yield running


@pytest.fixture
def changes(notes: Running) -> ApprovedChanges:
    """Return the changes that its host remembers; another object stands for a new process."""
    return ApprovedChanges(notes.application)


def change(identifier: str = "a.0", **payload: Any) -> dict[str, Any]:
    """Return a change as core sends it."""
    return {"id": identifier, "action": "create", "target_id": None, "payload": payload, "expected_version": 3}


WITHDRAW = {"id": "a.0", "withdraw": True}


async def test_a_change_is_made_once_also_for_a_new_process(notes: Running, changes: ApprovedChanges) -> None:
    assert await changes.answer(change(text="one")) == {"result": {"number": 1}}
    for again in (changes, ApprovedChanges(notes.application)):
        assert await again.answer(change(text="two")) == {"result": {"number": 1}}
        assert await again.answer(WITHDRAW) == {"applied": True, "result": {"number": 1}}
    assert await changes.answer(change("b.0", text="one")) == {"result": {"number": 2}}
    assert notes.module.made == [("create", None, {"text": "one"}, 3)] * 2


async def test_a_change_that_is_only_checked_is_not_made(notes: Running, changes: ApprovedChanges) -> None:
    asked = {"check": True, "action": "create", "target_id": None, "payload": {"text": "one"}}
    assert await changes.answer(asked) == {"checked": True}
    with pytest.raises(InvalidInput):
        await changes.answer({**asked, "payload": "one"})
    assert notes.module.made == []


async def test_what_was_withdrawn_is_not_made_any_more(notes: Running, changes: ApprovedChanges) -> None:
    assert await changes.answer(WITHDRAW) == {"applied": False}
    with raises("already_decided"):
        await changes.answer(change(text="late"))
    assert await changes.answer(WITHDRAW) == {"applied": False}
    assert notes.module.made == []


async def test_what_the_module_refused_may_be_tried_again(notes: Running, changes: ApprovedChanges) -> None:
    with pytest.raises(Conflict, match="It has changed"):
        await changes.answer(change(refuse="It has changed."))
    assert await changes.answer(change(text="one")) == {"result": {"number": 1}}


async def test_whoever_asks_meanwhile_waits_for_the_end(notes: Running, changes: ApprovedChanges) -> None:
    applying = asyncio.create_task(changes.answer(change(hold=True)))
    await notes.module.held.wait()
    asking = [asyncio.create_task(changes.answer(each)) for each in (WITHDRAW, change(hold=True))]
    # Another one is not held up.
    assert await changes.answer(change("b.0")) == {"result": {"number": 1}}
    assert not any(task.done() for task in (applying, *asking))
    notes.module.go.set()
    assert await applying == {"result": {"number": 2}}
    assert await asking[0] == {"applied": True, "result": {"number": 2}}
    assert await asking[1] == {"result": {"number": 2}}
    assert len(notes.module.made) == 2


async def test_a_process_that_ended_in_the_middle_is_not_made_up_for(notes: Running, changes: ApprovedChanges) -> None:
    applying = asyncio.create_task(changes.answer(change(hold=True)))
    await notes.module.held.wait()
    applying.cancel()
    await asyncio.gather(applying, return_exceptions=True)
    after = ApprovedChanges(notes.application)
    assert await after.answer(WITHDRAW) == {"applied": None}
    with raises("already_decided"):
        await after.answer(change(text="again"))
    assert notes.module.made == []


class Ledger(Notes):
    """One that can tell what it made, by the id that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.booked: dict[str, Any] = {}

    async def apply_suggestion(  # type: ignore[override]
        self,
        action: str,
        target_id: str | None,
        payload: dict[str, Any],
        expected_version: str | int | None,
        suggestion_id: str,
    ) -> Any:
        self.booked[suggestion_id] = payload if payload.get("early") else None
        return await super().apply_suggestion(action, target_id, payload, expected_version)

    def applied_suggestion(
        self,
        suggestion_id: str,
        action: str,
        target_id: str | None,
        payload: dict[str, Any],
        expected_version: str | int | None,
    ) -> Any:
        if payload.get("forget"):
            raise Conflict("It has changed since.")
        return self.booked[suggestion_id]


@pytest.mark.parametrize(
    ("payload", "answer"),
    [
        ({"early": 1}, {"applied": True, "result": {"early": 1, "hold": True}}),
        ({}, {"applied": False}),
        ({"early": 1, "forget": 1}, {"applied": None}),
    ],
)
async def test_a_module_that_can_tell_is_asked_what_it_had_made(payload: dict[str, Any], answer: Any) -> None:
    async with run(Ledger) as ledger:
        applying = asyncio.create_task(ApprovedChanges(ledger.application).answer(change(**payload, hold=True)))
        await ledger.module.held.wait()
        applying.cancel()
        await asyncio.gather(applying, return_exceptions=True)
        after = ApprovedChanges(ledger.application)
        assert await after.answer(WITHDRAW) == answer
        ledger.module.booked.clear()  # what is known now is kept, unless nobody knew
        if answer["applied"] is not None:
            assert await after.answer(WITHDRAW) == answer


class Board(Notes):
    """One that shows its changes and takes them back."""

    text = "old"

    async def apply_suggestion(
        self, action: str, target_id: str | None, payload: dict[str, Any], expected_version: str | int | None
    ) -> Any:
        result = await super().apply_suggestion(action, target_id, payload, expected_version)
        self.text = payload["text"]
        return result

    def preview_suggestion(self, action: str, target_id: str | None, payload: dict[str, Any]) -> Preview | None:
        if payload.get("hide"):
            raise Conflict("Nobody may look.")
        return Preview("Board", self.text, payload["text"], {"text": self.text})

    def undo_suggestion(
        self, action: str, target_id: str | None, payload: dict[str, Any], keep: Any, result: Any
    ) -> None:
        if self.text not in (payload["text"], keep["text"]):
            raise Conflict("The board has changed since.")
        self.text = keep["text"]


async def test_a_change_is_shown_and_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_changes, "_MOST", 2)
    async with run(Board) as board:
        changes = ApprovedChanges(board.application)
        undo = {"id": "a.0", "undo": True}
        with raises("nothing_kept"):
            await changes.answer(undo)
        shown = {"preview": {"title": "Board", "before": "old", "after": "new"}}
        assert await changes.answer({**change(text="new"), "preview": True}) == shown
        assert (board.module.text, memory(board)) == ("old", [])
        await changes.answer(change(text="new"))
        for again in (changes, ApprovedChanges(board.application)):
            assert await again.answer({**change(text="new"), "preview": True}) == shown
        board.module.text = "another"
        with pytest.raises(Conflict, match="changed since"):
            await changes.answer(undo)
        # As after a kill between the module's work and the memory of it.
        board.module.text = "old"
        for _ in range(2):
            assert await changes.answer(undo) == {"undone": True, "version": None}
        with raises("already_decided"):
            await changes.answer(change(text="new"))
        await changes.answer(change("a.1", text="x" * 200_000))
        assert len((await changes.answer({**change("a.1"), "preview": True}))["preview"]["after"]) == 100_001
        await changes.answer({"id": "a.1", "undo": True})
        assert board.module.text == "old"
        # What cannot be shown can be made, and not be taken back.
        await changes.answer(change("b.0", text="new", hide=True))
        with raises("nothing_kept"):
            await changes.answer({"id": "b.0", "undo": True})
        with pytest.raises(Conflict, match="Nobody may look"):
            await changes.answer({**change("c.0", text="new", hide=True), "preview": True})
        with pytest.raises(Conflict):
            await changes.answer(change("d.0", text="new", refuse="No."))
        for number in range(3):
            await changes.answer(change(f"e{number}.0", text=f"{number}"))
        assert len(list((board.core.data / "approved-changes").glob("*.before"))) == 2


@pytest.mark.parametrize("broken", [b"", b"[]", b"\xff", b"x" * 1_000_000])
async def test_a_memory_that_cannot_be_read_makes_nothing_again(
    notes: Running, changes: ApprovedChanges, broken: bytes
) -> None:
    await changes.answer(change(text="one"))
    memory(notes)[0].write_bytes(broken)
    assert await changes.answer(WITHDRAW) == {"applied": None}
    with pytest.raises(Conflict):
        await changes.answer(change(text="one"))
    assert len(notes.module.made) == 1


async def test_what_is_remembered_is_bounded(
    notes: Running, changes: ApprovedChanges, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approved_changes, "_MOST", 5)
    for number in range(8):
        await changes.answer(change(f"n{number}.0"))
        # The clock of the file system may date two of them alike.
        os.utime(notes.core.data / f"approved-changes/n{number}.0.json", (number, number))
    assert [file.stem for file in memory(notes)] == ["n3.0", "n4.0", "n5.0", "n6.0", "n7.0"]
    assert await changes.answer(change("n7.0")) == {"result": {"number": 8}}


async def test_a_result_that_json_cannot_say_is_left_out(notes: Running, changes: ApprovedChanges) -> None:
    assert await changes.answer(change(odd=True)) == {"result": None}
    assert len(notes.module.made) == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document.pop("id"),
        lambda document: document.update(id="../x"),
        lambda document: document.update(payload=[]),
        lambda document: document.update(action=None),
        lambda document: document.update(target_id=1),
        lambda document: document.update(expected_version={}),
    ],
)
async def test_what_core_would_not_send(
    notes: Running, changes: ApprovedChanges, spoil: Callable[[dict[str, Any]], Any]
) -> None:
    document = change()
    spoil(document)
    with pytest.raises(InvalidInput):
        await changes.answer(document)
    assert notes.module.made == []
    assert memory(notes) == []


async def test_the_test_kit_applies_and_proposes() -> None:
    class Silent(Module):
        name = "silent"
        version = "1.0.0"

    async with run(Notes) as notes:
        assert await notes.apply("update", {"a": 1}, target_id="para:notes:aaaaaaaaaaaa", expected_version="v2") == {
            "number": 1
        }
        assert notes.module.made == [("update", "para:notes:aaaaaaaaaaaa", {"a": 1}, "v2")]
        assert await notes.core.suggest("link", "brain", {"b": 2}, reasoning="So.") == "suggestion-1"
        (made,) = notes.suggestions
        assert (made["action"], made["target_module"], made["payload"]) == ("link", "brain", {"b": 2})
        with raises("unknown_action"):
            await notes.core.suggest("explode", "brain", {})
        assert len(notes.suggestions) == 1
    async with run(Silent) as silent:
        with raises("no_suggestions"):
            await silent.apply("create", {})


def memory(notes: Running) -> list[Path]:
    """The files of what was begun."""
    return sorted((notes.core.data / "approved-changes").glob("*.json"))
