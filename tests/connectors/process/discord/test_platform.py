"""Discord from end to end: the real library in the real sandbox, behind the real egress proxy."""

import asyncio
import contextlib
import json
from typing import Any

import pytest

from parachute.connectors.platforms.models import Button, Chat, File, Outgoing, Quote
from parachute.connectors.runtime.client import ConnectorDown
from tests.conftest import needs_bubblewrap
from tests.connectors.connected import Server
from tests.support.discord_api import Channel, DiscordAPI

from .bot import chat, stored

pytestmark = [needs_bubblewrap, pytest.mark.asyncio(loop_scope="module")]

MEGABYTE = 1024 * 1024
POST, PATCH = "POST /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}"


async def test_a_private_message_is_stored_and_answered(
    discord: Server, api: DiscordAPI, private: Channel, ann: str
) -> None:
    update = await stored(discord, api.write(private, ann, "Hello"))
    assert (update.kind, update.text, update.chat) == ("message", "Hello", Chat(private.id, "private", "Ann"))
    assert (update.sender.id, update.sender.name, update.sender.is_bot) == (ann, "Ann", False)
    (sent,) = await discord.send("answer", "**Hi** there", chat(private), answers=update.message)
    (message,) = api.of_bot(private)
    assert (message["id"], message["content"]) == (sent, "**Hi** there")
    assert message["message_reference"]["message_id"] == update.message
    # No previews, which Discord would fetch.
    assert message["flags"] == 4


async def test_it_says_who_the_bot_is(discord: Server, api: DiscordAPI) -> None:
    identity = await discord.opened.identity("discord")
    assert (identity.id, identity.name) == (api.bot["id"], "Parachute")
    assert discord.opened.connections()["discord"].state.name == "Parachute"


async def test_in_a_channel_it_is_known_what_is_meant_for_the_bot(
    discord: Server, api: DiscordAPI, general: Channel, ann: str
) -> None:
    (own,) = await discord.send("said", "I am here", chat(general))
    other = api.person("Bob")
    words = api.write(general, other, "Nice")
    for text, answers, shown, expected in (
        ("lunch?", None, "lunch?", False),
        (f"<@{api.bot['id']}> lunch?", None, "@Parachute lunch?", True),
        (f"<@{other}> lunch?", None, "@Bob lunch?", False),
        ("yes", own, "yes", True),
        ("no", words, "no", False),
        # That name in a text that Discord does not mark is only a text.
        ("@Parachute", None, "@Parachute", False),
    ):
        update = await stored(discord, api.write(general, ann, text, answers=answers))
        assert (update.text, update.is_for_bot) == (shown, expected)
        assert update.chat == Chat(general.id, "group", "#general · Home")
        # What the bot itself has said is known to its agent.
        assert update.quote == (Quote("Bob", "Nice") if answers == words else None)


async def test_a_thread_is_a_chat_of_its_channel(discord: Server, api: DiscordAPI, general: Channel, ann: str) -> None:
    thread = api.thread(general, "Holidays")
    written = await stored(discord, api.write(thread, ann, "Where to?"))
    assert written.chat == Chat(f"{general.id}/{thread.id}", "group", "#general · Home", "Holidays")
    await discord.send("thread", "To the sea", written.chat, answers=written.message)
    assert api.written(thread) == ["To the sea"]
    api.delete(thread, written.message)
    gone = await stored(discord, f"{written.message}:deleted")
    assert gone.chat.id == written.chat.id


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("\u202eevil \u0000\u0007 text", "\u202eevil  text"),
        ("half \ud83d a smile", "half \ufffd a smile"),
        ("👩‍👩‍👧‍👦" * 180, "👩‍👩‍👧‍👦" * 180),
        ("مرحبا; rm -rf / && $(reboot)", "مرحبا; rm -rf / && $(reboot)"),
        (
            "@everyone <@100000000000000001> <#100000000000000002> <@&100000000000000003>",
            "@\u200beveryone @deleted-user #deleted-channel @deleted-role",
        ),
    ],
)
async def test_what_strangers_write_arrives_in_whole_characters(
    discord: Server, api: DiscordAPI, general: Channel, text: str, kept: str
) -> None:
    stranger = api.person("\ud83d\u0000" + "x" * 500)
    update = await stored(discord, api.write(general, stranger, text))
    assert update.text == kept
    assert (update.sender.id, update.sender.name) == (stranger, "\ufffd" + "x" * 99)


