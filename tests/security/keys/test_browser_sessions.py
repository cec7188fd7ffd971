"""Browsers that are signed in: how each ends."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from parachute.base.errors import ParachuteError
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.models import FULL_ACCESS, Scope
from parachute.security.keys.service import Keys
from tests.support.clock import ManualClock

DAY = 86400.0
CHAT = (Scope.parse("chat:read,write"),)
Opened = Callable[[], BrowserSessions]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime.now(UTC))


@pytest.fixture
def opened(home: Path, keys: Keys, clock: ManualClock) -> Iterator[Opened]:
    """Makes what a process that starts has of the browsers."""
    made: list[BrowserSessions] = []

    def open_() -> BrowserSessions:
        made.append(BrowserSessions(home, keys, clock=clock))
        return made[-1]

    yield open_
    for each in made:
        each.close()


@pytest.fixture
def browsers(opened: Opened) -> BrowserSessions:
    return opened()


def age(home: Path, days: float) -> None:
    """Write other times into the file, as a clock that was wrong would have."""
    path = home / "browser-sessions.yaml"
    moment = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds").replace("+00:00", "Z")
    text = re.sub(r"(created|last_used): '.*?'", rf"\1: '{moment}'", path.read_text())
    path.write_text(text)


def test_its_secret_is_its_own_and_nowhere_else(home: Path, keys: Keys, browsers: BrowserSessions) -> None:
    made, secret = browsers.create("Ada's phone", CHAT)
    found = browsers.authenticate(secret)
    assert found is not None
    assert (found.id, found.label, found.scopes) == (made.id, "Ada's phone", CHAT)
    assert keys.authenticate(secret) is None, "a cookie is no key"
    assert browsers.authenticate(keys.create("phone")[1]) is None, "and a key no cookie"
    path = home / "browser-sessions.yaml"
    assert secret not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert browsers.authenticate(made.hash) is None, "nor is what the file says"


def test_it_ends_after_ninety_days_without_use(home: Path, opened: Opened) -> None:
    made, secret = opened().create("phone", CHAT)
    age(home, 89.9)
    assert opened().holds(made.id)
    age(home, 90.1)
    ended = opened()
    assert not ended.holds(made.id)
    assert ended.authenticate(secret) is None
    assert ended.list() == ()
    ended.create("next", CHAT)
    assert (home / "browser-sessions.yaml").read_text().count("name:") == 1, "what has ended is removed"


def test_a_clock_that_jumps_signs_nobody_out_who_is_there(home: Path, opened: Opened, clock: ManualClock) -> None:
    browsers = opened()
    made, secret = browsers.create("phone", CHAT)
    assert browsers.authenticate(secret)
    age(home, 400)  # the network says now that it is a year later than it was believed
    assert browsers.authenticate(secret)
    assert not opened().holds(made.id), "a program that starts knows the file alone"
    clock.move(91 * DAY)
    age(home, 91)
    assert browsers.authenticate(secret) is None


def test_a_time_that_is_still_to_come_is_put_right(home: Path, opened: Opened) -> None:
    _, secret = opened().create("phone", CHAT)
    age(home, -4000)
    browsers = opened()
    assert browsers.authenticate(secret)
    browsers.flush()
    (stored,) = browsers.store.load().keys
    assert stored.last_used_at is not None
    assert stored.last_used_at <= datetime.now(UTC)


def test_being_seen_is_written_seldom(home: Path, opened: Opened) -> None:
    _, secret = opened().create("phone", CHAT)
    browsers = opened()
    assert browsers.authenticate(secret)
    assert browsers._timer is None, "it was written less than an hour ago"
    age(home, 1)
    assert browsers.authenticate(secret)
    assert browsers._timer is not None


def test_it_ends_with_the_key_that_it_signed_in_with(keys: Keys, browsers: BrowserSessions) -> None:
    key, _ = keys.create("phone")
    made, secret = browsers.create("phone", FULL_ACCESS, parent=key.id)
    assert browsers.holds(made.id)
    keys.revoke(key.id)
    assert not browsers.holds(made.id)
    assert browsers.authenticate(secret) is None


def test_signing_in_again_takes_its_place(browsers: BrowserSessions) -> None:
    before, old = browsers.create("phone", CHAT)
    after, secret = browsers.create("phone", CHAT, instead_of=before.id)
    assert [each.id for each in browsers.list()] == [after.id]
    assert browsers.authenticate(old) is None
    assert browsers.authenticate(secret)


def test_another_program_signs_it_out(browsers: BrowserSessions, opened: Opened) -> None:
    made, secret = browsers.create("phone", CHAT)
    assert browsers.authenticate(secret)
    opened().revoke("phone")
    assert browsers.authenticate(secret) is None
    with pytest.raises(ParachuteError) as refused:
        browsers.revoke(made.id)
    assert refused.value.key == "no_such_browser"


def test_of_two_of_one_name_the_id_says_which(browsers: BrowserSessions) -> None:
    first, _ = browsers.create("phone", CHAT)
    second, _ = browsers.create("phone", CHAT)
    with pytest.raises(ParachuteError) as refused:
        browsers.revoke("phone")
    assert first.id in str(refused.value)
    browsers.revoke(first.id)
    assert browsers.revoke("phone").id == second.id


def test_a_confirmation_is_over_after_ten_minutes_and_with_the_process(
    browsers: BrowserSessions, opened: Opened, clock: ManualClock
) -> None:
    made, _ = browsers.create("phone", FULL_ACCESS)
    clock.move(599)
    assert browsers.confirmed_for(made.id) == 1
    clock.move(1)
    assert browsers.confirmed_for(made.id) == 0
    browsers.confirm(made.id)
    assert browsers.confirmed_for(made.id) == 600
    assert opened().confirmed_for(made.id) == 0


@pytest.mark.parametrize(
    "text", ["browser_sessions: [", "api_keys: []", "browser_sessions:\n- name: x", "browser_sessions: 1"]
)
def test_a_file_that_is_not_understood_lets_no_browser_in(home: Path, opened: Opened, text: str) -> None:
    made, secret = opened().create("phone", FULL_ACCESS)
    (home / "browser-sessions.yaml").write_text(text)
    browsers = opened()
    with pytest.raises(ParachuteError) as refused:
        browsers.authenticate(secret)
    assert refused.value.key == "keys_unreadable"
    assert not browsers.holds(made.id)
    with pytest.raises(ParachuteError):
        browsers.create("next", FULL_ACCESS)
    assert (home / "browser-sessions.yaml").read_text() == text


def test_a_name_that_is_none_is_refused(browsers: BrowserSessions) -> None:
    for name in ("", " x", "x" * 101, "a\nb", "\x1b[31m"):
        with pytest.raises(ParachuteError) as refused:
            browsers.create(name, CHAT)
        assert refused.value.key == "invalid_name", name
        assert browsers.list() == (), name
