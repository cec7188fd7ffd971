"""Failures between Discord, the connector and the server: nothing is lost, and nothing is there twice."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from parachute.connectors.platforms.models import File, Outgoing, Start
from parachute.connectors.runtime.client import ConnectorDown
from tests.conftest import needs_bubblewrap
from tests.connectors.connected import Server, server
from tests.supervisor.launching import Launcher
from tests.support.discord_api import Channel, DiscordAPI

from .bot import chat, stored

pytestmark = [pytest.mark.long, needs_bubblewrap, pytest.mark.asyncio(loop_scope="module")]

POST = "POST /channels/{channel}/messages"


@pytest_asyncio.fixture(loop_scope="module")
async def discord(supervisor: Launcher, api: DiscordAPI) -> AsyncIterator[Server]:
    """A connector for each test: the supervisor gives one up that ends too often."""
    async with server(supervisor, "discord", Start(api.token, server=api.url)) as running:
        await running.connected()
        yield running


class Held:
    """Stops the fake where it writes a message of the bot, until it is let go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._go = threading.Event()

    async def __call__(self, channel: Channel, document: dict[str, Any]) -> None:
        self.reached.set()
        await asyncio.to_thread(self._go.wait, 60)

    def let_go(self) -> None:
        self._go.set()


def texts(discord: Server, *channels: Channel) -> list[str]:
    """Return the server's messages of channels, in its order."""
    ids = {channel.id for channel in channels}
    return [each.text for each in discord.store.updates.values() if each.chat.id in ids and each.kind == "message"]


async def killed(discord: Server) -> None:
    """Kill the connector, and wait until the next one has its connection."""
    await discord.kill()
    await discord.reconnected()


async def down(discord: Server, api: DiscordAPI) -> None:
    """Kill the connector, whose next process finds Discord's gateway out of order."""
    api.gateway.is_down = True
    await discord.kill()


async def up(discord: Server, api: DiscordAPI) -> None:
    before = api.gateway.identifies
    api.gateway.is_down = False
    await api.happens(lambda: api.gateway.identifies > before, "it is there again", discord.log)


async def test_a_lost_connection_is_resumed(
    discord: Server, api: DiscordAPI, general: Channel, private: Channel, ann: str
) -> None:
    await stored(discord, api.write(general, ann, "One"))
    identified, resumed = api.gateway.identifies, api.gateway.resumes
    api.gateway.is_down = True
    api.drop()
    api.write(general, ann, "Two")
    api.write(private, ann, "Three")
    api.gateway.is_down = False
    await discord.happens(lambda: len(texts(discord, general, private)) == 3, "all have come")
    api.ask_for_reconnect()
    await api.happens(lambda: api.gateway.resumes == resumed + 2, "it comes back", discord.log)
    await stored(discord, api.write(general, ann, "Four"))
    assert texts(discord, general, private) == ["One", "Two", "Three", "Four"]
    assert api.gateway.identifies == identified
    assert {"waiting", "connected"} <= {state.kind for state in discord.store.states}
    assert discord.kind == "connected"


async def test_a_session_that_cannot_be_resumed_is_caught_up(
    discord: Server, api: DiscordAPI, general: Channel, private: Channel, ann: str
) -> None:
    await stored(discord, api.write(private, ann, "One"))
    await stored(discord, api.write(general, ann, "A"))
    handed = len(discord.store.handed)
    api.gateway.is_down = True
    api.lose_sessions()
    for text in ("Two", "Three"):
        api.write(private, ann, text)
        api.write(general, ann, f"{text}!")
    await up(discord, api)
    await discord.happens(lambda: len(texts(discord, private, general)) == 6, "all have come")
    assert texts(discord, private) == ["One", "Two", "Three"]
    assert texts(discord, general) == ["A", "Two!", "Three!"]
    assert len(discord.store.handed) == handed + 4


async def test_killed_while_a_message_is_handed_over(
    discord: Server, api: DiscordAPI, private: Channel, ann: str
) -> None:
    await stored(discord, api.write(private, ann, "Before"))
    for gate in (discord.store.may_store, discord.store.may_answer):
        gate.clear()
        discord.store.reached.clear()
        api.write(private, ann, "In between")
        await discord.store.reached.wait()
        await discord.kill()
        gate.set()
    await stored(discord, api.write(private, ann, "After"))
    assert texts(discord, private) == ["Before", "In between", "In between", "After"]


