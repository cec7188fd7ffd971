"""Telegram from end to end: the real library in the real sandbox, behind the real egress proxy."""

import asyncio
import json
from typing import Any

import pytest

from parachute.connectors.platforms.models import Button, Chat, File, Outgoing, Update
from parachute.connectors.runtime.client import ConnectorDown
from tests.conftest import needs_bubblewrap
from tests.connectors.connected import Server
from tests.support.errors import raises
from tests.support.telegram_api import BOT, TOKEN, TelegramApi, Written

pytestmark = [needs_bubblewrap, pytest.mark.asyncio(loop_scope="module")]

MEGABYTE = 1024 * 1024


def number(chat: Chat) -> int:
    """The chat as the API has it."""
    return int(chat.id)


def shown(api: TelegramApi, chat: Chat) -> list[Written]:
    """Return the bot's messages in a chat."""
    return [each for each in api.written if each.chat == number(chat) and not each.deleted]


async def stored(telegram: Server, update: int) -> Update:
    """An update as the server has it."""
    await telegram.happens(lambda: str(update) in telegram.store.updates, "it is stored")
    return telegram.store.updates[str(update)]


async def test_a_message_is_stored_answered_and_confirmed(telegram: Server, api: TelegramApi, me: Chat) -> None:
    written = api.write("Hello", chat=number(me))
    update = await stored(telegram, written)
    assert (update.kind, update.text, update.chat.kind, update.sender.id) == ("message", "Hello", "private", me.id)
    assert update.is_for_bot
    assert update.sender.name == "Ada L"
    sent = await telegram.send("answer", "**Hi** there", me, answers=update.message)
    assert [(each.text, each.answers, str(each.id)) for each in shown(api, me)] == [
        ("Hi there", int(update.message), *sent)
    ]
    await api.happens(lambda: written in api.confirmed, "it is confirmed")


async def test_it_says_who_the_bot_is(telegram: Server) -> None:
    identity = await telegram.opened.identity("telegram")
    assert (identity.id, identity.name) == (str(BOT["id"]), f"@{BOT['username']}")
    assert telegram.opened.connections()["telegram"].state.name == f"@{BOT['username']}"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("\u202eevil \u0000\u0007 text", "\u202eevil  text"),
        ("half \ud83d a smile", "half \ufffd a smile"),
        ("👩‍👩‍👧‍👦" * 500, "👩‍👩‍👧‍👦" * 500),
        ("مرحبا; rm -rf / && $(reboot)", "مرحبا; rm -rf / && $(reboot)"),
    ],
)
async def test_what_strangers_write_arrives_in_whole_characters(
    telegram: Server, api: TelegramApi, me: Chat, text: str, kept: str
) -> None:
    sender = {"id": 7, "is_bot": False, "first_name": "\ud83d" + "x" * 500, "username": "root"}
    fields: dict[str, Any] = {"from": sender}
    update = await stored(telegram, api.write(text, chat=number(me), **fields))
    assert update.text == kept
    assert (update.sender.id, update.sender.name) == ("7", "\ufffd" + "x" * 199)


@pytest.mark.parametrize("seconds", [0, 4_000_000_000])
async def test_the_platforms_clock_may_be_wrong(telegram: Server, api: TelegramApi, me: Chat, seconds: int) -> None:
    assert (await stored(telegram, api.write("When?", chat=number(me), date=seconds))).seconds == seconds


def entity(kind: str, text: str, part: str, **fields: Any) -> dict[str, Any]:
    """Return an entity for a part of a text."""
    return {"type": kind, "offset": text.index(part), "length": len(part), **fields}


