"""Four kinds of tests by what they cost; a test that does more than its kind may fails.

`unit`, the default, starts no program and connects to nothing. `process` starts programs, or a server in the test's process.
`computer` starts a whole computer, `guest` boots a machine. The kind follows from the names of a test's fixtures; a test or a file
that starts something under another name says so: `pytest.mark.process`, `pytest.mark.computer`.
"""

import sys
import threading
from collections.abc import Generator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

KINDS = ("unit", "process", "computer", "guest")
FIXTURES = {
    "computer": "computer",
    "make_computer": "computer",
    "make_shared_computer": "computer",
    "api": "process",
    "installation": "process",
    "make_server": "process",
    "make_shared_server": "process",
    "model": "process",
    "parachute": "process",
    "server": "process",
}
"""Kinds that names of fixtures imply, in every file."""

_GUESTS = Path(__file__).parent.parent / "appliance"
_STARTS = frozenset({"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "socket.connect", "subprocess.Popen"})
"""Audit events that a new program or a connection begins with (Python's table of audit events)."""


class _Running:
    """A test that runs, and what it did that its kind may not."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind
        self.excess: str | None = None

    def require(self, kind: str, what: str) -> None:
        if KINDS.index(self.kind) < KINDS.index(kind):
            self.excess = f"A {self.kind} test {what}: say `pytest.mark.{kind}`, or take a fixture that implies it."


_running: ContextVar[_Running | None] = ContextVar("the test that runs here", default=None)
"""Threads that outlive a test, such as those of a shared server, have none."""


def kind_of(item: pytest.Item) -> str:
    """The kind of a test: the most of what it says, and of what its fixtures imply."""
    if item.path.is_relative_to(_GUESTS):
        return "guest"
    marks = {mark.name for mark in item.iter_markers()}
    said = marks & {*KINDS} | ({"process"} if "long" in marks else set())
    names = getattr(item, "fixturenames", ())
    return max(said | {FIXTURES[name] for name in names if name in FIXTURES} | {"unit"}, key=KINDS.index)


def starts_a_computer() -> None:
    """Fail the test that runs here if it may not start a computer."""
    if (test := _running.get()) is not None:
        test.require("computer", "starts a whole computer")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test with its kind, before `-m` selects by it."""
    for item in items:
        item.add_marker(kind_of(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Know which test runs."""
    token = _running.set(_Running(item.nodeid, kind_of(item)))
    try:
        return (yield)
    finally:
        _running.reset(token)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Generator[None, object, object]:
    """Blame nobody for what a fixture of many tests starts: which of them comes first is chance. Its name implies a kind.

    A server in the process ends with its package: its threads open files and read settings, which other tests would count as theirs.
    """
    if request.scope == "function":
        return (yield)
    token, before = _running.set(None), {*threading.enumerate()}
    try:
        result = yield
    finally:
        _running.reset(token)
    if request.scope == "session" and any(
        each.name.startswith("server of ") for each in {*threading.enumerate()} - before
    ):
        pytest.fail(f"{request.fixturename} starts a server for the whole session: use scope='package'.", pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """Fail a test that did more than its kind may."""
    result = yield
    test = _running.get()
    if test is not None and test.excess is not None:
        pytest.fail(test.excess, pytrace=False)
    return result


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _STARTS and (test := _running.get()) is not None and test.kind == "unit":
        test.require("process", f"has {event}{arguments[:1]}")


sys.addaudithook(_audit)
