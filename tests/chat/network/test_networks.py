"""Hosts that conversations reach, refusals and requests, and decisions that hold."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from parachute.base.database import Database
from parachute.base.errors import InvalidInput, NotFound
from parachute.chat.network.inbox import HostsSource
from parachute.chat.network.service import Networks
from parachute.chat.network.store import HostDecisions, create_host_decisions
from parachute.chat.repositories.service import Repositories
from parachute.chat.repositories.store import RepositoryDecisions, create_repository_decisions
from parachute.chat.sessions.models import Session
from parachute.chat.workspaces.models import EVERYTHING, Workspace
from parachute.config.settings.groups.network import NetworkSettings
from parachute.events.inbox.models import Answer
from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.egress.models import NO_NETWORK, Network
from parachute.sandbox.egress.service import Egress
from parachute.sandbox.git.models import Grant, Repository
from parachute.sandbox.git.tokens import Tokens
from parachute.sandbox.layout import EGRESS_SOCKET
from parachute.security.audit.service import Audit
from tests.sandbox.egress.internet import PUBLIC, Internet
from tests.support.connections import read_to_end

pytestmark = pytest.mark.process

NOW = "2026-01-01T00:00:00.000Z"
BOAT = Workspace("boat", "Boat", NOW, NOW, EVERYTHING)


class World:
    """The networks of sessions, with an internet of the test."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder = folder
        self.internet = Internet()
        self.audit = Audit(folder / "audit")
        self.egress = Egress(self.audit, resolve=self.internet.resolve, connect=self.internet.connect)
        self.decisions = HostDecisions(database)
        self.repositories = Repositories(
            self.egress,
            RepositoryDecisions(database),
            Tokens(folder / "state"),
            Certificates(),
            self.audit,
            self._changed,
        )
        self.changes = 0
        self.networks = self.made()

    def made(self, **settings: Any) -> Networks:
        return Networks(
            NetworkSettings(**settings),
            self.egress,
            self.decisions,
            self.repositories,
            self.audit,
            self._changed,
            self._went_out,
        )

    async def _went_out(self, owner: str) -> None:
        pass

    def _changed(self) -> None:
        self.changes += 1

    async def open(self, name: str, workspace: Workspace | None = None, **fields: Any) -> Network:
        within = fields.pop("within", None)
        session = Session(id=name, created_at=NOW, updated_at=NOW, title=f"About {name}", **fields)
        return await self.networks.open(session, workspace, self.folder / name, within)

    async def ask(self, name: str, url: str = "http://api.example.org/") -> str:
        """The answer to a request of a session."""
        reader, writer = await asyncio.open_unix_connection(self.folder / name / EGRESS_SOCKET)
        writer.write(f"GET {url} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n\r\n".encode())
        answer = await read_to_end(reader)
        writer.close()
        return answer.decode()

    async def reached(self, name: str, url: str = "http://api.example.org/") -> bool:
        return "hello from outside" in await self.ask(name, url)


async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello from outside")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    database = Database(tmp_path / "trust.db", (create_host_decisions, create_repository_decisions))
    await database.open()
    made = World(tmp_path, database)
    for address in (PUBLIC, "192.168.7.2"):
        await made.internet.serve(address, 80, hello)
    yield made
    await made.egress.close_all()
    await made.internet.close()
    await made.audit.close()
    await database.close()


async def test_a_host_is_refused_at_once_and_asked_about_once(world: World) -> None:
    assert (await world.open("a")).mode == "ask"
    for _ in range(2):
        answer = await world.ask("a")
        assert answer.startswith("HTTP/1.1 403 Not Allowed Yet, The Owner Was Asked")
        assert "try again once it is allowed" in answer
    (asked,) = world.networks.waiting()
    assert (asked.host, asked.workspace, asked.source) == ("api.example.org", "", "About a")
    assert (world.changes, world.internet.reached) == (1, [])


async def test_always_holds_for_all_of_a_workspace_and_for_no_other(world: World) -> None:
    await world.open("a", BOAT)
    await world.open("b", BOAT)
    await world.open("c")
    await world.ask("a")
    await world.networks.decide("boat", "api.example.org", "always", "owner")
    assert [await world.reached(name) for name in ("a", "b", "c")] == [True, True, False]
    assert [asked.workspace for asked in world.networks.waiting()] == [""]
    await world.networks.forget("boat", "api.example.org", "owner")
    assert not await world.reached("a")
    with pytest.raises(NotFound):
        await world.networks.forget("boat", "api.example.org", "owner")


