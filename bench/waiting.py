"""How long a person waits."""

import time

from bench.connection import Connection


def seconds_to_first_text(connection: Connection, session: str = "new") -> float:
    """Send a message, read the whole answer, and say when its first text was there."""
    begin, first = time.perf_counter(), None
    for event in connection.chat("Hello!", session):
        if first is None and event["type"] == "text":
            first = time.perf_counter() - begin
    assert first is not None, "the answer had no text"
    return first
