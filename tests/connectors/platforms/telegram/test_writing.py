"""Pace of what is shown, by a clock that the test advances, at a Bot API."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.connectors.platforms.models import Chat, File, Outgoing, Start
from parachute.connectors.platforms.shown import Shown
from parachute.connectors.platforms.telegram.api import Api
from parachute.connectors.platforms.telegram.calls import Calls
from parachute.connectors.platforms.telegram.writer import Writer
from tests.support.clock import ManualClock
from tests.support.telegram_api import TOKEN, TelegramApi, Written

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

WORDS = ("It", "grows", "and", "grows", "until", "it", "is", "whole")


class Bot:
    """A writer, and what it has written in a chat."""

    def __init__(self, api: TelegramApi, files: Path) -> None:
        self.api = api
        self.clock = ManualClock()
        self.calls = Api(Start(TOKEN, server=api.url), self.clock)
        self.writer = Writer(self.calls, Calls(self.calls, files), Shown(files))

    def written(self, chat: Chat) -> list[Written]:
        return [each for each in self.api.written if each.chat == int(chat.id)]

    async def show(self, chat: Chat, text: str, *, is_final: bool = True) -> None:
        await self.writer.show("answer", Outgoing(chat, text, is_final=is_final))

    async def grow(self, chat: Chat, seconds: float) -> str:
        """Show a text word by word, with a pause behind each."""
        text = ""
        for word in WORDS:
            text += f"{word} "
            await self.show(chat, text, is_final=False)
            self.clock.move(seconds)
        return text


@pytest.fixture
async def bot(api: TelegramApi, tmp_path: Path) -> AsyncIterator[Bot]:
    made = Bot(api, tmp_path)
    yield made
    await made.calls.close()


async def test_an_answer_grows_as_a_draft_in_private(bot: Bot, me: Chat) -> None:
    text = await bot.grow(me, 0.3)
    drafts = [(draft, seen) for chat, draft, seen in bot.api.drafts if chat == int(me.id)]
    # Twice a second at most, and nothing is written before it is whole.
    assert [seen.split()[-1] for _, seen in drafts] == list(WORDS[::2])
    assert len({draft for draft, _ in drafts}) == 1
    assert not bot.written(me)
    await bot.show(me, text)
    assert [each.text for each in bot.written(me)] == [text.strip()]


async def test_an_answer_grows_by_edits_in_a_group(bot: Bot, family: Chat) -> None:
    text = await bot.grow(family, 0.6)
    await bot.show(family, text)
    (message,) = bot.written(family)
    # One message, which is changed once a second and not with each piece.
    assert [seen.split()[-1] for seen in message.texts] == [*WORDS[::2], WORDS[-1]]


async def test_everything_about_a_topic_is_shown_there(bot: Bot, tmp_path: Path) -> None:
    topic = Chat("-100200/7", "group", "Family")
    (tmp_path / "plan").write_bytes(b"plan")
    file = File("document", "plan.txt", "text/plain", 4, "plan")
    await bot.writer.typing(topic)
    await bot.writer.show("long", Outgoing(topic, "word " * 2_000, answers="9", files=(file,)))
    calls = [(method, fields) for method, fields in bot.api.calls if fields.get("chat_id") == "-100200"]
    assert [(method, fields.get("message_thread_id")) for method, fields in calls] == [
        ("sendChatAction", "7"),
        *[("sendMessage", "7")] * 3,
        ("sendDocument", "7"),
    ]


async def test_what_is_shown_in_one_topic_is_not_taken_for_that_of_another(bot: Bot) -> None:
    first, second = Chat("-100201/7", "group"), Chat("-100201/8", "group")
    await bot.show(first, "One")
    await bot.writer.show("other", Outgoing(second, "Two"))
    assert [each.text for each in bot.api.written if each.chat == -100201] == ["One", "Two"]