async def test_decisions_are_in_the_audit_log_with_who_decided(world: World) -> None:
    await world.open("a")
    await world.ask("a")
    (asked,) = world.networks.waiting()
    await world.networks.allow_once(asked, "phone")
    await world.networks.decide("boat", "api.example.org", "never", "desk")
    await world.networks.forget("boat", "api.example.org", "desk")
    await world.audit.close()
    audited = [json.loads(line) for path in world.folder.glob("audit/*") for line in path.read_text().splitlines()]
    assert [(each["source_id"], each["target_endpoint"]) for each in audited if each["event_type"] == "network"] == [
        ("phone", "allow once: api.example.org, a"),
        ("desk", "never: api.example.org, boat"),
        ("desk", "forget: api.example.org, boat"),
    ]
    assert all(each["hosts"] == ["api.example.org"] for each in audited if each["event_type"] == "network")


async def test_once_holds_for_the_conversation_that_asked_until_its_sandbox_ends(world: World) -> None:
    await world.open("a")
    await world.open("b")
    await world.ask("a")
    (asked,) = world.networks.waiting()
    await world.networks.allow_once(asked, "owner")
    assert (await world.reached("a"), await world.reached("b")) == (True, False)
    await world.open("a")  # the next turn
    assert await world.reached("a")
    with pytest.raises(NotFound):
        await world.networks.allow_once(asked, "owner")
    await world.networks.close("a")
    await world.open("a")
    assert not await world.reached("a")
    asked = world.networks.waiting()[-1]
    await world.networks.close(asked.session)
    await world.networks.allow_once(asked, "owner")  # after its sandbox has ended
    await world.open(asked.session)
    assert await world.reached(asked.session)


async def test_a_stop_of_all_agents_closes_every_network(world: World) -> None:
    for name in ("a", "b"):
        await world.open(name)
    await world.networks.close_all()
    assert world.egress.status() == []
    await world.open("a")
    assert "has been asked" in await world.ask("a")


async def test_never_is_not_asked_about_again_also_after_a_restart(world: World) -> None:
    await world.open("a")
    await world.networks.decide("", "api.example.org", "never", "owner")
    await world.decisions.load()
    assert "The owner has refused" in await world.ask("a")
    assert world.networks.waiting() == []


async def test_decisions_about_an_earlier_workspace_of_the_name_do_not_count(world: World) -> None:
    await world.networks.decide("boat", "api.example.org", "always", "owner")
    later = "2999-01-01T00:00:00.000Z"
    await world.open("a", Workspace("boat", "Boat", later, later, EVERYTHING))
    assert not await world.reached("a")


async def test_a_list_asks_nobody_and_off_has_no_socket(world: World) -> None:
    listed = Workspace("boat", "Boat", NOW, NOW, EVERYTHING, network=Network("list", ("web.example.org",)))
    await world.open("a", listed)
    assert await world.reached("a", "http://web.example.org/")
    assert "it is not on the list" in await world.ask("a")
    off = Workspace("boat", "Boat", NOW, NOW, EVERYTHING, network=Network("off", ("web.example.org",)))
    assert (await world.open("a", off)).mode == "off"
    assert not (world.folder / "a" / EGRESS_SOCKET).exists()
    assert world.networks.waiting() == []
    world.networks = world.made(mode="list", hosts=["api.example.org"])
    await world.open("casual")
    assert await world.reached("casual")


async def test_who_writes_from_outside_reaches_nothing_without_a_workspace(world: World) -> None:
    assert (await world.open("a", source="telegram")).mode == "off"
    assert (await world.open("a", BOAT, source="telegram")).mode == "ask"


async def test_the_network_at_home_is_closed_unless_the_owner_names_it(world: World) -> None:
    world.internet.names["nas.local"] = world.internet.names["trap.example.org"] = [["192.168.7.2"]]
    await world.open("a")
    for host in ("192.168.7.2", "127.0.0.1"):
        assert "are closed" in await world.ask("a", f"http://{host}/")
    assert world.networks.waiting() == []
    for host in ("nas.local", "trap.example.org", "192.168.7.2"):
        await world.networks.decide("", host, "always", "owner")
    assert await world.reached("a", "http://nas.local/")
    assert await world.reached("a", "http://192.168.7.2/")
    # A name of the internet that leads home is an attack, also where the owner allowed the name.
    assert "a private address" in await world.ask("a", "http://trap.example.org/")
    for host in ("127.0.0.1", "localhost", "*", "169.254.169.254"):
        with pytest.raises(InvalidInput):
            await world.networks.decide("", host, "always", "owner")


