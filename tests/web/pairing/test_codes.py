"""Codes and wrong tries, with time that a test lets pass."""

import threading

import pytest

from parachute.base.errors import ParachuteError
from parachute.security.keys.models import FULL_ACCESS, Caller
from parachute.web.pairing.codes import Codes
from parachute.web.pairing.models import ALPHABET, TooManyTries, shown
from parachute.web.pairing.tries import MOST, Tries
from tests.support.clock import ManualClock

MAKER = Caller("cli", "command line", FULL_ACCESS)
WRONG = "2222-2222"


def made(codes: Codes) -> str:
    return codes.make(MAKER, None, FULL_ACCESS)[1]


def test_a_code_is_taken_once_however_it_is_typed(clock: ManualClock) -> None:
    codes = Codes(clock)
    code = made(codes)
    assert len(code) == 8
    assert set(code) <= set(ALPHABET)
    assert not set(ALPHABET) & set("ILOU01")
    assert codes.take(f" {shown(code).lower()} ") is not None
    assert codes.take(code) is None


def test_it_is_over_after_five_minutes(clock: ManualClock) -> None:
    codes = Codes(clock)
    early, late = made(codes), made(codes)
    clock.move(299.9)
    assert codes.take(early) is not None
    clock.move(0.2)
    assert codes.take(late) is None


def test_no_number_of_wrong_tries_ends_the_code_of_somebody_else(clock: ManualClock) -> None:
    codes = Codes(clock)
    code = made(codes)
    for _ in range(1000):
        assert codes.take(WRONG) is None
    assert codes.take(code) is not None


def test_one_that_was_cancelled_is_over(clock: ManualClock) -> None:
    codes = Codes(clock)
    code, characters = codes.make(MAKER, None, FULL_ACCESS)
    codes.cancel(code.id)
    assert codes.take(characters) is None
    with pytest.raises(ParachuteError) as refused:
        codes.cancel(code.id)
    assert refused.value.key == "no_such_code"


def test_nobody_keeps_the_characters(clock: ManualClock) -> None:
    codes = Codes(clock)
    code, characters = codes.make(MAKER, None, FULL_ACCESS)
    assert characters not in repr(code)
    # The same characters have another hash in the next process.
    assert Codes(clock)._digest(characters) != code.digest


def test_only_so_many_are_open(clock: ManualClock) -> None:
    codes = Codes(clock)
    for _ in range(20):
        made(codes)
    with pytest.raises(ParachuteError) as refused:
        made(codes)
    assert refused.value.key == "too_many_codes"
    clock.move(301)
    assert codes.take(made(codes)) is not None


def test_of_two_that_come_at_once_one_gets_it(clock: ManualClock) -> None:
    codes = Codes(clock)
    for _ in range(50):
        code, together = made(codes), threading.Barrier(4)
        found: list[bool] = []

        def take(code: str = code, together: threading.Barrier = together, found: list[bool] = found) -> None:
            together.wait()
            found.append(codes.take(code) is not None)

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [False, False, False, True]


def test_a_peer_that_guesses_waits_and_others_do_not(clock: ManualClock) -> None:
    tries = Tries(clock)
    for _ in range(MOST):
        tries.check("192.168.1.7")
        tries.note("192.168.1.7")
        clock.move(1)
    with pytest.raises(TooManyTries):
        tries.check("192.168.1.7")
    tries.check("192.168.1.8")
    clock.move(296)
    tries.check("192.168.1.7")


def test_who_has_a_network_of_version_6_is_one_peer(clock: ManualClock) -> None:
    tries = Tries(clock)
    for number in range(MOST):
        tries.note(f"2001:db8:1:2::{number}")
    with pytest.raises(TooManyTries):
        tries.check("2001:db8:1:2:aaaa::9")
    tries.check("2001:db8:1:3::1")
