"""Running the checks: all at once, each with its own time, and none that could end the others."""

import queue
import threading
import time
from collections.abc import Callable, Mapping

from parachute.base.errors import ParachuteError
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Check, Examination, Group, Level, NotApplicable, Result, problem

_ORDER = tuple(Group)


def examine(
    computer: Computer, checks: Mapping[str, Check], done: Callable[[str], None] = lambda identifier: None
) -> list[Examination]:
    """The results of the checks, by group; `done` hears the id of each that has ended. Waits for the slowest of them."""
    answers: queue.SimpleQueue[tuple[str, Result]] = queue.SimpleQueue()
    started = time.monotonic()
    for identifier, check in checks.items():
        # One that hangs, on a network drive that is gone, must not keep the process from ending.
        threading.Thread(
            target=_answer, args=(computer, identifier, check, answers), name=f"check {identifier}", daemon=True
        ).start()
    waiting, results = dict(checks), dict[str, Result]()
    while waiting:
        soonest = min(waiting, key=lambda each: waiting[each].seconds)
        left = started + waiting[soonest].seconds - time.monotonic()
        try:
            identifier, result = answers.get(timeout=max(0.0, left))
        except queue.Empty:
            identifier, result = soonest, _late(waiting[soonest])
        if waiting.pop(identifier, None):
            results[identifier] = result
            done(identifier)
    found = [Examination(identifier, check, results[identifier]) for identifier, check in checks.items()]
    return sorted(found, key=lambda each: (_ORDER.index(each.check.group), each.id))


def has_problem(examinations: list[Examination]) -> bool:
    """Return whether one of them is a problem, and not only a warning."""
    return any(each.result.level is Level.PROBLEM for each in examinations)


def _answer(
    computer: Computer, identifier: str, check: Check, answers: "queue.SimpleQueue[tuple[str, Result]]"
) -> None:
    answers.put((identifier, result_of(computer, check)))


def result_of(computer: Computer, check: Check) -> Result:
    """Run a check; its own failure is a result, too."""
    try:
        return check.examine(computer)
    except NotApplicable as reason:
        return Result(Level.SKIPPED, str(reason))
    except ParachuteError as error:
        return problem(f"This check failed: {error.message}", error.hint)
    except OSError as error:
        name = f": {error.filename}" if error.filename else ""
        return problem(
            f"This check failed: {error.strerror or error}{name}.", "Look at the file or folder that it names."
        )
    except Exception as error:
        return problem(
            f"This check failed: {type(error).__name__}: {error}.",
            "It is a mistake in this program; the other checks are not touched by it.",
        )


def _late(check: Check) -> Result:
    return problem(
        f"This check was not done within {check.seconds:g} seconds.",
        "The machine may be very busy, or a disk or a program does not answer.",
    )
