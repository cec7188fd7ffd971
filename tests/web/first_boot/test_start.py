"""Start of core where others can reach it, at every point of set-up."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.document import KeysUnreadable
from parachute.security.keys.models import FULL_ACCESS
from parachute.security.keys.service import Keys
from parachute.server.app import create
from parachute.supervisor.credentials import Credentials
from parachute.web.first_boot.service import FirstBoot
from tests.support.errors import raises


def new(home: Home) -> None:
    """Nobody has done anything."""


def invited(home: Home) -> None:
    """The screen shows the key."""
    FirstBoot(home.root, Keys(home.root)).invite(boot="boot")


def shown_key_is_gone(home: Home) -> None:
    """Cut off while set-up ended."""
    invited(home)
    keys = Keys(home.root)
    keys.revoke(keys.list()[0].id)


def done(home: Home) -> None:
    """The app has its key."""
    Keys(home.root).create("Phone")
    FirstBoot(home.root, Keys(home.root)).finish()


def done_by_a_browser(home: Home) -> None:
    """Set up in a browser, and no app has a key."""
    invited(home)
    keys = Keys(home.root)
    browsers = BrowserSessions(home.root, keys)
    browsers.create("Phone", FULL_ACCESS)
    FirstBoot(home.root, keys).finish(browsers.list())
    assert not keys.list()


def done_by_a_browser_whose_time_is_over(home: Home) -> None:
    """Nobody comes in any more, but modules and backups work on."""
    done_by_a_browser(home)
    path = home.root / "browser-sessions.yaml"
    path.write_text(re.sub(r"20\d\d-", "2001-", path.read_text()))
    assert not BrowserSessions(home.root, Keys(home.root)).list()


def done_and_every_key_revoked(home: Home) -> None:
    """Nobody has a key any more."""
    done(home)
    Keys(home.root).revoke("Phone")


def done_and_begun_anew(home: Home) -> None:
    """`first-boot --again` without another key."""
    done_and_every_key_revoked(home)
    FirstBoot(home.root, Keys(home.root)).invite(boot="boot", again=True)


def broken_progress(home: Home) -> None:
    """Break the record of set-up, without a key."""
    (home.root / "setup.json").write_text("{")


def broken_keys(home: Home) -> None:
    """Break the file of keys."""
    invited(home)
    (home.root / "keys.yaml").write_text("api_keys:")


POINTS: list[tuple[Callable[[Home], None], type[ParachuteError] | None]] = [
    (new, None),
    (invited, None),
    (shown_key_is_gone, None),
    (done, None),
    (done_by_a_browser, None),
    (done_by_a_browser_whose_time_is_over, None),
    (done_and_begun_anew, None),
    (done_and_every_key_revoked, ParachuteError),
    (broken_progress, ParachuteError),
    (broken_keys, KeysUnreadable),
]


@pytest.mark.parametrize(("point", "error"), POINTS, ids=[point.__name__ for point, _ in POINTS])
def test_it_starts_without_a_key_only_while_it_waits_for_its_first_one(
    tmp_path: Path, point: Callable[[Home], None], error: type[ParachuteError] | None
) -> None:
    home = Home(tmp_path / "trust")
    home.root.mkdir(mode=0o700)
    point(home)
    settings = Settings(vault=tmp_path / "vault")
    create(home, settings, Credentials({})).build_middleware_stack()
    for host in ("0.0.0.0", "::", "192.168.1.5"):
        open_to_others = settings.model_copy(update={"host": host})
        if error is None:
            create(home, open_to_others, Credentials({})).build_middleware_stack()
        else:
            with pytest.raises(error):
                create(home, open_to_others, Credentials({})).build_middleware_stack()
        careless = settings.model_copy(update={"host": host, "auth_mode": "disabled"})
        with raises("auth_disabled"):
            create(home, careless, Credentials({})).build_middleware_stack()
