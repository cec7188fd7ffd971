"""The events of one run, read in a thread, so that Ctrl-C never falls into the middle of a line."""

import http.client
import json
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

from msgspec import Struct

from parachute.base.errors import ParachuteError, Unavailable
from parachute.chat.runs.events import Event, Session, TurnDone, read
from parachute.cli.api import Api, Refused, quoted

_PREFIX = b"data:"
_LINE_LIMIT = 32 * 1024 * 1024
_DELAYS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before each attempt to take up a lost stream; they begin anew with every event that arrives."""


class Interrupt(Struct, frozen=True):
    """The user pressed Ctrl-C."""


class Received(Struct, frozen=True):
    """An event as it came, and as this version reads it: None for a type that is not known here."""

    document: dict[str, Any]
    event: Event | None


Item = Received | Interrupt | ParachuteError


class EventStream:
    """Sends one message and puts every event of its run on a queue, up to and with the one that ends it.

    Instead of that one, an error comes when there is nothing more to be had. A lost connection is taken up again behind the
    last event. `session` is the id of the conversation as soon as it is known.
    """

    def __init__(self, api: Api, body: dict[str, Any]) -> None:
        # SimpleQueue is the only queue that a signal handler may put into.
        self.items: SimpleQueue[Item] = SimpleQueue()
        self.session: str | None = None if body["sessionId"] == "new" else body["sessionId"]
        self._api = api
        self._body = body
        self._sequence = 0
        self._failures = 0
        self._closed = threading.Event()

    def start(self) -> None:
        """Send the message."""
        threading.Thread(target=self._run, name="events", daemon=True).start()

    def close(self) -> None:
        """Nobody reads on: a stream that is lost from now on is not taken up again."""
        self._closed.set()

    def _run(self) -> None:
        try:
            if not self._read(self._api.stream("POST", "/api/chat", self._body), 0):
                self._follow()
        except ParachuteError as error:
            self.items.put(error)

    def _follow(self) -> None:
        """Take the lost stream up again until it ends; errors: Refused, Unavailable."""
        while self._failures < len(_DELAYS):
            if self.session is None or not self._sequence:
                # Without a place to go on from, what comes could be an earlier run of the conversation.
                raise Unavailable(
                    "The connection was lost before the answer began.",
                    "`parachute sessions list` shows whether the message arrived.",
                    key="connection_lost",
                )
            if self._closed.wait(_DELAYS[self._failures]):
                return
            self._failures += 1
            try:
                path = f"/api/chat/{quoted(self.session)}/events?after={self._sequence}"
                if self._read(self._api.stream("GET", path), self._sequence):
                    return
            except Refused as error:
                if error.status != 503:
                    raise
            except Unavailable:
                pass  # it may be starting again: the next attempt tells
        raise Unavailable(
            "The connection was lost and could not be taken up again.",
            f"`parachute status` shows what runs. The run may go on: it belongs to the conversation {self.session}.",
            key="connection_lost",
        )

    def _read(self, response: http.client.HTTPResponse, after: int) -> bool:
        """Put the events of one answer behind `after` on the queue; whether the one that ends the run was among them."""
        with response:
            try:
                for document in documents(response):
                    if self._take(document, after):
                        return True
            except (OSError, http.client.HTTPException):
                pass  # the same as an answer that simply ends
        return False

    def _take(self, document: dict[str, Any], after: int) -> bool:
        sequence = document.get("seq")
        if isinstance(sequence, int):
            if sequence <= after:
                return False
            self._sequence = max(self._sequence, sequence)
        self._failures = 0
        event = read(document)
        if isinstance(event, Session | TurnDone):
            self.session = event.session_id or self.session
        self.items.put(Received(document, event))
        return event is not None and event.is_terminal


def documents(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """The JSON of each event of a stream; errors: OSError, HTTPException, Unavailable for a line without end."""
    for line in _lines(response):
        if (document := _document(line)) is not None:
            yield document


def _lines(response: http.client.HTTPResponse) -> Iterator[bytes]:
    rest = bytearray()
    while chunk := response.read1(65536):
        rest += chunk
        if len(rest) > _LINE_LIMIT:
            raise Unavailable(
                "The API sent a line without end.", "`parachute logs core` may tell why.", key="line_without_end"
            )
        if b"\n" in chunk:
            *lines, last = rest.split(b"\n")
            yield from (bytes(line) for line in lines)
            rest = last


def _document(line: bytes) -> dict[str, Any] | None:
    payload = line.removeprefix(_PREFIX).strip() if line.startswith(_PREFIX) else b""
    if not payload:
        return None  # a comment, which keeps the connection awake, or the end of an event
    try:
        document = json.loads(payload)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