async def test_in_a_group_it_is_known_what_is_meant_for_the_bot(
    telegram: Server, api: TelegramApi, family: Chat
) -> None:
    by_bot: dict[str, Any] = {"from": BOT}
    own, other = f"@{BOT['username'].upper()}", "@another_bot"
    for text, entities, more, expected in (
        ("lunch?", [], {}, False),
        (f"ask {own}", [entity("mention", f"ask {own}", own)], {}, True),
        (f"ask {other}", [entity("mention", f"ask {other}", other)], {}, False),
        ("ask it", [entity("text_mention", "ask it", "it", user=BOT)], {}, True),
        ("/new", [entity("bot_command", "/new", "/new")], {}, True),
        (f"/new{own}", [entity("bot_command", f"/new{own}", f"/new{own}")], {}, True),
        (f"/new{other}", [entity("bot_command", f"/new{other}", f"/new{other}")], {}, False),
        ("yes", [], {"reply_to_message": api.message("?", chat=number(family), **by_bot)}, True),
        ("no", [], {"reply_to_message": api.message("?", chat=number(family), user=9)}, False),
        # That name in a text that Telegram does not mark is only a text.
        (f"ask {own}", [], {}, False),
    ):
        update = await stored(
            telegram,
            api.write(text, chat=number(family), user=5, **({"entities": entities} if entities else {}), **more),
        )
        assert update.is_for_bot is expected, text
        assert (update.chat.kind, update.chat.title, update.sender.id) == ("group", "Family", "5")


async def test_anonymous_administrators_are_nobody(telegram: Server, api: TelegramApi, family: Chat) -> None:
    everybody = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    chat = {"id": number(family), "type": "supergroup", "title": "Family"}
    fields: dict[str, Any] = {"from": everybody, "sender_chat": chat}
    update = await stored(telegram, api.write("Do it", chat=number(family), **fields))
    assert (update.sender.id, update.sender.is_bot) == (f"chat:{family.id}", True)


async def test_what_is_passed_on_is_marked(telegram: Server, api: TelegramApi, me: Chat) -> None:
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Mallory"}
    update = await stored(telegram, api.write("Delete all", chat=number(me), forward_origin=origin))
    assert update.text == "[forwarded]\nDelete all"


async def test_edits_comings_and_goings(telegram: Server, api: TelegramApi, family: Chat) -> None:
    chat = number(family)
    update = await stored(telegram, api.edit(55, "better", chat=chat, user=3))
    assert (update.kind, update.message, update.text) == ("edited", "55", "better")
    people = [api.user(8), api.user(9), BOT]
    came = api.write("", chat=chat, user=3, new_chat_members=people)
    await telegram.happens(lambda: f"{came}.1" in telegram.store.updates, "both have come")
    assert [telegram.store.updates[f"{came}.{n}"].sender.id for n in (0, 1)] == ["8", "9"]
    assert f"{came}.2" not in telegram.store.updates
    went = api.write("", chat=chat, user=3, left_chat_member=api.user(8))
    await telegram.happens(lambda: f"{went}.0" in telegram.store.updates, "one has gone")
    assert telegram.store.updates[f"{went}.0"].kind == "left"
    rights = {"user": BOT, "status": "member"}
    change = {
        "chat": {"id": chat, "type": "supergroup", "title": "Family"},
        "from": api.user(3),
        "date": 5,
        "old_chat_member": {"user": BOT, "status": "left"},
        "new_chat_member": rights,
    }
    update = await stored(telegram, api.update({"my_chat_member": change}))
    assert (update.kind, update.sender.id, update.is_for_bot) == ("joined", "3", True)


async def test_buttons_are_shown_pressed_and_come_to_rest(telegram: Server, api: TelegramApi, me: Chat) -> None:
    buttons = (Button("Yes", "answer:1:yes"), Button("No", "answer:1:no"))
    (message,) = await telegram.send("question", "May I?", me, buttons=buttons)
    assert shown(api, me)[0].buttons == ["answer:1:yes", "answer:1:no"]
    update = await stored(telegram, api.press("answer:1:yes", int(message), chat=number(me), user=6))
    assert (update.kind, update.button, update.message) == ("button", "answer:1:yes", message)
    assert update.sender.id == "6"
    await api.happens(lambda: str(update.id) in api.answered, "it is answered")
    await telegram.send("question", "May I? Yes.", me)
    assert (shown(api, me)[0].text, shown(api, me)[0].buttons) == ("May I? Yes.", [])


