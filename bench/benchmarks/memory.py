"""Memory of core and supervisor while nothing happens (PSS: what is shared with others counts in part)."""

from collections.abc import Iterator

from bench.computers import MeasuredComputer, scripted_computer
from bench.memory import proportional_megabytes
from bench.results import Result

_TURNS = 5


def measure() -> Iterator[Result]:
    """Before the first chat, after an app has asked for the list, and when everything of a chat was released again.

    A kept agent ends after minutes; here after milliseconds, so that the next sweep of the pool ends it. What is measured
    then is what core and supervisor still hold, as it would be a quarter of an hour after the last turn.
    """
    with scripted_computer(warm_minutes=0.001) as (computer, _), computer.connect() as connection:
        yield Result("memory.before_first_chat", _both(computer), "MB", budget=90, baseline=90)
        connection.get("/api/chat")
        yield Result("memory.after_listing", _both(computer), "MB", budget=90)
        session = connection.ask("Hello!")["sessionId"]
        for _ in range(_TURNS):
            connection.ask("Hello again!", session)
        connection.ask("Hello from another conversation!")
        computer.wait_until(lambda: not computer.others, "agents and sandboxes are gone", seconds=60)
        yield Result("memory.after_chat_all_released", _both(computer), "MB", budget=80, baseline=131)
        yield Result("memory.after_chat_all_released.supervisor", proportional_megabytes([computer.supervisor]), "MB")


def _both(computer: MeasuredComputer) -> float:
    return proportional_megabytes([computer.supervisor, computer.core])