async def test_an_answer_to_what_waits_no_more_is_an_error(world: World) -> None:
    await world.open("a")
    await world.ask("a")
    source = HostsSource(world.networks)
    (item,) = await source.items()
    await source.answer(item, Answer("never", "owner"))
    with pytest.raises(NotFound):
        await source.answer(item, Answer("always", "owner"))


async def test_only_so_many_hosts_wait(world: World) -> None:
    await world.open("a")
    for number in range(100):
        await world.ask("a", f"http://host{number}.example.org/")
    assert "too many hosts wait" in await world.ask("a")
    assert len(world.networks.waiting()) == 10
    await world.open("b")
    assert "has been asked" in await world.ask("b"), "one conversation does not ask in place of all"


async def test_what_was_refused_is_stronger_than_every_list(world: World) -> None:
    await world.internet.serve(PUBLIC, 8443, hello)
    world.internet.names["evil.example.org"] = world.internet.names["api.example.org"]
    listed = replace(BOAT, network=Network("list", ("*.example.org", "evil.example.org", "evil.example.org:8443")))
    await world.open("a", listed)
    evil = ("http://evil.example.org/", "http://evil.example.org:8443/")
    assert await world.reached("a", evil[0])
    await world.networks.decide("boat", "evil.example.org", "never", "owner")
    await world.networks.decide("boat", "evil.example.org:8443", "always", "owner")
    for url in evil:
        assert "The owner has refused" in await world.ask("a", url)
    assert await world.reached("a")
    session = Session(id="a", created_at=NOW, updated_at=NOW)
    with pytest.raises(InvalidInput):
        world.networks.check_within(session, listed, Network("list", ("evil.example.org",)))
    await world.networks.decide("boat", "*.example.org", "never", "owner")
    assert not await world.reached("a")


async def test_hosts_that_are_left_to_a_conversation_are_those_of_its_workspace_that_are_named(world: World) -> None:
    boat = replace(BOAT, network=Network("list", ("*.example.org", "other.example.net")))
    wanted = Network("list", ("api.example.org", "elsewhere.example.com"))
    left = await world.open("a", boat, within=wanted)
    assert (left.mode, left.hosts) == ("list", ("api.example.org",))
    assert await world.reached("a")
    for url in ("http://www.example.org/", "http://other.example.net/", "http://elsewhere.example.com/"):
        assert "not on the list of allowed hosts" in await world.ask("a", url)
    assert (await world.open("b", boat, within=NO_NETWORK)).is_open is False
    assert (await world.open("c", replace(BOAT, network=NO_NETWORK), within=wanted)).is_open is False


async def test_a_decision_for_all_of_a_workspace_gives_no_host_back_that_was_taken(world: World) -> None:
    await world.open("a", BOAT, within=Network("list", ("api.example.org",)))
    assert "not on the list of allowed hosts" in await world.ask("a")
    assert world.networks.waiting() == []
    for host in ("api.example.org", "www.example.org"):
        await world.networks.decide("boat", host, "always", "owner")
    assert await world.reached("a")
    assert not await world.reached("a", "http://www.example.org/")


async def test_a_wider_host_is_an_error(world: World) -> None:
    session = Session(id="a", created_at=NOW, updated_at=NOW)
    boat = replace(BOAT, network=Network("list", ("api.example.org",)))
    world.networks.check_within(session, boat, Network("list", ("api.example.org",)))
    for host in ("*.example.org", "www.example.org", "api.example.org:8443"):
        with pytest.raises(InvalidInput) as failure:
            world.networks.check_within(session, boat, Network("list", (host,)))
        assert failure.value.key == "wider"


async def test_repositories_at_hosts_that_were_taken_are_refused(world: World) -> None:
    git = (Grant("git.example.org/owner/boat", "fetch"), Grant("example.net/a/b", "push"))
    left = await world.open("a", replace(BOAT, git=git), within=Network("list", ("git.example.org",)))
    assert left.repositories == ("git.example.org/owner/boat (fetch)",)
    for repository in (Repository("example.net", "a/b"), Repository("elsewhere.example.com", "a/b")):
        await world.repositories.decide("boat", repository, "push", "always", "owner")
        place = world.repositories._opened["a"].place
        assert world.repositories.verdict(place, repository, "fetch") == "refused"
