"""Signing in with the key of the first boot, and with what has ended meanwhile."""

from pathlib import Path

import pytest

from parachute.base.errors import ParachuteError
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.models import FULL_ACCESS, Caller, Scope
from parachute.security.keys.service import Keys
from parachute.web.first_boot.service import FirstBoot
from parachute.web.pairing.service import Pairing, Proof
from tests.support.clock import ManualClock

NOBODY = Caller("anonymous", "anonymous")


@pytest.fixture
def browsers(home: Path, keys: Keys, clock: ManualClock) -> BrowserSessions:
    return BrowserSessions(home, keys, clock=clock)


@pytest.fixture
def first_boot(home: Path, keys: Keys) -> FirstBoot:
    return FirstBoot(home, keys)


@pytest.fixture
def pairing(keys: Keys, browsers: BrowserSessions, first_boot: FirstBoot, clock: ManualClock) -> Pairing:
    return Pairing(keys, browsers, first_boot, clock)


def with_key(secret: str) -> Proof:
    return Proof(None, secret, "192.168.1.7")


def with_code(code: str) -> Proof:
    return Proof(code, None, "192.168.1.7")


def test_who_sets_the_computer_up_stays_signed_in(
    keys: Keys, browsers: BrowserSessions, first_boot: FirstBoot, pairing: Pairing
) -> None:
    invitation = first_boot.invite(boot="b")
    assert invitation.secret is not None
    made, _ = pairing.sign_in(with_key(invitation.secret), None, "Phone", NOBODY)
    assert made.scopes == FULL_ACCESS
    assert first_boot.invite(boot="b").secret is None, "it is in use, so no other one is shown"
    keys.create("app")
    first_boot.finish()
    assert browsers.holds(made.id)
    with pytest.raises(ParachuteError) as refused:
        pairing.sign_in(with_key(invitation.secret), None, "Phone", NOBODY)
    assert refused.value.key == "wrong_code"


def test_a_browser_that_administers_it_is_enough_to_end_set_up(
    browsers: BrowserSessions, first_boot: FirstBoot, pairing: Pairing
) -> None:
    invitation = first_boot.invite(boot="b")
    assert invitation.secret is not None
    browsers.create("Kitchen", [Scope.parse("daily:read,write")])
    with pytest.raises(ParachuteError) as refused:
        first_boot.finish(browsers.list())
    assert refused.value.key == "no_other_key"
    made, _ = pairing.sign_in(with_key(invitation.secret), None, "Phone", NOBODY)
    assert pairing.is_set_up() is False
    first_boot.finish(browsers.list())
    assert pairing.is_set_up() is True
    assert browsers.holds(made.id), "it stays when the key ends"


def test_the_code_of_a_key_that_is_revoked_is_over(keys: Keys, pairing: Pairing) -> None:
    key, _ = keys.create("phone")
    _, code = pairing.make_code(Caller("key", "phone", FULL_ACCESS, key=key.id), None, None)
    keys.revoke(key.id)
    with pytest.raises(ParachuteError) as refused:
        pairing.sign_in(with_code(code), None, "Phone", NOBODY)
    assert refused.value.key == "wrong_code"


def test_a_code_does_not_outlive_its_time_by_a_clock_that_is_set(pairing: Pairing, clock: ManualClock) -> None:
    # Nothing of it is counted by the time of day: only the time that passes ends it.
    _, code = pairing.make_code(Caller("cli", "command line", FULL_ACCESS), "phone", None)
    clock.move(301)
    with pytest.raises(ParachuteError) as refused:
        pairing.sign_in(with_code(code), None, "Phone", NOBODY)
    assert refused.value.key == "wrong_code"


def test_the_browsers_of_a_code_do_not_end_with_whoever_made_it(
    keys: Keys, browsers: BrowserSessions, pairing: Pairing
) -> None:
    key, _ = keys.create("phone")
    _, code = pairing.make_code(Caller("key", "phone", FULL_ACCESS, key=key.id), "desk", None)
    made, _ = pairing.sign_in(with_code(code), None, "Phone", NOBODY)
    keys.revoke(key.id)
    assert browsers.holds(made.id)
    assert made.label == "desk"
