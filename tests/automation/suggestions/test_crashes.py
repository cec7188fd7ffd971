"""Decided suggestions are applied exactly once, whichever process is killed in the middle."""

import contextlib
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.automation.suggestions.conftest import SuggestionsComputer, furnish, furnish_people
from tests.support.computer import Computer
from tests.support.making import Make

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def furnished(make_shared_computer: Make[Computer]) -> SuggestionsComputer:
    """A computer with the modules."""
    computer = make_shared_computer(SuggestionsComputer)
    furnish(computer)
    return computer


@pytest.fixture
def own(furnished: SuggestionsComputer) -> Iterator[SuggestionsComputer]:
    """The computer; `people` does not wait for anything when the test has ended."""
    yield furnished
    go_file(furnished).unlink(missing_ok=True)


def go_file(computer: SuggestionsComputer) -> Path:
    """Return the file that `people` waits for."""
    return computer.home.root / "module-data/people/go"


def kill_core_while_applying(computer: SuggestionsComputer, made: str, **payload: object) -> None:
    """Approve, and kill core when the module has made the change and not answered yet; the module then goes on."""
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(computer.post, f"/api/suggestions/{made}/approve")
        computer.wait_until(lambda: computer.made(**payload) == 1, "the change is made")
        computer.kill_core()
        with pytest.raises(httpx2.TransportError):
            asking.result()
    go_file(computer).touch()


def test_core_is_killed_between_the_change_and_its_record(own: SuggestionsComputer, word: str) -> None:
    payload = {"name": word, "wait": True}
    made = own.propose(payload=payload)
    kill_core_while_applying(own, made, **payload)
    assert own.suggestion(made)["status"] == "pending"
    done = own.decide(made, "approve")
    assert (done["status"], done["result"]) == ("approved", {"done": "create"})
    assert own.made(**payload) == 1
    assert own.decide(made, "approve", 409)["key"] == "resolved"


@pytest.mark.parametrize("what", ["reject", "modify"])
def test_after_a_crash_another_decision_does_not_deny_what_happened(
    own: SuggestionsComputer, word: str, what: str
) -> None:
    payload = {"name": word, "wait": True}
    made = own.propose(payload=payload)
    kill_core_while_applying(own, made, **payload)
    body = {"payload": {"name": f"{word}!"}} if what == "modify" else {}
    refused = own.decide(made, what, 409, **body)
    assert "was applied" in refused["detail"]
    found = own.suggestion(made)
    assert (found["status"], found["modifications"]) == ("approved", None)
    assert (own.made(**payload), own.made(name=f"{word}!")) == (1, 0)


def test_core_and_module_are_killed_before_anybody_knows(own: SuggestionsComputer, word: str) -> None:
    payload = {"name": word, "wait": True}
    made = own.propose(payload=payload)
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(own.post, f"/api/suggestions/{made}/approve")
        own.wait_until(lambda: own.made(**payload) == 1, "the change is made")
        host = own.host_process("people")
        assert host is not None
        for child in [psutil.Process(host), *psutil.Process(host).children(recursive=True)]:
            with contextlib.suppress(ProcessLookupError):  # it ended with the one above it
                os.kill(child.pid, signal.SIGKILL)
        answer = asking.result()
    assert (answer.status_code, answer.json()["key"]) == (502, "outcome_unknown")
    go_file(own).touch()
    # Not even the module knows: nothing is made again before a person has heard that.
    refused = own.decide(made, "approve", 409)
    assert "may have done so, or not" in refused["detail"]
    assert own.suggestion(made)["error"] == refused["detail"]
    assert own.made(**payload) == 1
    assert own.decide(made, "reject")["status"] == "rejected"
    assert own.made(**payload) == 1


def test_what_was_decided_outlives_a_crash(own: SuggestionsComputer, word: str) -> None:
    kept, gone = own.propose(payload={"name": word}), own.propose(payload={"name": f"{word}!"})
    own.decide(gone, "approve")
    own.kill_core()
    assert [own.suggestion(each)["status"] for each in (kept, gone)] == ["pending", "approved"]
    assert own.decide(kept, "approve")["status"] == "approved"
    assert (own.made(name=word), own.made(name=f"{word}!")) == (1, 1)


def test_what_waits_for_a_module_that_is_away(own: SuggestionsComputer, word: str) -> None:
    made, other = own.propose(payload={"name": word}), own.propose(payload={"name": f"{word}!"})
    assert own.post("/api/modules/people/disable").status_code == 200
    assert own.decide(made, "approve", 409)["key"] == "module_disabled"
    assert own.suggestion(made)["status"] == "pending"
    assert "people is disabled" in own.propose(409, payload={"name": f"{word}?"})
    assert own.post("/api/modules/people/enable").status_code == 200
    assert own.decide(made, "approve")["status"] == "approved"
    assert own.made(name=word) == 1
    assert own.command("modules", "remove", "people", "--yes").returncode == 0
    try:
        assert own.decide(other, "approve", 404)["key"] == "module_not_installed"
        assert own.decide(other, "reject")["status"] == "rejected"
    finally:
        furnish_people(own)
        own.reload()
