"""kill -9 between every two steps, refusals for good, and a home server that is away: nothing is lost, and nothing comes twice."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from parachute.base.errors import InvalidInput
from parachute.connectors.platforms.models import Button, Chat, File, Start
from parachute.connectors.runtime.client import ConnectorDown
from tests.conftest import needs_bubblewrap
from tests.connectors.connected import Server, server
from tests.connectors.process.matrix.bot import came, private, stored, talking, texts
from tests.supervisor.launching import Launcher
from tests.support.matrix_api import BOT, TOKEN, MatrixAPI
from tests.support.waiting import until

pytestmark = [needs_bubblewrap, pytest.mark.long]


@pytest.fixture
async def bot(supervisor: Launcher, api: MatrixAPI) -> AsyncIterator[Server]:
    """A connector for one test, which may kill it."""
    async with server(supervisor, "matrix", Start(TOKEN, server=api.url)) as running:
        await running.connected()
        yield running


async def sent_again(bot: Server, key: str, text: str, chat: Chat, **fields: object) -> tuple[str, ...]:
    """Send after a crash, as the server does with what it has not noted."""
    await bot.reconnected()
    return await bot.send(key, text, chat, **fields)


async def test_killed_before_and_after_the_server_has_stored(bot: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(bot, api, ann)
    held = api.hold("sync", done=True)
    api.write(room, ann, "One")
    await asyncio.to_thread(held.wait_reached)
    await bot.kill()
    held.release()
    await bot.happens(lambda: texts(bot, room) == ["One"], "it is stored")
    bot.store.may_answer.clear()
    written = api.write(room, ann, "Two")
    await stored(bot, written)
    await bot.kill()
    bot.store.may_answer.set()
    await stored(bot, api.write(room, ann, "Three"))
    assert texts(bot, room) == ["One", "Two", "Three"]
    # Where it goes on is stored with it.
    assert bot.store.handed.count(written) == 1


async def test_killed_before_anything_was_stored_it_misses_nothing(bot: Server, api: MatrixAPI, ann: str) -> None:
    # An account that was in a room before: of that nothing comes, and of what follows everything.
    room = api.group(ann)
    await came(bot, api, room)
    await stored(bot, api.write(room, ann, "Old"))
    bot.store.updates.clear()
    bot.store.position = ""
    await bot.kill()
    await bot.happens(lambda: bool(bot.store.position), "the position is stored")
    await bot.kill()
    await stored(bot, api.write(room, ann, "New"))
    assert texts(bot, room) == ["New"]


@pytest.mark.parametrize("method", ["set_account_data", "join"])
@pytest.mark.parametrize("done", [False, True])
async def test_killed_while_it_follows_an_invitation(
    bot: Server, api: MatrixAPI, ann: str, method: str, done: bool
) -> None:
    held = api.hold(method, done=done)
    room = api.direct(ann)
    await asyncio.to_thread(held.wait_reached)
    await bot.kill()
    held.release()
    assert (await came(bot, api, room)).chat.kind == "private"
    assert [each.kind for each in bot.store.updates.values() if each.chat.id == room] == ["joined"]


@pytest.mark.parametrize("done", [False, True])
async def test_killed_while_it_writes(bot: Server, api: MatrixAPI, ann: str, done: bool) -> None:
    room = await talking(bot, api, ann)
    held = api.hold("send", done=done)
    sending = asyncio.create_task(bot.send("key", "Half", private(room), is_final=False))
    await asyncio.to_thread(held.wait_reached)
    await bot.kill()
    held.release()
    with pytest.raises(ConnectorDown):
        await sending
    sent = await sent_again(bot, "key", "Half and whole", private(room))
    (written,) = api.written(room)
    assert (written.text, (written.id,)) == ("Half and whole", sent)
    await bot.kill()
    assert await sent_again(bot, "key", "Half and whole", private(room)) == sent
    assert api.texts(room) == ["Half and whole"]


async def test_killed_after_a_file_was_sent(bot: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(bot, api, ann)
    (bot.files / "out").write_bytes(b"content")
    files = (File("document", "a.txt", "text/plain", 7, "out"),)
    await bot.send("file", "Look", private(room), is_final=False)
    held = api.hold("upload", done=True)
    sending = asyncio.create_task(bot.send("file", "Look", private(room), files=files))
    await asyncio.to_thread(held.wait_reached)
    held.release()
    held = api.hold("send", done=True)
    await asyncio.to_thread(held.wait_reached)
    await bot.kill()
    held.release()
    with pytest.raises(ConnectorDown):
        await sending
    await sent_again(bot, "file", "Look", private(room), files=files)
    assert api.texts(room) == ["Look", "a.txt"]


async def test_a_question_is_answered_after_a_crash(bot: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(bot, api, ann)
    (message,) = await bot.send("question", "May I?", private(room), buttons=(Button("Yes", "n7.0"),))
    await bot.kill()
    assert (await stored(bot, api.react(room, ann, message, "1\ufe0f\u20e3"))).button == "n7.0"


async def test_a_flood_while_it_is_away_comes_whole(bot: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(bot, api, ann)
    await bot.end()
    (await bot.program()).kill()
    expected = [f"Message {number}" for number in range(500)]
    for text in expected:
        api.write(room, ann, text)
    await bot.begin()
    await bot.happens(lambda: len(texts(bot, room)) >= len(expected), "all have come")
    assert texts(bot, room) == expected


async def test_a_token_that_is_revoked_ends_it_with_a_sentence(bot: Server, api: MatrixAPI) -> None:
    api.revoke()
    await bot.refused()
    assert not await bot.unit()
    assert "sign in for a new one" in bot.opened.connections()["matrix"].state.sentence
    api.token = TOKEN
    await bot.connectors.restart("matrix", api.url)
    await bot.connected()


async def test_a_home_server_that_has_forgotten_where_it_was_is_read_from_now_on(
    bot: Server, api: MatrixAPI, ann: str
) -> None:
    room = await talking(bot, api, ann)
    before = api.count("sync")
    api.fail("sync", 400, "M_INVALID_PARAM")
    api.write(room, ann, "This ends the request that waits.")
    # The refused one, the one that begins anew, and the one that waits for what follows.
    await api.happens(lambda: api.count("sync") == before + 3, "it goes on", bot.log)
    await stored(bot, api.write(room, ann, "Anybody there?"))
    await until(lambda: "has lost its position" in bot.log(), "its log has come", bot.log)


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ({"user": "@somebody:home.test"}, BOT),
        ({"token": "syt x"}, "does not accept"),
    ],
)
async def test_what_cannot_work_is_said(
    supervisor: Launcher, api: MatrixAPI, start: dict[str, str], sentence: str
) -> None:
    async with server(supervisor, "matrix", replace(Start(TOKEN, server=api.url), **start)) as running:
        await running.happens(lambda: running.kind == "refused", "it is refused")
        assert sentence in running.opened.connections()["matrix"].state.sentence


async def test_a_site_that_is_not_the_home_server_names_it(supervisor: Launcher, api: MatrixAPI) -> None:
    api.fail("whoami", 404, "M_UNRECOGNIZED")
    api.well_known = {"m.homeserver": {"base_url": "https://matrix.home.test/"}}
    async with server(supervisor, "matrix", Start(TOKEN, server=api.url)) as running:
        await running.happens(lambda: running.kind == "refused", "it is refused")
        sentence = running.opened.connections()["matrix"].state.sentence
        assert "https://matrix.home.test: enter" in sentence
    api.well_known = None


async def test_without_an_address_it_reaches_nobody(supervisor: Launcher) -> None:
    async with server(supervisor, "matrix", Start(TOKEN)) as running:
        assert "address" in running.opened.connections()["matrix"].state.sentence
        with pytest.raises(InvalidInput) as refused:
            await running.connectors.open("matrix")
        assert refused.value.key == "no_address"