async def test_a_long_answer_is_split_and_changed_in_place(telegram: Server, api: TelegramApi, me: Chat) -> None:
    code = "```python\n" + "\n".join(f"print({n})" for n in range(300)) + "\n```"
    text = "\n\n".join([*(f"Paragraph {n} " + "ä😀" * 60 for n in range(40)), code])
    await telegram.send("long", text, me)
    first = shown(api, me)
    assert len(first) == 3
    assert first[2].text.startswith("print(0)")
    assert first[2].text.endswith("print(299)")
    assert all(len(each.text.encode("utf-16-le")) <= 8192 for each in first)
    await telegram.send("long", text.replace("Paragraph 0", "Section 0"), me)
    assert [len(each.texts) for each in shown(api, me)] == [2, 1, 1]
    await telegram.send("long", "Short", me)
    assert [each.text for each in shown(api, me)] == ["Short"]


async def test_telegram_fetches_no_address_that_an_answer_names(telegram: Server, api: TelegramApi, me: Chat) -> None:
    address = "https://evil.example.org/?secret"
    await telegram.send("links", f"Look: {address}", me)
    await telegram.send("links", f"Look at ![this]({address}).", me)
    assert [(len(each.texts), each.has_preview) for each in shown(api, me)] == [(2, False)]


async def test_the_same_key_never_writes_a_second_message(telegram: Server, api: TelegramApi, me: Chat) -> None:
    sent = await telegram.send("once", "Only once", me)
    assert await telegram.send("once", "Only once", me) == sent
    both = await asyncio.gather(*(telegram.send("both", "At the same time", me) for _ in range(8)))
    assert len(set(both)) == 1
    assert [each.text for each in shown(api, me)] == ["Only once", "At the same time"]


async def test_rate_limits_are_obeyed(telegram: Server, api: TelegramApi, me: Chat) -> None:
    before = api.count("sendMessage")
    api.fail("sendMessage", 429, "Too Many Requests: retry after 1", retry_after=1)
    await telegram.send("limited", "Patience", me)
    assert api.count("sendMessage") == before + 2
    api.fail("sendMessage", 429, "Too Many Requests: retry after 900", retry_after=900)
    with raises("connector_down", names="900 seconds"):
        await telegram.send("long wait", "Later", me)
    await telegram.send("long wait", "Later", me)
    assert [each.text for each in shown(api, me)] == ["Patience", "Later"]


@pytest.mark.parametrize(
    ("status", "description", "sentence"),
    [
        (403, "Forbidden: bot was blocked by the user", "They have blocked the bot."),
        (403, "Forbidden: bot was kicked from the supergroup chat", "put out of the group"),
        (400, "Bad Request: chat not found", "no longer knows the chat"),
    ],
)
async def test_refusals_are_sentences(
    telegram: Server, api: TelegramApi, me: Chat, status: int, description: str, sentence: str
) -> None:
    api.fail("sendMessage", status, description)
    sent = await telegram.opened.send("telegram", f"refused {me.id}", Outgoing(me, "Hello?"))
    assert sentence in sent.problem
    assert not sent.messages


async def test_markup_that_telegram_does_not_take_goes_out_as_text(
    telegram: Server, api: TelegramApi, me: Chat
) -> None:
    api.fail("sendMessage", 400, "Bad Request: can't parse entities: Can't find end tag")
    await telegram.send("markup", "**x** < `y`", me)
    assert [each.text for each in shown(api, me)] == ["x < y"]


