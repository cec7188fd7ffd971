"""The password on the emergency kit confirms who sits before a browser that is signed in, and lets nobody in."""

from pathlib import Path

import pytest

from parachute.base.errors import ParachuteError
from parachute.security.keys.browser_sessions import CONFIRMED_SECONDS, BrowserSessions
from parachute.security.keys.models import FULL_ACCESS, Caller
from parachute.security.keys.service import Keys
from parachute.web.first_boot.service import FirstBoot
from parachute.web.pairing.service import Pairing, Proof
from tests.support.clock import ManualClock

NOBODY = Caller("anonymous", "anonymous")


def shown(kit: str) -> Proof:
    return Proof(None, None, "192.168.1.7", kit)


def test_the_kit_confirms_a_browser_and_signs_nobody_in(home: Path, keys: Keys, clock: ManualClock) -> None:
    browsers = BrowserSessions(home, keys, clock=clock)
    pairing = Pairing(keys, browsers, FirstBoot(home, keys), clock, is_kit="on the paper".__eq__)
    _, characters = pairing.make_code(Caller("cli", "owner", FULL_ACCESS), None, None)
    made, _ = pairing.sign_in(Proof(characters, None, "192.168.1.7"), None, "Phone", NOBODY)
    browser = Caller("browser", made.label, made.scopes, True, made.id)
    clock.move(CONFIRMED_SECONDS + 1)
    assert not browsers.confirmed_for(made.id)
    pairing.confirm(browser, shown("on the paper"))
    assert browsers.confirmed_for(made.id)

    with pytest.raises(ParachuteError) as refused:
        pairing.sign_in(shown("on the paper"), None, "Thief", NOBODY)
    assert refused.value.key == "wrong_code"
    clock.move(CONFIRMED_SECONDS + 1)
    keyed = []
    for _ in range(6):
        with pytest.raises(ParachuteError) as refused:
            pairing.confirm(browser, shown("guessed"))
        keyed.append(refused.value.key)
    assert keyed == ["wrong_code"] * 5 + ["too_many_tries"]
    assert not browsers.confirmed_for(made.id)
    with pytest.raises(ParachuteError) as refused:
        pairing.confirm(NOBODY, shown("on the paper"))
    assert refused.value.key == "no_browser"