@pytest.mark.parametrize("skew", [-400_000_000, 400_000_000])
async def test_the_platforms_clock_may_be_wrong(
    discord: Server, api: DiscordAPI, private: Channel, ann: str, skew: float
) -> None:
    api.ids.skew = skew
    try:
        written = api.write(private, ann, "When?")
    finally:
        api.ids.skew = 0
    update = await stored(discord, written)
    assert update.text == "When?"
    await discord.send(f"skew {skew}", "Now", chat(private))
    assert api.written(private) == ["Now"]


async def test_edits_previews_and_deletions(discord: Server, api: DiscordAPI, general: Channel, ann: str) -> None:
    message = api.write(general, ann, "Helo")
    await stored(discord, message)
    api.unfurl(general, message)
    api.edit(general, message, "Hello")
    api.delete(general, message)
    deleted = await stored(discord, f"{message}:deleted")
    assert (deleted.kind, deleted.message, deleted.sender.id, deleted.chat.id) == ("deleted", message, ann, general.id)
    (edited,) = [each for each in discord.store.updates.values() if each.message == message and each.kind == "edited"]
    assert (edited.text, edited.sender.id) == ("Hello", ann)


async def test_comings_and_goings(discord: Server, api: DiscordAPI, ann: str) -> None:
    channel = api.guild("Club", "lobby", "other")[0]
    assert channel.guild is not None

    def heard() -> list[str]:
        return [each.kind for each in discord.store.updates.values() if each.chat.id == channel.id]

    await discord.happens(lambda: heard() == ["joined"], "it has joined")
    # What Discord itself writes into a channel is nobody's message.
    api.write(channel, ann, "", kind=7)
    await stored(discord, api.write(channel, ann, "Welcome"))
    api.leave(channel.guild)
    await discord.happens(lambda: heard() == ["joined", "message", "left"], "it has left")


async def test_buttons_are_shown_pressed_and_come_to_rest(
    discord: Server, api: DiscordAPI, general: Channel, ann: str
) -> None:
    buttons = (Button("Yes", "answer:1:yes"), Button("No " * 60, "answer:1:no"))
    (message,) = await discord.send("question", "May I?", chat(general), buttons=buttons)
    row = general.messages[message]["components"][0]["components"]
    assert [each["custom_id"] for each in row] == ["answer:1:yes", "answer:1:no"]
    pressed = api.press(general, ann, message, "answer:1:yes")
    update = await stored(discord, pressed)
    assert (update.kind, update.button, update.message) == ("button", "answer:1:yes", message)
    assert (update.sender.id, update.chat.id) == (ann, general.id)
    await api.happens(lambda: pressed in api.rest.acknowledged, "it is answered")
    await discord.send("question", "May I? Yes.", chat(general))
    assert (api.written(general), general.messages[message]["components"]) == (["May I? Yes."], [])
    many = tuple(Button(str(number), f"value {number}") for number in range(26))
    refused = await discord.opened.send("discord", "many", Outgoing(chat(general), "Which?", buttons=many))
    assert "25 buttons" in refused.problem


async def test_a_button_in_private(discord: Server, api: DiscordAPI, private: Channel, ann: str) -> None:
    (message,) = await discord.send(f"ask {ann}", "May I?", chat(private), buttons=(Button("Yes", "yes"),))
    update = await stored(discord, api.press(private, ann, message, "yes"))
    assert (update.button, update.chat.kind, update.sender.id) == ("yes", "private", ann)