async def test_a_group_that_becomes_a_supergroup_is_found_again(
    telegram: Server, api: TelegramApi, family: Chat
) -> None:
    new = number(family) - 1
    api.fail("sendMessage", 400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=new)
    await telegram.send("moved", "Where are you?", family)
    assert [each.text for each in api.written if each.chat == new] == ["Where are you?"]


async def test_errors_of_the_platform_can_be_tried_again(telegram: Server, api: TelegramApi, me: Chat) -> None:
    api.fail("sendMessage", 502, "Bad Gateway")
    with pytest.raises(ConnectorDown) as raised:
        await telegram.send("again", "Hello", me)
    assert TOKEN not in str(raised.value)
    await telegram.send("again", "Hello", me)
    assert [each.text for each in shown(api, me)] == ["Hello"]


async def test_files_come_in_with_limits(telegram: Server, api: TelegramApi, me: Chat) -> None:
    jpeg = b"\xff\xd8\xff\xe0" + b"x" * 1000
    large, picture = api.add_file(b"%PDF" + b"x" * (20 * MEGABYTE - 4)), api.add_file(jpeg)
    no_picture, too_large = api.add_file(b"<script>alert(1)</script>"), api.add_file(b"x" * (20 * MEGABYTE + 1))

    def document(file: str, name: str, media_type: str, size: int) -> dict[str, Any]:
        about = {"file_id": file, "file_unique_id": file, "file_name": name, "mime_type": media_type, "file_size": size}
        return {"document": about, "caption": "see"}

    def photo(file: str, width: int) -> dict[str, Any]:
        return {"file_id": file, "file_unique_id": file, "width": width, "height": width, "file_size": 10}

    async def taken(**fields: Any) -> tuple[Update, File]:
        update = await stored(telegram, api.write("", chat=number(me), **fields))
        assert len(update.files) == 1
        return update, update.files[0]

    update, file = await taken(**document(large, "../../etc/pass\u202ewd", "application/pdf", 20 * MEGABYTE))
    assert (update.text, file.name, file.size) == ("see", "_.._etc_pass_wd", 20 * MEGABYTE)
    assert (telegram.files / file.path).stat().st_size == 20 * MEGABYTE
    _, file = await taken(photo=[photo(too_large, 10), photo(picture, 90)])
    assert (file.kind, file.media_type) == ("picture", "image/jpeg")
    assert (telegram.files / file.path).read_bytes() == jpeg
    _, file = await taken(photo=[photo(no_picture, 90)])
    assert (file.kind, file.media_type) == ("document", "application/octet-stream")
    # A size that is not true: Telegram's own refusal counts.
    for size in (5, 21 * MEGABYTE):
        _, file = await taken(**document(too_large, "big", "text/plain", size))
        assert not file.path
        assert "20 MB" in file.problem
    _, file = await taken(**document("gone", "gone", "text/plain", 5))
    assert not file.path
    assert "Telegram no longer has" in file.problem
    voice = {"file_id": picture, "file_unique_id": "v", "duration": 3, "mime_type": "audio/ogg", "file_size": 10}
    _, file = await taken(voice=voice)
    assert file.kind == "voice"


async def test_files_go_out_with_limits(telegram: Server, api: TelegramApi, me: Chat) -> None:
    folder = telegram.files
    (folder / "out-1").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "out-2").write_bytes(b"OggS")
    (folder / "out-3").write_bytes(b"x" * MEGABYTE)
    files = (
        File("picture", "map.png", "image/png", 8, "out-1"),
        File("voice", "said.ogg", "audio/ogg", 4, "out-2"),
        File("document", "Über.txt", "text/plain", MEGABYTE, "out-3"),
    )
    sent = await telegram.send("files", "Here they are", me, files=files)
    found = shown(api, me)
    assert [(each.attached, each.name) for each in found] == [
        ("", ""),
        ("photo", "map.png"),
        ("voice", "said.ogg"),
        ("document", "Über.txt"),
    ]
    assert len(found[3].content) == MEGABYTE
    assert await telegram.send("files", "Here they are", me, files=files) == sent
    with (folder / "out-4").open("wb") as file:
        file.truncate(50 * MEGABYTE + 1)
    outgoing = Outgoing(me, "", files=(File("document", "big", "text/plain", 1, "out-4"),))
    assert "50 MB" in (await telegram.opened.send("telegram", "big", outgoing)).problem
    (folder / "link").symlink_to("/etc/passwd")
    outgoing = Outgoing(me, "", files=(File("document", "x", "text/plain", 1, "link"),))
    assert "no longer exists" in (await telegram.opened.send("telegram", "link", outgoing)).problem
    assert len(shown(api, me)) == 4


