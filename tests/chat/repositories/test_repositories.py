"""Access of conversations to repositories, requests, and decisions that hold."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.base.database import Database
from parachute.base.errors import InvalidInput, NotFound
from parachute.chat.network.store import create_host_decisions
from parachute.chat.repositories.inbox import RepositoriesSource
from parachute.chat.repositories.store import create_repository_decisions
from parachute.chat.workspaces.models import EVERYTHING, Workspace
from parachute.events.inbox.models import Answer
from parachute.sandbox.egress.models import NO_NETWORK, Network
from parachute.sandbox.git.models import Access, Grant, Repository
from parachute.sandbox.layout import EGRESS_SOCKET
from tests.chat.network.test_networks import BOAT, NOW, World
from tests.support.connections import read_to_end

pytestmark = pytest.mark.process

HULL = Repository.parse("git.example.org/owner/hull")
ASKED = "The owner has been asked"


class GitWorld(World):
    """Conversations that use git; what is allowed fails after that, since no host answers."""

    async def git(self, name: str, access: Access = "fetch", repository: object = HULL) -> str:
        """The answer to the first request of git."""
        reader, writer = await asyncio.open_unix_connection(self.folder / name / EGRESS_SOCKET)
        service = "receive" if access == "push" else "upload"
        host = "git.parachute.internal"
        path = f"http://{host}/{repository}/info/refs?service=git-{service}-pack"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        answer = await read_to_end(reader)
        writer.close()
        return answer.decode()

    async def may(self, name: str, access: Access = "fetch", repository: object = HULL) -> bool:
        return "cannot be reached" in await self.git(name, access, repository)

    def waiting(self) -> list[tuple[str, str, str]]:
        return [(each.workspace, each.access, str(each.repository)) for each in self.repositories.waiting()]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[GitWorld]:
    database = Database(tmp_path / "trust.db", (create_host_decisions, create_repository_decisions))
    await database.open()
    (tmp_path / "state").mkdir(mode=0o700)
    made = GitWorld(tmp_path, database)
    made.internet.names |= {"git.example.org": [["93.184.216.35"]], "nas.local": [["192.168.7.2"]]}
    yield made
    await made.egress.close_all()
    await made.internet.close()
    await made.audit.close()
    await database.close()


async def test_fetch_and_push_are_asked_about_once_and_apart(world: GitWorld) -> None:
    await world.open("a", BOAT)
    for _ in range(2):
        answer = await world.git("a")
        assert answer.startswith("HTTP/1.1 403 ")
        assert ASKED in answer
    await world.git("a", "push")
    assert world.waiting() == [("boat", "fetch", str(HULL)), ("boat", "push", str(HULL))]
    assert (world.changes, world.internet.reached) == (2, [])


async def test_always_holds_for_the_workspace_alone(world: GitWorld) -> None:
    await world.open("a", BOAT)
    await world.open("b", BOAT)
    await world.open("c")
    await world.git("a")
    await world.repositories.decide("boat", HULL, "fetch", "always", "owner")
    assert [await world.may(name) for name in ("a", "b", "c")] == [True, True, False]
    assert not await world.may("a", "push")
    assert [each[0] for each in world.waiting()] == ["", "boat"]
    await world.repositories.decide("boat", HULL, "push", "always", "owner")
    assert await world.may("b", "push")
    await world.repositories.decided.load()
    await world.repositories.forget("boat", HULL, "owner")
    assert not await world.may("a")
    with pytest.raises(NotFound):
        await world.repositories.forget("boat", HULL, "owner")


async def test_to_push_includes_to_fetch_and_no_fetch_means_no_push(world: GitWorld) -> None:
    await world.open("a", BOAT)
    await world.repositories.decide("boat", HULL, "push", "always", "owner")
    assert await world.may("a")
    await world.repositories.decide("boat", HULL, "push", "never", "owner")
    assert (await world.may("a"), await world.may("a", "push")) == (True, False)
    await world.repositories.decide("boat", HULL, "fetch", "never", "owner")
    assert "does not let this conversation" in await world.git("a")
    assert world.waiting() == []


async def test_chats_without_a_workspace_are_allowed_once_only(world: GitWorld) -> None:
    await world.open("a")
    await world.open("b")
    await world.git("a", "push")
    (item,) = await RepositoriesSource(world.repositories).items()
    assert (item.title, item.source) == (f"Push to {HULL}", "About a")
    assert item.answers == ("once", "never")
    with pytest.raises(InvalidInput):
        await world.repositories.decide("", HULL, "push", "always", "owner")
    await RepositoriesSource(world.repositories).answer(item, Answer("once", "owner"))
    with pytest.raises(NotFound):
        await RepositoriesSource(world.repositories).answer(item, Answer("once", "owner"))
    assert [await world.may("a", "push"), await world.may("a"), await world.may("b", "push")] == [True, True, False]
    await world.open("a")  # the next turn
    assert await world.may("a", "push")
    await world.networks.close("a")
    await world.open("a")
    assert not await world.may("a", "push")


async def test_an_answer_for_the_workspace_or_never(world: GitWorld) -> None:
    await world.open("a", BOAT)
    source = RepositoriesSource(world.repositories)
    await world.git("a")
    (item,) = await source.items()
    await source.answer(item, Answer("always", "phone"))
    assert await world.may("a")
    await world.git("a", "push")
    (item,) = await source.items()
    await source.answer(item, Answer("never", "phone"))
    assert "does not let this conversation push to" in await world.git("a", "push")
    assert [(each.access, each.choice) for each in world.repositories.decisions()] == [
        ("fetch", "always"),
        ("push", "never"),
    ]
    await world.networks.close("a")
    await world.audit.close()
    audited = [json.loads(line) for path in world.folder.glob("audit/*") for line in path.read_text().splitlines()]
    said = [(each["source_id"], each["target_endpoint"]) for each in audited if each["event_type"] == "git"]
    assert ("phone", f"always: fetch {HULL}, boat") in said
    assert all(each["hosts"] == [HULL.host] for each in audited if each["source_id"] == "phone")
    assert ("agent:a", f"push {HULL}") in said


async def test_a_workspace_lists_repositories_also_without_a_network(world: GitWorld) -> None:
    other = Repository.parse("git.example.org/owner/sail")
    granted = (Grant(str(HULL), "push"), Grant(str(other), "fetch"))
    off = Workspace("boat", "Boat", NOW, NOW, EVERYTHING, network=Network("off", ("api.example.org",)), git=granted)
    network = await world.open("a", off)
    assert network.is_open
    assert network.repositories == (f"{HULL} (fetch and push)", f"{other} (fetch)")
    assert (await world.may("a", "push"), await world.may("a", "fetch", other)) == (True, True)
    answer = await world.git("a", "push", other)
    assert "it is not among those that are allowed" in answer
    assert not await world.reached("a")
    assert world.waiting() == []
    await world.repositories.decide("boat", HULL, "fetch", "never", "owner")  # goes over the list
    assert not await world.may("a")
    assert not (await world.open("b", Workspace("boat", "Boat", NOW, NOW, EVERYTHING, network=NO_NETWORK))).is_open


async def test_who_writes_from_outside_has_no_git_without_a_workspace(world: GitWorld) -> None:
    assert not (await world.open("a", source="telegram")).is_open
    assert not (world.folder / "a" / EGRESS_SOCKET).exists()


async def test_a_machine_at_home_is_asked_about_only_by_a_name_of_home(world: GitWorld) -> None:
    await world.open("a", BOAT)
    assert "not of the internet" in await world.git("a", repository="192.168.7.2/owner/hull")
    assert ASKED in await world.git("a", repository="nas.local/owner/hull")
    await world.repositories.decide("boat", Repository.parse("192.168.7.2/owner/hull"), "fetch", "always", "owner")
    assert await world.may("a", repository="192.168.7.2/owner/hull")


async def test_decisions_about_an_earlier_workspace_of_the_name_do_not_count(world: GitWorld) -> None:
    await world.repositories.decide("boat", HULL, "fetch", "always", "owner")
    later = "2999-01-01T00:00:00.000Z"
    await world.open("a", Workspace("boat", "Boat", later, later, EVERYTHING))
    assert not await world.may("a")


async def test_a_stop_of_all_agents_closes_git(world: GitWorld) -> None:
    await world.open("a", BOAT)
    await world.networks.close_all()
    assert not (world.folder / "a" / EGRESS_SOCKET).exists()


async def test_only_so_many_repositories_wait(world: GitWorld) -> None:
    await world.open("a")
    for number in range(100):
        await world.git("a", repository=f"git.example.org/owner/{number}")
    assert "too many wait" in await world.git("a")
    assert len(world.waiting()) == 10
