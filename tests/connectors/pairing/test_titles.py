"""Names of conversations with somebody who was let in: found by the search, and the owner's before the messenger's."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.base.database import Database
from parachute.config.settings.home import Home
from parachute.connectors.chats.models import LinkedChat
from parachute.connectors.configuration.models import ConfigurationChanges
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.deliveries.service import Deliveries
from parachute.connectors.deliveries.store import DeliveryStore
from parachute.connectors.pairing.service import Approval, Pairing
from parachute.connectors.pairing.store import PairingStore
from parachute.connectors.platforms.models import Chat, Sender, Update
from parachute.connectors.runtime.open_connectors import OpenConnectors
from parachute.security.kill_switch.switch import KillSwitch
from parachute.server.composition.storage import _MESSENGER_TABLES
from tests.chat.sessions.conftest import SessionStorage


@pytest.fixture
async def pairing(tmp_path: Path) -> AsyncIterator[Pairing]:
    """Requests to talk to a bot that nobody sends to."""
    storage = await SessionStorage(tmp_path / "vault", tmp_path / "home").open()
    home = Home(tmp_path / "home")
    home.root.chmod(0o700)
    database = Database(home.messengers_database, _MESSENGER_TABLES)
    await database.open()

    async def let_in(chat: LinkedChat) -> None:
        pass

    def changed() -> None:
        pass

    deliveries = Deliveries(DeliveryStore(database), OpenConnectors(home), KillSwitch(home.root), changed)
    configuration = BotConfiguration(home.root)
    yield Pairing(PairingStore(database), configuration, storage.service, deliveries, storage.audit, let_in, changed)
    await database.close()
    await storage.close()


async def let_in(pairing: Pairing, *, named: str | None = None, kind: str = "private", name: str = "Ada") -> str:
    """Let somebody in; `named` by the owner while they waited. The conversation."""
    chat = Chat("42", kind)  # type: ignore[arg-type]
    await pairing.knock("telegram", Update("1", "message", chat, Sender("42", name), 0.0))
    (request,) = await pairing.waiting()
    if named:
        await pairing.sessions.revise(request.session, title=named, archived=None)
    await pairing.approve(request.id, Approval("owner"))
    return request.session


async def found(pairing: Pairing, words: str) -> bool:
    """Return whether the search finds the conversation."""
    return b'"id"' in (await pairing.sessions.listing.page(search=words))[1]


async def test_who_was_let_in_is_found_by_name(pairing: Pairing) -> None:
    session = await let_in(pairing)
    assert (await pairing.sessions.get(session)).title == "Telegram: Ada"
    assert await found(pairing, "Ada")
    assert not await found(pairing, "somebody")


async def test_a_name_of_the_owner_stays(pairing: Pairing) -> None:
    session = await let_in(pairing, named="My aunt")
    made = await pairing.sessions.get(session)
    assert (made.title, "pending_approval" in made.metadata) == ("My aunt", False)
    assert await found(pairing, "aunt")


async def test_a_group_without_a_name_has_its_number_in_the_language_of_bots(pairing: Pairing) -> None:
    pairing.configuration.change(ConfigurationChanges(language="de"))
    session = await let_in(pairing, kind="group")
    assert (await pairing.sessions.get(session)).title == "Telegram: Gruppe 42"


async def test_who_is_let_in_at_once_has_a_conversation(pairing: Pairing) -> None:
    chat = Chat("42", "group")
    knocking = asyncio.create_task(pairing.knock("telegram", Update("1", "message", chat, Sender("42", "Ada"), 0.0)))
    while not (found := await pairing.waiting()):
        assert not knocking.done()
    await pairing.approve(found[0].id, Approval("owner"))
    assert "pending_approval" not in (await pairing.sessions.get(found[0].session)).metadata
    await knocking