async def test_typing_is_shown(telegram: Server, api: TelegramApi, me: Chat) -> None:
    await telegram.opened.typing("telegram", me)
    assert ("sendChatAction", me.id) in [(method, fields.get("chat_id")) for method, fields in api.calls]


@pytest.mark.long
async def test_two_weeks_of_messages_arrive_in_their_order(telegram: Server, api: TelegramApi, me: Chat) -> None:
    texts = [f"Message {n}" for n in range(3_000)]
    for text in texts:
        api.write(text, chat=number(me))

    def arrived() -> list[str]:
        return [update.text for update in telegram.store.updates.values() if update.chat.id == me.id]

    await telegram.happens(lambda: len(arrived()) >= len(texts), "all have come")
    assert arrived() == texts


async def test_one_that_the_library_does_not_understand_holds_up_no_other(
    telegram: Server, api: TelegramApi, me: Chat
) -> None:
    api.write("before", chat=number(me))
    broken = api.update({"message": {"message_id": "x", "chat": {"id": 5}, "text": "broken"}})
    last = api.write("after", chat=number(me))
    await stored(telegram, last)
    mine = [update.text for update in telegram.store.updates.values() if update.chat.id == me.id]
    assert mine == ["before", "after"]
    await api.happens(lambda: broken in api.confirmed, "all are confirmed")
    await telegram.connected()
    assert "broken" not in telegram.log()


async def test_one_that_cannot_be_stored_holds_up_no_other(telegram: Server, api: TelegramApi, me: Chat) -> None:
    telegram.store.poison = "poison"
    telegram.store.may_store.clear()
    api.write("first", chat=number(me))
    await telegram.store.reached.wait()
    for text in ("a", "poison", "b"):
        last = api.write(text, chat=number(me))
    telegram.store.may_store.set()
    await stored(telegram, last)
    mine = [update.text for update in telegram.store.updates.values() if update.chat.id == me.id]
    assert mine == ["first", "a", "b"]
    await api.happens(lambda: last in api.confirmed, "all are confirmed")
    assert "poison" not in telegram.log()


@pytest.mark.long
async def test_nothing_but_telegram_hears_the_token(telegram: Server, api: TelegramApi, me: Chat) -> None:
    secret = TOKEN.partition(":")[2]
    # What goes wrong is where libraries write addresses.
    for status in (500, 404, 400):
        api.fail("getUpdates", status, f"Wrong: {api.url}/bot{TOKEN}/getUpdates")
    api.write("wake up", chat=number(me))
    await api.happens(lambda: not api._failures, "it went wrong")
    await telegram.connected()
    said = [path.read_text(errors="replace") for path in telegram.home.logs.iterdir()]
    said += [json.dumps(state.sentence) for state in telegram.store.states]
    for process in await telegram.processes():
        said += [*process.cmdline(), *process.environ().values()]
    said += [path.read_text(errors="replace") for path in telegram.home.root.rglob("*") if path.is_file()]
    assert not [text for text in said if secret in text]


async def test_it_is_small(telegram: Server) -> None:
    program = await telegram.program()
    used = program.memory_full_info()
    assert used.pss < 45 * MEGABYTE, used
