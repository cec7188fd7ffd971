"""Runs of the orchestrator: one at a time, seen when they fail, and for whom they may do what."""

import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.automation.triage.conftest import (
    SETTINGS,
    Orchestra,
    OrchestraComputer,
    Orchestrating,
    call,
    listed,
    results,
)
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import Gate, MessagesAPI, error, hold, text

pytestmark = pytest.mark.long

RUN = "/api/suggestions/orchestrate"


def two(orchestra: Orchestrating, word: str) -> list[str]:
    """Two that wait."""
    return [orchestra.propose(payload={"name": f"{word}{number}"}) for number in range(2)]


def test_one_run_at_a_time_which_goes_on_when_the_caller_leaves(
    orchestra: Orchestra, model: MessagesAPI, word: str
) -> None:
    two(orchestra, word)
    gate = Gate()
    model.script(hold(gate, text("Nothing to do.")))
    try:
        orchestra.ask_and_leave(RUN, {}, gate)
        assert orchestra.runs()[0]["status"] == "running"
        second = orchestra.sort()
        assert (second["status"], second["error"]) == ("skipped", "The orchestrator is running already.")
    finally:
        gate.open()
    path = "/api/suggestions/orchestrator"
    orchestra.eventually(path, lambda shown: shown["status"] == "ready", "the run has ended")
    assert orchestra.runs()[0]["status"] == "completed_no_output"


def test_what_goes_wrong_is_seen(orchestra: Orchestra, model: MessagesAPI, word: str) -> None:
    ids = two(orchestra, word)
    model.default(error(400, "invalid_request_error", "Not today."))
    failed = orchestra.command("suggestions", "orchestrate")
    assert (failed.returncode, "Not today." in failed.stdout) == (1, True)
    shown = orchestra.value("/api/suggestions/orchestrator")
    assert (shown["lastStatus"], "Not today." in shown["lastError"]) == ("failed", True)
    assert (shown["time"], shown["nextRunAt"], shown["resolves"]) == (None, None, ["create:people"])
    assert [each["id"] for each in orchestra.waiting()] == ids[::-1]


def test_a_run_is_about_what_its_caller_may_change(orchestra: Orchestra, model: MessagesAPI, word: str) -> None:
    ids = two(orchestra, word)
    orchestra.doubled(name=word)
    keys = Keys(orchestra.home.root)
    secrets = {
        scope: keys.create(f"test {scope}", [Scope.parse("suggestions:read,write"), Scope.parse(scope)])[1]
        for scope in ("people:read", "people:read,write")
    }
    keys.close()
    asked = len(model.requests)
    answer = orchestra.post(RUN, headers={"x-api-key": secrets["people:read"]}, timeout=60).json()
    assert (answer["status"], answer["dropped"], len(model.requests)) == ("skipped", [], asked)
    model.script(call("list", page=1), text("Nothing."))
    answer = orchestra.post(RUN, headers={"x-api-key": secrets["people:read,write"]}, timeout=60).json()
    assert (answer["status"], len(answer["dropped"])) == ("completed", 1)
    assert [each["id"] for each in listed(results(model)[0][1])][:2] == ids
    reading = Keys(orchestra.home.root)
    _, secret = reading.create("reads", [Scope.parse("suggestions:read"), Scope.parse("people:read,write")])
    reading.close()
    assert orchestra.post(RUN, headers={"x-api-key": secret}).status_code == 403


def test_what_a_crash_cuts_off_has_failed_and_nothing_is_decided(
    make_computer: Make[Computer], api: MessagesAPI, word: str
) -> None:
    computer = make_computer(OrchestraComputer, **SETTINGS)
    computer.furnish()
    ids = two(computer, word)
    gate = Gate()
    api.script(hold(gate, text("Never.")))
    try:
        computer.ask_and_leave(RUN, {}, gate)
        computer.kill_core()
    finally:
        gate.open()
    computer.eventually("/api/suggestions", lambda found: found["total"], "core is back")
    (run, *_) = computer.runs()
    assert (run["status"], run["error"]) == ("failed", "The computer was stopped during this run.")
    assert [each["id"] for each in computer.waiting()] == ids[::-1]
    api.script(text("Nothing."))
    assert computer.sort()["status"] == "completed_no_output"


def test_the_small_model_does_not_sort(word: str) -> None:
    with Orchestra(settings={"provider": "offline"}) as running:
        running.furnish()
        two(running, word)
        _, double = running.doubled(name=word)
        failed = running.command("suggestions", "orchestrate")
        assert (failed.returncode, "cannot sort suggestions" in failed.stdout) == (1, True)
        assert running.suggestion(double)["status"] == "rejected"
        assert len(running.waiting()) == 3
