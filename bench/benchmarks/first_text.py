"""The wait from sending a message to the first text of the answer, with a model that answers at once."""

from collections.abc import Iterator
from statistics import median

from bench.computers import scripted_computer
from bench.results import Result
from bench.waiting import seconds_to_first_text, seconds_with_spare

_TURNS = 25
_NEW = 9


def measure() -> Iterator[Result]:
    """Wall time: on warm sessions, sandboxed and direct; of a new chat with the spare ready, and without (bubblewrap)."""
    with scripted_computer() as (computer, _), computer.connect() as connection:
        for mode in ("sandboxed", "direct"):
            session = str(connection.ask("Hello!", trustLevel=mode)["sessionId"])
            connection.ask("Hello again!", session)
            value = median(seconds_to_first_text(connection, session) for _ in range(_TURNS))
            yield Result(f"first_text.warm_{mode}", value * 1000, "ms", budget=60)
        value = median(seconds_to_first_text(connection) for _ in range(_NEW))
        yield Result("first_text.new_chat_cold", value * 1000, "ms", budget=800)
    with scripted_computer(spare=True) as (computer, _), computer.connect() as connection:
        value = median(seconds_with_spare(computer, connection) for _ in range(_NEW))
        yield Result("first_text.new_chat_spare", value * 1000, "ms", budget=150)
