"""`parachute logs`."""

import subprocess
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from parachute.supervisor.logs import shorten
from tests.support.terminal import Terminal

GROWN = [f"line {number:0>90}" for number in range(120_000)]
"""A log that has grown over its limit."""


def append(path: Path, text: str) -> None:
    """Write to a log as a unit does."""
    with path.open("a") as file:
        file.write(text)


def test_logs_show_their_ends(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    parachute("logs")
    (home.logs / "core.log").write_text("".join(f"line {number}\n" for number in range(100_000)))
    (home.logs / "model.log").write_text("ready \x1b]0;title\x07\n")
    parachute.ok("logs", "core", "-n", "2")
    parachute.ok("logs", "-n", "1")
    parachute.fails("logs", "../config")
    assert parachute.screens == snapshot


def test_a_module_is_found_by_its_name_and_by_that_of_its_unit(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    (home.logs / "module-notes.log").write_text("from the module\n")
    (home.logs / "sandbox.log").write_text("from a sandbox\n")
    for name in ("notes", "module@notes", "module-notes"):
        parachute.ok("logs", name)
    parachute.ok("logs", "sandbox@0b4f2a1c-1111-4222-8333-444455556666")
    (home.logs / "connector-telegram.log").write_text("connected\n")
    for name in ("telegram", "connector@telegram"):
        parachute.ok("logs", name)
    append(home.logs / "notes.log", "a unit of this name\n")
    parachute.ok("logs", "notes")
    assert parachute.screens == snapshot


def test_a_log_that_was_shortened_is_shown_as_one(parachute: Terminal, home: Home) -> None:
    log = home.logs / "core.log"
    append(log, "\n".join([*GROWN, ""]))
    shorten(log)
    append(log, "after\n")
    *before, note, last = parachute.ok("logs", "core", "-n", "4").splitlines()
    assert before == GROWN[-2:]
    assert "shortened" in note
    assert last == "after"


@pytest.mark.parametrize("arguments", [("core",), ()])
def test_following_goes_on_when_a_log_is_shortened(parachute: Terminal, home: Home, arguments: tuple[str, ...]) -> None:
    log = home.logs / "core.log"
    append(log, "\n".join([*GROWN, ""]))
    with parachute.background("logs", *arguments, "-f", "-n", "1") as process:
        if not arguments:
            assert line(process) == "==> core <=="
        assert line(process) == GROWN[-1]
        append(log, "new\nhal")
        assert line(process) == "new"
        append(log, "f\nunread\n")
        shorten(log)
        append(log, "after\n")
        assert [line(process), line(process)] == ["half", "unread"]
        assert "shortened" in line(process)
        assert line(process) == "after"
        if not arguments:
            append(home.logs / "module-notes.log", "hello\n")
            assert [line(process) for _ in range(3)] == ["", "==> module-notes <==", "hello"]


def line(process: "subprocess.Popen[str]") -> str:
    """The next line of what a command says."""
    assert process.stdout is not None
    return process.stdout.readline().removesuffix("\n")
