"""Issue of a certificate: by the real scheduler with a clock that the test sets, and by the real program."""

import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.events.scheduler.service import Scheduler
from parachute.modules.registry.service import Modules
from parachute.security.keys.service import Keys
from parachute.security.mcp_clients.service import McpClients
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.storage import Installation
from parachute.server.composition.tls import build_tls
from parachute.supervisor.credentials import Credentials
from parachute.web.tls.service import Tls
from tests.support.authority import signed
from tests.support.clock import ManualClock
from tests.support.waiting import until

pytestmark = pytest.mark.process

DAY = timedelta(days=1)


class Place:
    """A home with the service, and the scheduler that renews its certificate."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock(datetime.now(UTC))
        self.home = Home(folder / "home")
        self.home.root.mkdir()
        self.own = signed(None, folder / "own.pem", "notes.example.org")
        self.vault = folder / "vault"
        self.stack = AsyncExitStack()
        self.scheduler = Scheduler(self.clock)

    async def start(self, **settings: object) -> Tls:
        found = Settings.model_validate({"vault": self.vault, **settings})
        keys = Keys(self.home.root)
        self.stack.callback(keys.close)
        installation = Installation(
            home=self.home,
            settings=found,
            credentials=Credentials({}),
            keys=keys,
            mcp_clients=McpClients(self.home.root),
            modules=Modules(self.home, self.vault),
        )
        return await build_tls(installation, self.scheduler, Lifecycle(self.stack))

    async def look(self) -> None:
        """Run the scheduler as it does each minute, until nothing runs."""
        await self.scheduler.run_due()
        await until(lambda: not self.scheduler.running, "the certificate is made")


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """A home with a clock."""
    made = Place(tmp_path)
    yield made
    await made.scheduler.close()
    await made.stack.aclose()


def ends(tls: Tls) -> datetime:
    assert tls.issued is not None
    return datetime.fromisoformat(tls.issued.certificate.expires_at)


@pytest.mark.long
async def test_it_is_made_once_and_renewed_before_its_end(place: Place) -> None:
    tls = await place.start(tls={"enabled": True})
    assert tls.context is None
    await place.look()
    first, begun = ends(tls), tls.context
    assert begun is not None
    await place.look()
    place.clock.moment += 59 * DAY
    await place.look()
    assert ends(tls) == first, "it is valid for a month still"
    place.clock.moment += 2 * DAY
    await place.look()
    assert ends(tls) > first
    assert isinstance(tls.context, ssl.SSLContext)
    assert tls.context is not begun


async def test_a_clock_that_was_wrong_is_made_good(place: Place) -> None:
    now, place.clock.moment = place.clock.moment, place.clock.moment + 700 * DAY
    tls = await place.start(tls={"enabled": True})
    await place.look()
    place.clock.moment = now
    await place.look()
    assert ends(tls) - now < 91 * DAY


@pytest.mark.parametrize(
    ("settings", "is_on"),
    [
        ({"host": "127.0.0.1"}, False),
        ({"host": "0.0.0.0"}, True),
        ({"host": "0.0.0.0", "tls": {"enabled": False}}, False),
        ({"host": "127.0.0.1", "tls": {"certificate": "/own.pem"}}, True),
    ],
)
async def test_it_is_on_where_others_can_connect(place: Place, settings: dict[str, object], is_on: bool) -> None:
    tls = await place.start(**settings)
    assert tls.enabled is is_on
    if not is_on:
        await place.look()
        assert not (place.home.root / "tls").exists()


async def test_a_start_has_it_at_once_and_notices_a_name_that_came_later_and_files_of_the_owner(place: Place) -> None:
    await place.start(tls={"enabled": True}, hostnames=["192.168.7.7"])
    await place.look()
    assert (await place.start(tls={"enabled": True}, hostnames=["192.168.7.7"])).context is not None
    settings = {"enabled": True, "certificate": place.own}
    tls = await place.start(tls=settings, hostnames=["192.168.7.8"])
    assert await tls.is_due()
    await place.look()
    assert tls.issued is not None
    assert "192.168.7.8" in tls.issued.certificate.names
    assert tls.issued.own is not None
    before = tls.issued.own.fingerprint
    assert not await tls.is_due()
    # As certbot does it: another file takes the place.
    signed(None, place.own.with_name("next.pem"), "notes.example.org").replace(place.own)
    await place.look()
    assert tls.issued.own.fingerprint != before


async def test_what_cannot_be_made_is_said_and_not_tried_each_minute(place: Place) -> None:
    tls = await place.start(tls={"enabled": True})
    (place.home.root / "tls").write_text("no folder")
    with pytest.raises(ParachuteError) as refused:
        await tls.renew()
    assert refused.value.key == "no_certificate"
    assert len(tls.problems) == 1
    assert not await tls.is_due()
    place.clock.moment += timedelta(hours=2)
    (place.home.root / "tls").unlink()
    await place.look()
    assert tls.context is not None
    assert tls.problems == []
