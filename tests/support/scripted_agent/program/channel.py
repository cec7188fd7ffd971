"""Lines of JSON between the SDK and the program, with requests in both directions."""

import json
import sys
import threading
import uuid
from collections.abc import Iterator
from typing import Any

Message = dict[str, Any]


class Interrupted(Exception):
    """The turn was interrupted while it waited for an answer."""


class _Waiting:
    """A request whose answer has not come."""

    def __init__(self) -> None:
        self.answer: Message | None = None
        self.settled = threading.Event()


class Channel:
    """Standard input and output; any thread may write."""

    def __init__(self, session: str) -> None:
        self.session = session
        self._writing = threading.Lock()
        self._waiting: dict[str, _Waiting] = {}
        self._interrupted = False

    def lines(self) -> Iterator[Message]:
        """Yield what the SDK sends until it closes; answers to our requests go to whoever waits for them."""
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if message["type"] == "control_response":
                answer = message["response"]
                if (waiting := self._waiting.get(answer["request_id"])) is not None:
                    waiting.answer = answer
                    waiting.settled.set()
                continue
            yield message

    def send(self, message: Message) -> None:
        """Write one message with an identifier of its own."""
        self._write({**message, "uuid": message.get("uuid") or str(uuid.uuid4()), "session_id": self.session})

    def begin(self, request: Message) -> str:
        """Send a request and return its identifier; error: Interrupted."""
        identifier = str(uuid.uuid4())
        self._waiting[identifier] = _Waiting()
        if self._interrupted:  # after it can be seen, so that either of the two threads ends it
            self._waiting.pop(identifier)
            raise Interrupted
        self._write({"type": "control_request", "request_id": identifier, "request": request})
        return identifier

    def answer_to(self, identifier: str) -> Message:
        """Wait for the answer to a request; errors: Interrupted, RuntimeError with the SDK's own."""
        waiting = self._waiting[identifier]
        waiting.settled.wait()
        self._waiting.pop(identifier, None)
        if waiting.answer is None:
            raise Interrupted
        if waiting.answer["subtype"] != "success":
            raise RuntimeError(waiting.answer["error"])
        response: Message = waiting.answer["response"]
        return response

    def ask(self, request: Message) -> Message:
        """Send a request and wait for its answer."""
        return self.answer_to(self.begin(request))

    def interrupt(self) -> list[str]:
        """End every wait until `resume`, and return the requests that were waited for."""
        self._interrupted = True
        waiting = dict(self._waiting)
        for each in waiting.values():
            each.settled.set()
        return list(waiting)

    def resume(self) -> None:
        """Wait for answers again."""
        self._interrupted = False

    def answer(self, identifier: str, response: Message) -> None:
        """Answer a request of the SDK."""
        self._write(
            {
                "type": "control_response",
                "response": {"subtype": "success", "request_id": identifier, "response": response},
            }
        )

    def withdraw(self, identifier: str) -> None:
        """Tell the SDK that nobody waits for its answer any more."""
        self._write({"type": "control_cancel_request", "request_id": identifier})

    def tell(self, request: Message) -> None:
        """Send a request whose answer does not matter."""
        self._write({"type": "control_request", "request_id": str(uuid.uuid4()), "request": request})

    def _write(self, message: Message) -> None:
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self._writing:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