async def test_two_weeks_away(discord: Server, api: DiscordAPI, ann: str) -> None:
    private, bobs = api.private(ann), api.private(bob := api.person("Bob"))
    first, second, quiet = api.guild("Home", "first", "second", "quiet")
    for channel, who in ((private, ann), (bobs, bob), (first, ann)):
        await stored(discord, api.write(channel, who, "0"))
    await down(discord, api)
    # `second` is one of which the bot has never seen anything.
    for number in range(1, 251):
        for channel, who in ((private, ann), (first, ann), (second, bob)):
            api.write(channel, who, str(number))
    api.write(bobs, bob, "1")
    asked = api.rest.requests["GET /channels/{channel}/messages"]
    handed = len(discord.store.handed)
    await up(discord, api)
    await discord.happens(lambda: len(texts(discord, private, bobs, first, second)) == 754, "all have come")
    numbers = [str(number) for number in range(251)]
    assert texts(discord, private) == texts(discord, first) == numbers
    assert texts(discord, second) == numbers[1:]
    assert texts(discord, bobs) == ["0", "1"]
    assert len(discord.store.handed) == handed + 751
    # A channel without news is not asked about; private ones are, since nobody tells what they have.
    privates = sum(1 for each in api.channels.values() if each.recipient)
    assert api.rest.requests["GET /channels/{channel}/messages"] - asked <= 3 + 3 + 3 + privates
    assert not quiet.messages


async def test_killed_in_the_middle_of_catching_up(discord: Server, api: DiscordAPI, ann: str) -> None:
    first, second = api.guild("Work", "first", "second")
    await stored(discord, api.write(first, ann, "0"))
    await stored(discord, api.write(second, ann, "0"))
    await down(discord, api)
    for number in range(1, 130):
        for channel in (first, second):
            api.write(channel, ann, str(number))
    discord.store.may_answer.clear()
    discord.store.reached.clear()
    await up(discord, api)
    await discord.store.reached.wait()
    await discord.happens(lambda: len(texts(discord, first, second)) > 2, "some have come")
    await discord.kill()
    discord.store.may_answer.set()
    await discord.happens(lambda: len(texts(discord, first, second)) == 260, "all have come")
    assert texts(discord, first) == texts(discord, second) == [str(number) for number in range(130)]


@pytest.mark.parametrize(
    ("moment", "memory"), [("before_writing", "nonces are known"), ("after_writing", "nonces are forgotten")]
)
async def test_killed_while_an_answer_is_written(
    discord: Server, api: DiscordAPI, private: Channel, moment: str, memory: str
) -> None:
    held = Held()
    setattr(api, moment, held)
    (discord.files / "out").write_bytes(b"content")
    files = (File("document", "a.txt", "text/plain", 7, "out"),)
    outgoing = Outgoing(chat(private), "First\n\n" + "x" * 1999, files=files)
    sending = asyncio.ensure_future(discord.opened.send("discord", f"answer {private.id}", outgoing))
    try:
        await asyncio.to_thread(held.reached.wait, 60)
        await killed(discord)
        with pytest.raises(ConnectorDown):
            await sending
    finally:
        setattr(api, moment, None)
        held.let_go()
    await api.happens(lambda: len(api.written(private)) == 1, "Discord has written it")
    if memory == "nonces are forgotten":
        private.nonces.clear()
    sent = await discord.send(f"answer {private.id}", outgoing.markdown, chat(private), files=files)
    assert api.written(private) == ["First", "x" * 1999, ""]
    assert [each["id"] for each in api.of_bot(private)] == list(sent)
    assert await discord.send(f"answer {private.id}", outgoing.markdown, chat(private), files=files) == sent


async def test_killed_while_an_answer_grows(discord: Server, api: DiscordAPI, private: Channel) -> None:
    await discord.opened.send("discord", "growing", Outgoing(chat(private), "It", is_final=False))
    await killed(discord)
    await discord.opened.send("discord", "growing", Outgoing(chat(private), "It grows", is_final=False))
    await discord.send("growing", "It grows and ends", chat(private))
    assert api.written(private) == ["It grows and ends"]


async def test_a_file_is_sent_once(discord: Server, api: DiscordAPI, private: Channel) -> None:
    (discord.files / "one").write_bytes(b"content")
    files = (File("document", "a.txt", "text/plain", 7, "one"),)
    sent = await discord.send("file", "", chat(private), files=files)
    await killed(discord)
    assert await discord.send("file", "", chat(private), files=files) == sent
    assert len(api.of_bot(private)) == 1
