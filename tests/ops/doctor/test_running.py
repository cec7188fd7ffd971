"""Checks run beside each other: none ends, or holds up, the others."""

import threading
from collections.abc import Callable

import pytest

from parachute.base.errors import Unavailable
from parachute.ops.doctor.checks import all_checks, named
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Check, Group, Level, NotApplicable, Result, ok, problem, warning
from parachute.ops.doctor.running import examine, has_problem
from tests.support.errors import raises

from .machine import Machine

pytestmark = pytest.mark.long


def check(examining: Callable[[Computer], Result], seconds: float = 20.0, group: Group = Group.DATA) -> Check:
    """A check of this test."""
    return Check("A check", group, examining, seconds)


def raising(error: Exception) -> Callable[[Computer], Result]:
    """A check that fails."""

    def examining(_: Computer) -> Result:
        raise error

    return examining


@pytest.mark.parametrize(
    ("error", "level", "message"),
    [
        (ZeroDivisionError("by zero"), Level.PROBLEM, "This check failed: ZeroDivisionError: by zero."),
        (PermissionError(13, "Permission denied", "/x"), Level.PROBLEM, "This check failed: Permission denied: /x."),
        (Unavailable("podman did not answer.", "Wait."), Level.PROBLEM, "This check failed: podman did not answer."),
        (NotApplicable("It is not run by systemd."), Level.SKIPPED, "It is not run by systemd."),
    ],
)
def test_what_a_check_fails_with_is_its_own_result(
    machine: Machine, error: Exception, level: Level, message: str
) -> None:
    checks = {"broken": check(raising(error)), "well": check(lambda _: ok("Fine."))}
    broken, well = examine(machine.computer(), checks)
    assert (broken.id, broken.result.level, broken.result.message) == ("broken", level, message)
    assert (well.id, well.result.level) == ("well", Level.OK)
    assert has_problem([broken, well]) == (level is Level.PROBLEM)


def test_a_check_that_hangs_is_late_and_the_others_are_told(machine: Machine) -> None:
    released = threading.Event()
    reported: list[str] = []

    def hanging(_: Computer) -> Result:
        released.wait(60)
        return ok("Too late.")

    checks = {"hangs": check(hanging, seconds=0.05), "well": check(lambda _: ok("Fine."))}
    try:
        hangs, well = examine(machine.computer(), checks, reported.append)
    finally:
        released.set()
    assert hangs.result.level is Level.PROBLEM
    assert hangs.result.message == "This check was not done within 0.05 seconds."
    assert well.result.message == "Fine."
    assert sorted(reported) == ["hangs", "well"]


def test_checks_run_at_the_same_time(machine: Machine) -> None:
    both = threading.Barrier(2)

    def meeting(_: Computer) -> Result:
        both.wait(60)
        return ok("They have met.")

    found = examine(machine.computer(), {"a": check(meeting), "b": check(meeting)})
    assert [each.result.message for each in found] == ["They have met."] * 2


def test_results_are_in_the_order_of_their_groups(machine: Machine) -> None:
    groups = {"a": Group.ACCESS, "b": Group.MACHINE, "c": Group.ACCESS, "d": Group.SERVICES}
    checks = {name: check(lambda _: ok("Fine."), group=group) for name, group in groups.items()}
    assert [each.id for each in examine(machine.computer(), checks)] == ["b", "d", "a", "c"]


def test_only_problems_count(machine: Machine) -> None:
    checks = {"a": check(lambda _: warning("Old.", "Renew it.")), "b": check(raising(NotApplicable("No.")))}
    assert not has_problem(examine(machine.computer(), checks))
    assert has_problem(examine(machine.computer(), {"c": check(lambda _: problem("Broken.", None))}))


def test_a_file_in_the_folder_is_a_check() -> None:
    found = all_checks()
    assert len(found) > 30
    assert {each.group for each in found.values()} == set(Group)
    assert len({each.title for each in found.values()}) == len(found)
    assert list(named(["swap", "clock"])) == ["clock", "swap"]
    with raises("no_check", names="'weather'"):
        named(["clock", "weather"])
