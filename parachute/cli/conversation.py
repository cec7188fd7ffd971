"""One message and its answer, at a terminal."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.chat.runs.events import Event, PermissionRequest, TurnDone, TypedError, UserQuestion
from parachute.cli.api import Api, quoted
from parachute.cli.asking import agrees
from parachute.cli.event_stream import EventStream, Interrupt
from parachute.cli.identifiers import short
from parachute.cli.output import print_error, print_note
from parachute.cli.printer import JsonPrinter, Printer, TextPrinter, print_turn
from parachute.cli.question import ask_permission, ask_user

INTERRUPTED = 130
_ABORT_SECONDS = 5.0
_GO_DIRECT = "Run this conversation directly, with your own rights?"
_ENDS = ("/exit", "/quit", "exit", "quit")
_HELP_WORDS = ("/help", "/?", "?", "help")
_HELP = """Type a message, and Enter sends it. Ctrl-C stops an answer, or clears the line.
/help  this list
/exit  end the conversation, as exit, quit and Ctrl-D do; it can be taken up again by its id
Other words that begin with / go to the agent. `parachute chat --help` lists options such as --directory and --model."""


class Outcome(Struct, frozen=True):
    """The exit code of a run, and the conversation it belongs to as far as that is known; whether it needs a sandbox."""

    code: int
    session: str | None
    without_sandbox: bool = False


def run_turn(
    api: Api, body: dict[str, Any], printer: Printer, interactive: bool, abort_seconds: float = _ABORT_SECONDS
) -> Outcome:
    """Send a message and show its events until the run ends; errors: Refused, Unavailable.

    Ctrl-C aborts the run and waits up to `abort_seconds` for its end; a second one does not wait. `interactive`: questions and
    permission requests of the agent are put to the user, and where there is no sandbox the user is asked whether to go without.
    """
    stream = EventStream(api, {**body, "canAnswerPermissions": interactive})
    with _interrupts_to(stream):
        stream.start()
        try:
            outcome = _Turn(api, stream, printer, interactive, abort_seconds).run()
        finally:
            stream.close()
    if outcome.without_sandbox and interactive and body.get("trustLevel") is None and agrees(_GO_DIRECT):
        again = {**body, "sessionId": outcome.session or body["sessionId"], "trustLevel": "direct"}
        return run_turn(api, again, printer, interactive, abort_seconds)
    return outcome


class _Turn:
    def __init__(
        self, api: Api, stream: EventStream, printer: Printer, interactive: bool, abort_seconds: float
    ) -> None:
        self._api = api
        self._stream = stream
        self._printer = printer
        self._interactive = interactive
        self._abort_seconds = abort_seconds
        self._deadline: float | None = None
        self._abort_sent = False

    def run(self) -> Outcome:
        while True:
            try:
                timeout = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
                item = self._stream.items.get(timeout=timeout)
            except Empty:
                print_note("The run did not confirm that it ends; `parachute status` shows whether it does.")
                return self._outcome(INTERRUPTED)
            if isinstance(item, Interrupt):
                if self._deadline is not None:
                    return self._outcome(INTERRUPTED)
                self._deadline = time.monotonic() + self._abort_seconds
            elif isinstance(item, ParachuteError):
                if self._deadline is not None:
                    return self._outcome(INTERRUPTED)
                raise item
            else:
                self._printer.show(item)
                event = item.event
                if event is not None and event.is_terminal:
                    without_sandbox = isinstance(event, TypedError) and event.key == "no_sandbox"
                    return replace(self._outcome(self._code(event)), without_sandbox=without_sandbox)
                if isinstance(event, UserQuestion | PermissionRequest) and self._deadline is None:
                    self._question(event)
            # A new conversation has no id to abort by before its first event.
            if self._deadline is not None and not self._abort_sent and self._stream.session:
                self._abort(self._stream.session)

    def _question(self, event: UserQuestion | PermissionRequest) -> None:
        if not self._interactive:
            print_note("The agent asks a question. Answer in the app; without an answer it continues in five minutes.")
            return
        try:
            # In here Ctrl-C must break off the input, instead of waiting on the queue behind it.
            previous = signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                if isinstance(event, UserQuestion):
                    ask_user(self._api, event)
                else:
                    ask_permission(self._api, event)
            finally:
                signal.signal(signal.SIGINT, previous)
        except KeyboardInterrupt:
            self._stream.items.put(Interrupt())

    def _abort(self, session: str) -> None:
        self._abort_sent = True
        try:
            self._api.post(f"/api/chat/{quoted(session)}/abort", seconds=self._abort_seconds)
        except ParachuteError:
            pass  # it has ended already, or the server has: the stream tells

    def _code(self, event: Event) -> int:
        if self._deadline is not None:
            return INTERRUPTED
        return 0 if isinstance(event, TurnDone) else 1

    def _outcome(self, code: int) -> Outcome:
        return Outcome(code, self._stream.session)


@contextmanager
def _interrupts_to(stream: EventStream) -> Iterator[None]:
    """Put Ctrl-C on the queue as one more item, instead of raising it wherever the program is."""
    previous = signal.signal(signal.SIGINT, lambda *_: stream.items.put(Interrupt()))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def at_terminal() -> bool:
    """True if a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def converse(api: Api, body: dict[str, Any], as_json: bool) -> int:
    """Messages and answers in turn, until Ctrl-D or /exit; returns the exit code."""
    readline = _line_editor()
    print_note("/help lists what you can type, /exit or Ctrl-D ends the conversation.")
    code = 0
    while True:
        try:
            text = input("> ").strip()
        except EOFError:
            print()
            break
        except KeyboardInterrupt:
            print()
            if readline is not None and readline.get_line_buffer():
                continue  # it was half typed, and is gone
            code = INTERRUPTED
            break
        if text in _ENDS:
            break
        if text in _HELP_WORDS:
            print_note(_HELP)
        elif text:
            _say(api, body, text, as_json)
    if body["sessionId"] != "new":
        print_resumption(body["sessionId"])
    return code


def printer_for(as_json: bool) -> Printer:
    """JSON for programs, text for people."""
    return JsonPrinter() if as_json else TextPrinter()


def print_outcome(api: Api, outcome: Outcome) -> None:
    """Print what a turn has changed, and what of its conversation waits; nothing of one that was left, or where the server is gone."""
    session = outcome.session
    if session is None or outcome.code == INTERRUPTED:
        return
    try:
        turns = api.get(f"/api/chat/{quoted(session)}/turns", limit=1)["turns"]
        waiting = [each for each in api.get("/api/inbox")["items"] if each["session_id"] == session]
    except ParachuteError:
        return
    print_turn(session, turns[-1] if turns else None, waiting)


def print_resumption(session: str) -> None:
    """The id of a conversation, and how to go on with it."""
    print_note(f"Conversation {short(session)}; go on with: `parachute chat --session {short(session)}`, or --continue")


def _say(api: Api, body: dict[str, Any], text: str, as_json: bool) -> None:
    try:
        outcome = run_turn(api, {**body, "message": text}, printer_for(as_json), interactive=not as_json)
        if not as_json:
            print_outcome(api, outcome)
        body["sessionId"] = outcome.session or body["sessionId"]
        body.pop("attachments", None)  # they came with the first message
    except ParachuteError as error:
        print_error(error.message, error.hint)


def _line_editor() -> Any:
    """Arrow keys and earlier lines in input(); None where Python has none."""
    try:
        import readline
    except ImportError:
        return None
    return readline
