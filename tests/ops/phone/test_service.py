"""Changes of the reach, one after the other."""

import asyncio
from pathlib import Path

import pytest

from parachute.base.errors import Conflict
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import set_value
from parachute.ops.phone.service import Phone
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.models import Caller, Scope
from parachute.security.keys.service import Keys
from parachute.web.first_boot.service import FirstBoot

# The addresses of the machine are asked for.
pytestmark = pytest.mark.process

OWNER = Caller("local", "the command line")


async def test_of_two_changes_at_once_one_is_made(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.root.mkdir(mode=0o700)
    keys = Keys(home.root)
    keys.create("laptop", (Scope("daily", frozenset(("read",))),))
    set_value(home, "host", "0.0.0.0")
    told: list[str] = []
    called = asyncio.Event()

    async def listen_on(host: str) -> None:
        told.append(host)
        called.set()

    phone = Phone(
        home, Settings(host="0.0.0.0"), keys, BrowserSessions(home.root, keys), FirstBoot(home.root, keys), listen_on
    )
    first, second = await asyncio.gather(phone.shut_out(OWNER), phone.shut_out(OWNER), return_exceptions=True)
    await called.wait()
    await phone.close()
    assert isinstance(second, Conflict)
    assert second.key == "restarting"
    assert not isinstance(first, BaseException)
    assert told == ["127.0.0.1"]
