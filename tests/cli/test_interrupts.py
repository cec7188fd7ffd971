"""Ctrl-C while the agent answers: it aborts the run and waits for its end, a second one does not wait."""

import signal
import threading

import pytest

from parachute.cli.api import Api
from parachute.cli.conversation import INTERRUPTED, run_turn
from parachute.cli.event_stream import Received
from parachute.cli.printer import TextPrinter
from parachute.config.settings.home import Home
from tests.support.gate import Gate
from tests.support.terminal import Terminal
from tests.support.waiting import SECONDS, wait_until

from .scripted_core import ABORT, SESSION, START, ScriptedCore, Step, text

BODY = {"message": "hello", "sessionId": "new", "module": "chat"}


class Interrupting(TextPrinter):
    """Presses Ctrl-C as soon as one of these texts was shown."""

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self._texts = texts

    def show(self, received: Received) -> None:
        super().show(received)
        if received.document.get("content") in self._texts:
            signal.raise_signal(signal.SIGINT)


def turn(core: ScriptedCore, *texts: str) -> int:
    """Send a message, and press Ctrl-C at these texts; the limit of the wait is far away, so that no load reaches it."""
    api = Api("127.0.0.1", core.port, "")
    return run_turn(api, dict(BODY), Interrupting(*texts), interactive=False, abort_seconds=SECONDS).code


def test_ctrl_c_aborts_the_run_and_waits_for_its_end(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    end = {"type": "aborted", "message": "Stopped."}
    steps: list[Step] = [START, text("Working\n"), ABORT, text("Working\non"), end]
    with ScriptedCore(home, steps) as core:
        assert turn(core, "Working\n") == INTERRUPTED
    assert core.paths() == ["POST /api/chat", f"POST /api/chat/{SESSION}/abort"]
    said = capsys.readouterr()
    assert (said.out.rstrip(), said.err.splitlines()[0]) == ("Working\non", "Stopped.")


def test_a_second_ctrl_c_does_not_wait(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    gate = Gate()
    with ScriptedCore(home, [START, text("Working\n"), ABORT, text("Working\nstill\n"), gate]) as core:
        assert turn(core, "Working\n", "Working\nstill\n") == INTERRUPTED
        gate.open()
        # The answer ends now, and nobody takes it up again.
        wait_until(lambda: all(thread.name != "events" for thread in threading.enumerate()), "the reader has ended")
    assert len(core.calls) == 2
    assert "did not confirm" not in capsys.readouterr().err


def test_a_run_that_does_not_confirm_its_end_is_left(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    gate = Gate()
    with ScriptedCore(home, [START, text("Working\n"), gate]) as core:
        api = Api("127.0.0.1", core.port, "")
        code = run_turn(api, dict(BODY), Interrupting("Working\n"), interactive=False, abort_seconds=0.01).code
        gate.open()
    assert code == INTERRUPTED
    assert "did not confirm" in capsys.readouterr().err


def test_the_exit_code_says_that_it_was_interrupted(parachute: Terminal, home: Home) -> None:
    steps: list[Step] = [START, text("Working\n"), ABORT, {"type": "aborted", "message": "Stopped."}]
    with ScriptedCore(home, steps), parachute.background("chat", "hello") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "Working\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == INTERRUPTED