async def test_a_long_answer_is_split_and_changed_in_place(discord: Server, api: DiscordAPI, private: Channel) -> None:
    code = "```python\n" + "\n".join(f"print({number})" for number in range(100)) + "\n```"
    text = "\n\n".join([*(f"Paragraph {number} " + "ä😀" * 60 for number in range(20)), code])
    first = await discord.send("long", text, chat(private))
    shown = api.written(private)
    assert len(shown) == 3
    assert shown[-1] == code
    assert all(len(each) <= 2000 for each in shown)
    assert await discord.send("long", text.replace("Paragraph 0", "Section 0"), chat(private)) == first
    assert [api.edits[message] for message in first] == [1, 0, 0]
    await discord.send("long", "Short", chat(private))
    assert api.written(private) == ["Short"]


async def test_the_same_key_never_writes_a_second_message(discord: Server, api: DiscordAPI, private: Channel) -> None:
    sent = await discord.send("once", "Only once", chat(private))
    assert await discord.send("once", "Only once", chat(private)) == sent
    both = await asyncio.gather(*(discord.send("both", "At the same time", chat(private)) for _ in range(8)))
    assert len(set(both)) == 1
    assert api.written(private) == ["Only once", "At the same time"]


async def test_what_somebody_deletes_stays_deleted(discord: Server, api: DiscordAPI, private: Channel) -> None:
    (sent,) = await discord.send("gone", "One", chat(private))
    api.delete(private, sent)
    assert await discord.send("gone", "One, two", chat(private)) == ()
    assert api.written(private) == []


async def test_an_answer_grows_by_edits(discord: Server, api: DiscordAPI, private: Channel) -> None:
    text, steps = "", [f"word{number} " for number in range(40)]
    for word in steps:
        text += word
        await discord.opened.send("discord", "grow", Outgoing(chat(private), text, is_final=False))
    assert len(api.written(private)) == 1
    (message,) = await discord.send("grow", text, chat(private))
    assert api.written(private) == [text.strip()]
    # Not with every word, and the end does not wait.
    assert 1 <= api.edits[message] < len(steps)
    await discord.opened.send("discord", "grow", Outgoing(chat(private), "word0", is_final=False))
    assert api.written(private) == [text.strip()]


async def test_rate_limits_are_obeyed(discord: Server, api: DiscordAPI, private: Channel) -> None:
    before = api.rest.requests[POST]
    api.limit(POST, remaining=1, refusals=2, seconds=0.1)
    await discord.send("first", "One", chat(private))
    await discord.send("second", "Two", chat(private))
    assert api.written(private) == ["One", "Two"]
    assert api.rest.requests[POST] == before + 4


async def test_refusals_are_sentences(discord: Server, api: DiscordAPI, private: Channel, general: Channel) -> None:
    for channel, sentence in ((private, "do not take messages"), (general, "no access")):
        channel.is_open = False
        sent = await discord.opened.send("discord", channel.id, Outgoing(chat(channel), "Hello?"))
        assert sentence in sent.problem
        assert not sent.messages
    for number in ("1", "nowhere", "\u0661"):
        unknown = await discord.opened.send("discord", number, Outgoing(Chat(number, "private"), "Hello?"))
        assert "channel" in unknown.problem


async def test_trouble_of_discord_is_waited_for(discord: Server, api: DiscordAPI, private: Channel) -> None:
    api.fail(502)
    await discord.send("trouble", "Hello", chat(private))
    api.fail(503)
    with pytest.raises(ConnectorDown):
        await discord.send("more", "Again", chat(private))
    await discord.send("more", "Again", chat(private))
    assert api.written(private) == ["Hello", "Again"]


async def test_files_come_in_with_limits(discord: Server, api: DiscordAPI, private: Channel, ann: str) -> None:
    png = b"\x89PNG\r\n\x1a\n" + b"x" * 1000
    largest = b"%PDF" + b"x" * (25 * MEGABYTE - 4)
    files = [
        ("../../etc/pass\u202ewd.PDF", largest),
        ("picture.png", png),
        ("none.png", b"<script>alert(1)</script>"),
        ("larger", largest + b"x"),
    ]
    update = await stored(discord, api.write(private, ann, "see", files=files))
    pdf, picture, none, larger = update.files
    assert (update.text, pdf.name, pdf.size, pdf.kind) == ("see", "_.._etc_pass_wd.PDF", 25 * MEGABYTE, "document")
    assert (discord.files / pdf.path).read_bytes() == largest
    assert (picture.kind, picture.media_type, (discord.files / picture.path).read_bytes()) == (
        "picture",
        "image/png",
        png,
    )
    assert (none.kind, none.media_type) == ("document", "application/octet-stream")
    assert (larger.path, larger.problem) == ("", "It has more than 25 MB.")
    voice = await stored(discord, api.write(private, ann, files=[("voice-message.ogg", b"OggS")], voice=True))
    assert (voice.files[0].kind, voice.files[0].media_type) == ("voice", "audio/ogg")


