"""Waiting times of a person."""

import time
from typing import Any

from bench.computers import MeasuredComputer
from bench.connection import Connection


def seconds_to_first_text(connection: Connection, session: str = "new", **fields: Any) -> float:
    """Send a message, read the whole answer, and say when its first text was there; `fields`: more members of the body."""
    begin, first = time.perf_counter(), None
    for event in connection.chat("Hello!", session, **fields):
        if first is None and event["type"] == "text":
            first = time.perf_counter() - begin
    assert first is not None, "the answer had no text"
    return first


def seconds_with_spare(computer: MeasuredComputer, connection: Connection) -> float:
    """The same for a new chat, once a spare is ready."""
    connection.get("/api/chat")
    computer.wait_until(lambda: connection.status()["agents"]["spare"], "the spare agent is ready")
    return seconds_to_first_text(connection)
