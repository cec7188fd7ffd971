"""kill -9 between every two steps, on either side: nothing is lost, and nobody reads anything twice."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from parachute.connectors.platforms.models import Chat, File, Start
from parachute.connectors.runtime.client import ConnectorDown
from tests.conftest import needs_bubblewrap
from tests.connectors.connected import Server, server
from tests.supervisor.launching import Launcher
from tests.support.errors import raises
from tests.support.telegram_api import TOKEN, TelegramApi
from tests.support.waiting import until

pytestmark = [needs_bubblewrap, pytest.mark.long]


@pytest.fixture
async def telegram(supervisor: Launcher, api: TelegramApi) -> AsyncIterator[Server]:
    """A connector for one test, which may kill it."""
    async with server(supervisor, "telegram", Start(TOKEN, server=api.url)) as running:
        await running.connected()
        yield running


async def sent_again(telegram: Server, key: str, text: str, **fields: Any) -> tuple[str, ...]:
    """Send after a crash, as the server does with what it has not noted."""
    await telegram.reconnected()
    return await telegram.send(key, text, **fields)


async def test_killed_before_updates_are_answered(telegram: Server, api: TelegramApi) -> None:
    held = api.hold("getUpdates", done=True)
    api.write("One", chat=42)
    await asyncio.to_thread(held.wait_reached)
    await telegram.kill()
    held.release()
    await telegram.happens(lambda: telegram.store.texts == ["One"], "it is stored")


async def test_killed_while_the_server_stores(telegram: Server, api: TelegramApi) -> None:
    telegram.store.may_store.clear()
    written = api.write("Two")
    await telegram.store.reached.wait()
    await telegram.kill()
    telegram.store.may_store.set()
    await api.happens(lambda: written in api.confirmed, "it is confirmed", telegram.log)
    assert telegram.store.texts == ["Two"]


async def test_killed_after_it_is_stored_and_before_that_is_known(telegram: Server, api: TelegramApi) -> None:
    telegram.store.may_answer.clear()
    written = api.write("Three")
    await telegram.happens(lambda: telegram.store.texts == ["Three"], "it is stored")
    assert written not in api.confirmed
    await telegram.kill()
    telegram.store.may_answer.set()
    await api.happens(lambda: written in api.confirmed, "it is confirmed", telegram.log)
    assert telegram.store.texts == ["Three"]
    assert api.delivered[written] == 2


async def test_killed_while_a_file_is_loaded(telegram: Server, api: TelegramApi) -> None:
    file = {"file_id": api.add_file(b"%PDF"), "file_unique_id": "u", "file_name": "a.pdf", "file_size": 4}
    held = api.hold("getFile")
    written = api.write("", document=file)
    await asyncio.to_thread(held.wait_reached)
    await telegram.kill()
    held.release()
    await telegram.happens(lambda: str(written) in telegram.store.updates, "it is stored")
    (found,) = telegram.store.updates[str(written)].files
    assert (telegram.files / found.path).read_bytes() == b"%PDF"


@pytest.mark.parametrize("done", [False, True])
async def test_killed_while_it_sends(telegram: Server, api: TelegramApi, me: Chat, done: bool) -> None:
    written = api.write("Question", chat=int(me.id))
    await telegram.happens(lambda: str(written) in telegram.store.updates, "it is stored")
    answers = telegram.store.updates[str(written)].message
    held = api.hold("sendMessage", done=done)
    sending = asyncio.create_task(telegram.send("key", "Answer", me, answers=answers))
    await asyncio.to_thread(held.wait_reached)
    await telegram.kill()
    with pytest.raises(ConnectorDown):
        await sending
    if done:
        held.release()
    sent = await sent_again(telegram, "key", "Answer", chat=me, answers=answers)
    assert api.texts(int(me.id)) == ["Answer"]
    assert sent == (str(api.written[-1].id),)


async def test_killed_after_a_file_was_sent(telegram: Server, api: TelegramApi, me: Chat) -> None:
    (telegram.files / "out").write_bytes(b"content")
    files = (File("document", "a.txt", "text/plain", 7, "out"),)
    held = api.hold("sendDocument", done=True)
    sending = asyncio.create_task(telegram.send("file", "Look", me, files=files))
    await asyncio.to_thread(held.wait_reached)
    await telegram.kill()
    held.release()
    with pytest.raises(ConnectorDown):
        await sending
    await sent_again(telegram, "file", "Look", chat=me, files=files)
    mine = [each for each in api.written if each.chat == int(me.id)]
    assert [each.attached for each in mine] == ["", "document"]


async def test_what_was_sent_is_remembered_after_a_crash(telegram: Server, api: TelegramApi, me: Chat) -> None:
    sent = await telegram.send("kept", "Hello", me)
    await telegram.kill()
    assert await sent_again(telegram, "kept", "Hello", chat=me) == sent
    assert api.texts(int(me.id)) == ["Hello"]
    await telegram.send("kept", "Hello again", me)
    assert api.texts(int(me.id)) == ["Hello again"]


async def test_the_server_ends_and_begins_again(telegram: Server, api: TelegramApi, me: Chat) -> None:
    sent = await telegram.send("noted?", "Hello", me)
    process = (await telegram.program()).pid
    await telegram.end()
    texts = [f"Meanwhile {n}" for n in range(250)]
    for text in texts:
        api.write(text, chat=int(me.id))
    await telegram.begin()
    await telegram.connected()
    await telegram.happens(lambda: len(telegram.store.texts) >= len(texts), "all are stored")
    assert telegram.store.texts == texts
    # The connector went on, and knows what it has sent for the earlier one.
    assert (await telegram.program()).pid == process
    assert await telegram.send("noted?", "Hello", me) == sent
    assert api.texts(int(me.id)) == ["Hello"]


async def test_both_end_and_the_connector_waits_for_the_server(telegram: Server, api: TelegramApi, me: Chat) -> None:
    process = await telegram.program()
    await telegram.end()
    process.kill()
    written = api.write("Anybody there?", chat=int(me.id))

    async def waits() -> bool:
        unit = next(each for each in (await telegram.launcher.ask("status"))["units"] if "connector" in each["name"])
        return unit["state"] == "running" and unit["process"] is not None and unit["restarts"] > 0

    await until(waits, "another one waits", telegram.log)
    starts = telegram.store.starts
    await telegram.begin()
    await telegram.happens(lambda: str(written) in telegram.store.updates, "it is stored")
    assert telegram.store.starts == starts + 1


async def test_one_that_was_given_up_gets_another_chance(telegram: Server, api: TelegramApi) -> None:
    await telegram.connected()
    # What stops all agents and cannot be read: nothing of theirs starts.
    panic = telegram.home.root / "panic.json"
    panic.write_text("{")
    (await telegram.program()).kill()

    async def is_given_up() -> bool:
        return bool((await telegram.unit())["state"] == "failed")

    await until(is_given_up, "it is given up", telegram.log)
    panic.unlink()
    await telegram.clock.advance(300)
    written = api.write("Anybody there?")
    await telegram.happens(lambda: str(written) in telegram.store.updates, "it is stored")


async def test_a_token_that_is_revoked_ends_it_with_a_sentence(telegram: Server, api: TelegramApi) -> None:
    await telegram.send("before", "Hello")
    api.revoke()
    await telegram.refused()
    assert not await telegram.unit()
    sentence = telegram.opened.connections()["telegram"].state.sentence
    assert "@BotFather" in sentence
    with raises("connector_stopped"):
        await telegram.send("after", "Hello")
    calls = len(api.calls)
    api.token = TOKEN
    await telegram.connectors.restart("telegram", telegram.store.start_with.server)
    await telegram.connected()
    assert len(api.calls) > calls
    await telegram.send("again", "Hello again")


async def test_what_can_be_no_token_calls_nobody(supervisor: Launcher, api: TelegramApi) -> None:
    calls = len(api.calls)
    for token in ("", "x", "1:a/../../x", "123456789:AAFake Token\r\nHost: x"):
        async with server(supervisor, "telegram", Start(token, server=api.url)) as running:
            await running.happens(lambda: running.kind == "refused", "it is refused")
    assert len(api.calls) == calls


async def test_panic_ends_it_and_resume_starts_it(telegram: Server, api: TelegramApi) -> None:
    await telegram.launcher.ask("panic", by="a test")
    assert not await telegram.unit()
    written = api.write("Are you there?")
    with pytest.raises(ConnectorDown):
        await telegram.send("silent", "No")
    await telegram.launcher.ask("resume")
    await telegram.connectors.resume()
    await telegram.happens(lambda: str(written) in telegram.store.updates, "it is stored")
    assert "No" not in api.texts()


async def test_a_webhook_of_before_is_removed(supervisor: Launcher, api: TelegramApi) -> None:
    api.webhook = "https://example.org/hook"
    async with server(supervisor, "telegram", Start(TOKEN, server=api.url)) as running:
        written = api.write("Hello")
        await running.happens(lambda: str(written) in running.store.updates, "it is stored")
    assert not api.webhook


async def test_another_program_with_the_same_token_is_named(telegram: Server, api: TelegramApi) -> None:
    api.fail("getUpdates", 409, "Conflict: terminated by other getUpdates request", times=2)
    api.write("wake up", chat=43)
    await telegram.happens(lambda: telegram.kind == "waiting", "it waits")
    assert "Another program" in telegram.opened.connections()["telegram"].state.sentence
    await telegram.connected()