async def test_a_file_that_is_not_what_it_was_said_to_be(
    discord: Server, api: DiscordAPI, private: Channel, ann: str
) -> None:
    written = api.write(private, ann, files=[("grown", b"x" * (25 * MEGABYTE + 1), 10)])
    (file,) = (await stored(discord, written)).files
    assert (file.path, file.problem) == ("", "It is larger than announced.")
    assert not [each for each in discord.files.iterdir() if each.name.startswith(written)]


async def test_files_go_out_with_limits(discord: Server, api: DiscordAPI, private: Channel) -> None:
    folder = discord.files
    (folder / "out-1").write_bytes(b"\x89PNG\r\n\x1a\n")
    with (folder / "out-2").open("wb") as file:
        file.truncate(10 * MEGABYTE + 1)
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "out-3").write_bytes(b"last")
    files = (
        File("picture", "map.png", "image/png", 8, "out-1"),
        File("document", "big", "text/plain", 10 * MEGABYTE + 1, "out-2"),
        File("document", "x", "text/plain", 1, "link"),
        File("document", "last.txt", "text/plain", 4, "out-3"),
    )
    sent = await discord.opened.send("discord", "files", Outgoing(chat(private), "Here", files=files))
    assert sent.problem == ("big: Discord takes files of 10 MB at most. x: The file x no longer exists.")
    attached = [[each["filename"] for each in message["attachments"]] for message in api.of_bot(private)]
    assert attached == [[], ["map.png"], ["last.txt"]]
    assert len(sent.messages) == 3
    again = await discord.opened.send("discord", "files", Outgoing(chat(private), "Here", files=files))
    assert again.messages == sent.messages
    assert len(api.of_bot(private)) == 3


async def test_typing_is_shown(discord: Server, private: Channel) -> None:
    await discord.opened.typing("discord", chat(private))
    assert private.typing == 1
    private.is_open = False
    await discord.opened.typing("discord", chat(private))


async def test_it_is_small(discord: Server) -> None:
    program = await discord.program()
    assert program.memory_full_info().pss < 45 * MEGABYTE


@pytest.mark.long
async def test_a_flood_arrives_in_its_order(
    discord: Server, api: DiscordAPI, general: Channel, private: Channel, ann: str
) -> None:
    discord.store.may_store.clear()
    texts = [f"Message {number}" for number in range(1_500)]
    for text in texts:
        api.write(general, ann, text)
        api.write(private, ann, text)
    discord.store.may_store.set()
    for channel in (general, private):

        def arrived(channel: Channel = channel) -> list[str]:
            return [each.text for each in discord.store.updates.values() if each.chat.id == channel.id and each.text]

        await discord.happens(lambda arrived=arrived: len(arrived()) >= len(texts), "all have come")  # type: ignore[misc]
        assert arrived() == texts


async def test_nothing_but_discord_hears_the_token(discord: Server, api: DiscordAPI, private: Channel) -> None:
    api.fail(404, 503)
    # Whichever call meets them: reading what was missed since the start is one, too.
    while api.rest.failures:
        with contextlib.suppress(ConnectorDown):
            await discord.opened.send("discord", "wrong", Outgoing(chat(private), "Hello"))
    said: list[Any] = [path.read_text(errors="replace") for path in discord.home.logs.iterdir()]
    said += [json.dumps(state.sentence) for state in discord.store.states]
    for process in await discord.processes():
        said += [*process.cmdline(), *process.environ().values()]
    said += [path.read_text(errors="replace") for path in discord.home.root.rglob("*") if path.is_file()]
    assert not [text for text in said if api.token in text]
