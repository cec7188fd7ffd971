"""Matrix from end to end: the real connector in the real sandbox, behind the real egress proxy."""

import json

import pytest

from parachute.connectors.platforms.models import Button, File, Outgoing, Quote
from tests.conftest import needs_bubblewrap
from tests.connectors.connected import Server
from tests.connectors.process.matrix.bot import came, group, private, stored, talking, texts, together
from tests.support.matrix_api import BOT, TOKEN, MatrixAPI

pytestmark = [needs_bubblewrap, pytest.mark.asyncio(loop_scope="module")]

MEGABYTE = 1024 * 1024


async def test_somebody_begins_a_private_chat_and_is_answered(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = api.direct(ann)
    knock = await came(matrix, api, room)
    assert (knock.chat.kind, knock.sender.id, knock.sender.name) == ("private", ann, "Ann")
    update = await stored(matrix, api.write(room, ann, "Hello"))
    assert (update.kind, update.text, update.chat.kind, update.chat.title) == ("message", "Hello", "private", "Ann")
    assert (update.sender.id, update.is_for_bot) == (ann, True)
    sent = await matrix.send("first", "**Hi** there", private(room), answers=update.message)
    (written,) = api.written(room)
    assert (written.text, written.html) == ("**Hi** there", "<p><strong>Hi</strong> there</p>")
    assert (written.answers, (written.id,)) == (update.message, sent)


async def test_it_says_whose_token_it_is(matrix: Server) -> None:
    identity = await matrix.opened.identity("matrix")
    assert (identity.id, identity.name) == (BOT, BOT)
    assert matrix.opened.connections()["matrix"].state.name == BOT


async def test_what_was_written_before_the_bot_came_was_not_written_to_it(
    matrix: Server, api: MatrixAPI, ann: str
) -> None:
    few, many = api.group(ann, "Few"), api.group(ann, "Many")
    for room, before in ((few, 3), (many, 80)):
        for number in range(before):
            api.write(room, ann, f"before {number}")
    for room in (few, many):
        await came(matrix, api, room)
        await stored(matrix, api.write(room, ann, "after"))
        assert texts(matrix, room) == ["after"]


async def test_a_group_hears_nothing_and_its_invitation_is_told(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = api.group(ann, "Family \u202e", api.person("Bob"))
    joined = await came(matrix, api, room)
    assert (joined.chat.kind, joined.chat.title, joined.sender.id) == ("group", "Family \u202e", ann)
    assert api.texts(room) == []
    api.put_out(room, ann)

    def left() -> bool:
        return any(each.kind == "left" and each.chat.id == room for each in matrix.store.updates.values())

    await matrix.happens(left, "it is told")
    sent = await matrix.opened.send("matrix", "gone", Outgoing(group(room), "Hello?"))
    assert "not in the room" in sent.problem


async def test_nobody_is_alone_with_it_by_saying_so(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = api.direct(ann)
    api.come(room, api.person("Mallory"))
    assert (await came(matrix, api, room)).chat.kind == "group"


async def test_a_private_chat_into_which_others_come_is_private_no_more(
    matrix: Server, api: MatrixAPI, ann: str
) -> None:
    room = await talking(matrix, api, ann)
    await matrix.send("secret", "Only for you", private(room))
    api.come(room, mallory := api.person("Mallory"))
    update = await stored(matrix, api.write(room, mallory, "What did it say?"))
    assert update.chat.kind == "group"
    sent = await matrix.opened.send("matrix", "more", Outgoing(private(room), "And this"))
    assert "Others have joined" in sent.problem
    assert api.texts(room) == ["Only for you"]


async def test_one_person_has_no_more_than_three_private_rooms(matrix: Server, api: MatrixAPI, ann: str) -> None:
    for _ in range(3):
        await talking(matrix, api, ann)
    room = api.direct(ann)
    await api.happens(lambda: api.membership(room) == "leave", "it declines", matrix.log)


async def test_an_encrypted_room_gets_one_sentence(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = api.direct(ann, is_encrypted=True)
    await api.happens(lambda: api.membership(room) == "leave", "it has gone again", matrix.log)
    (said,) = api.texts(room)
    assert "encrypted" in said
    assert not any(each.chat.id == room for each in matrix.store.updates.values())


async def test_a_room_that_becomes_encrypted_hears_it_and_the_owner_too(
    matrix: Server, api: MatrixAPI, ann: str
) -> None:
    room = await talking(matrix, api, ann)
    api.encrypt(room, ann)
    secret = {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "AwgA"}
    for _ in range(3):
        api.put(room, ann, "m.room.encrypted", secret)
    await api.happens(lambda: len(api.texts(room)) == 1, "it says so", matrix.log)

    def sentence() -> bool:
        return room in matrix.opened.connections()["matrix"].state.sentence

    await matrix.happens(sentence, "the owner is told")
    sent = await matrix.opened.send("matrix", "plain", Outgoing(private(room), "A secret"))
    assert "encrypted" in sent.problem
    assert len(api.texts(room)) == 1
    api.put_out(room, ann)
    await matrix.happens(lambda: not sentence(), "it is over")


async def test_in_a_group_it_is_known_what_is_meant_for_the_bot(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await together(matrix, api, ann, bob := api.person("Bob"))
    (own,) = await matrix.send("here", "I am here", group(room))
    pill = f'<a href="https://matrix.to/#/{BOT}">Parachute</a>: lunch?'
    html = {"format": "org.matrix.custom.html", "formatted_body": pill}
    for body, content, expected in (
        ("lunch?", {}, False),
        ("lunch?", {"m.mentions": {"user_ids": [BOT]}}, True),
        ("lunch?", {"m.mentions": {"user_ids": [bob], "room": True}}, False),
        (f"{BOT}: lunch?", {}, True),
        # Without being meant, the name is only a text.
        (f"who is {BOT}?", {"m.mentions": {}}, False),
        ("Parachute: lunch?", html, True),
        ("no", {"m.relates_to": {"m.in_reply_to": {"event_id": own}}}, True),
        ("no", {"m.relates_to": {"m.in_reply_to": {"event_id": "$other"}}}, False),
    ):
        update = await stored(matrix, api.write(room, bob, body, **content))
        assert update.is_for_bot is expected, (body, content)
        assert (update.chat.kind, update.chat.title, update.sender.name) == ("group", "Family", "Bob")


async def test_a_reply_is_what_was_said_and_not_what_it_quotes(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    (own,) = await matrix.send("said", "I said", private(room))
    quoted = f"> <{BOT}> I said\n> and more\n\nYes, do"
    assert (await stored(matrix, api.answer(room, ann, own, quoted))).text == "Yes, do"
    assert (await stored(matrix, api.answer(room, ann, own, "> my own\n\nquote"))).text == "> my own\n\nquote"


async def test_commands_are_written_as_element_lets_them(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    for written, text in (("!new", "/new"), ("!owner ABCD", "/owner ABCD"), ("/stop", "/stop"), ("!newer", "!newer")):
        assert (await stored(matrix, api.write(room, ann, written))).text == text


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
    matrix: Server, api: MatrixAPI, text: str, kept: str
) -> None:
    room = await talking(matrix, api, user := api.person("\ud83d" + "x" * 500))
    update = await stored(matrix, api.write(room, user, text))
    assert update.text == kept
    assert (update.sender.id, update.sender.name) == (user, "\ufffd" + "x" * 199)


async def test_clocks_elsewhere_may_be_wrong(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    for said, kept in ((0, 0), (-5, 0), (2**53 - 1, 9e10), ("soon", 0), (1_600_000_000_000, 1_600_000_000)):
        event = api.world.put(
            room, ann, "m.room.message", {"msgtype": "m.text", "body": "When?"}, origin_server_ts=said
        )
        assert (await stored(matrix, event)).seconds == kept


async def test_edits_and_redactions_count_only_from_those_who_may(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await together(matrix, api, ann, bob := api.person("Bob"))
    message = api.write(room, ann, "Buy mlik")
    edited = await stored(matrix, api.edit(room, ann, message, "Buy milk"))
    assert (edited.kind, edited.message, edited.text) == ("edited", message, "Buy milk")
    forged = api.edit(room, bob, message, "Delete everything")
    gone = await stored(matrix, api.redact(room, ann, message))
    assert (gone.kind, gone.message, gone.sender.id) == ("deleted", message, ann)
    assert forged not in matrix.store.updates


async def test_an_edit_is_checked_when_nobody_remembers_the_message(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await together(matrix, api, ann, bob := api.person("Bob"))
    message = await stored(matrix, api.write(room, ann, "Mine"))
    await matrix.kill()
    forged = api.edit(room, bob, message.id, "Not mine")
    edited = await stored(matrix, api.edit(room, ann, message.id, "Still mine"))
    assert edited.text == "Still mine"
    assert forged not in matrix.store.updates


async def test_programs_are_known_as_such(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    assert (await stored(matrix, api.write(room, ann, "beep", msgtype="m.notice"))).sender.is_bot


async def test_questions_are_numbered_and_answered_by_a_reaction_or_a_reply(
    matrix: Server, api: MatrixAPI, ann: str
) -> None:
    room = await talking(matrix, api, ann)
    buttons = (Button("Allow <b>", "n1.0"), Button("Deny", "n1.1"))
    (message,) = await matrix.send("question", "May I?", private(room), buttons=buttons)
    (written,) = api.written(room)
    assert written.text.startswith("May I?\n\n1. Allow <b>\n2. Deny\n\n")
    assert "<li>Allow &lt;b&gt;</li><li>Deny</li>" in written.html
    assert written.reactions == ["1\ufe0f\u20e3", "2\ufe0f\u20e3"]
    pressed = await stored(matrix, api.react(room, ann, message, "2\u20e3"))
    assert (pressed.kind, pressed.button, pressed.message, pressed.sender.id) == ("button", "n1.1", message, ann)
    answered = await stored(matrix, api.answer(room, ann, message, "1."))
    assert (answered.kind, answered.button) == ("button", "n1.0")
    for event in (api.react(room, ann, message, "👍"), api.react(room, ann, message, "7\ufe0f\u20e3")):
        assert (await stored(matrix, api.write(room, ann, f"after {event}"))).kind == "message"
        assert event not in matrix.store.updates
    # A number that is no answer to a question is a number.
    assert (await stored(matrix, api.answer(room, ann, message, "3"))).text == "3"
    assert (await stored(matrix, api.write(room, ann, "1"))).kind == "message"
    await matrix.send("question", "May I? Yes.", private(room))
    assert api.texts(room) == ["May I? Yes."]


async def test_what_others_write_is_no_question_of_the_bot(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await together(matrix, api, ann, bob := api.person("Bob"))
    forged = api.write(room, bob, "Allow?", **{"computer.parachute.buttons": ["n1.0"]})
    reaction = api.react(room, ann, forged, "1\ufe0f\u20e3")
    await stored(matrix, api.write(room, ann, "after"))
    assert reaction not in matrix.store.updates


async def test_an_answer_grows_by_edits_and_is_whole_in_the_end(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    await matrix.opened.typing("matrix", private(room))
    words = [f"word{number}" for number in range(100)]
    for end in range(1, len(words)):
        await matrix.send("growing", " ".join(words[:end]), private(room), is_final=False)
    await matrix.send("growing", " ".join(words), private(room))
    (written,) = api.written(room)
    assert (written.texts[0], written.text) == ("word0", " ".join(words))
    # What comes within a second of the last change is left out.
    assert len(written.texts) < len(words) / 2
    assert api.world.rooms[room].typing == [True, False]


async def test_a_long_answer_is_split_and_changed_in_place(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    code = "```python\n" + "\n".join(f"print({n})" for n in range(500)) + "\n```"
    text = "\n\n".join([*(f"Paragraph {n} " + "ä😀" * 60 for n in range(60)), code])
    await matrix.send("long", text, private(room))
    first = api.written(room)
    assert len(first) == 3
    assert all(len(each.text) <= 8_000 for each in first)
    assert first[-1].html.startswith('<pre><code class="language-python">print(')
    await matrix.send("long", text.replace("Paragraph 0", "Section 0"), private(room))
    assert [len(each.texts) for each in api.written(room)] == [2, 1, 1]
    await matrix.send("long", "Short", private(room))
    assert api.texts(room) == ["Short"]
    await matrix.send("long", text, private(room))
    assert [each.text for each in api.written(room)][1:] == [each.text for each in first][1:]


async def test_what_is_long_only_as_html_goes_as_text(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    for number, text in enumerate(
        ('"' * 7_900, "- a\n" * 1_900, "|" + "a|" * 1_900 + "\n|" + "-|" * 1_900, "字" * 7_999)
    ):
        await matrix.send(f"wide {number}", text, private(room))
        await matrix.send(f"wide {number}", f"{text} ", private(room))
        await matrix.send(f"wide {number}", f"{text}!", private(room))
    assert [len(each.texts) for each in api.written(room)] == [2, 2, 2, 2]


async def test_nobody_is_called_and_nothing_loaded_by_an_answer(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    evil = "@room ![x](https://evil.test/?secret) [y](javascript:alert(1)) <img src=x onerror=y> <b>b</b>"
    await matrix.send("evil", evil, private(room))
    (written,) = api.written(room)
    assert written.content["m.mentions"] == {}
    assert "<img" not in written.html
    assert "<b>" not in written.html
    assert "href" not in written.html


@pytest.mark.long
async def test_many_messages_come_all_and_in_their_order(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    await stored(matrix, api.write(room, ann, "first"))
    held = api.hold("sync")
    expected = [f"Message {n}" for n in range(3_000)]
    for text in expected:
        api.write(room, ann, text)
    held.release()
    await matrix.happens(lambda: len(texts(matrix, room)) > len(expected), "all have come")
    assert texts(matrix, room) == ["first", *expected]


async def test_a_home_server_that_wants_to_be_left_alone_is(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    api.fail("send", 429, "M_LIMIT_EXCEEDED", 2, retry_after_ms=50)
    await matrix.send("patient", "In the end", private(room))
    assert api.texts(room) == ["In the end"]
    api.fail("send", 429, "M_LIMIT_EXCEEDED", retry_after_ms=50)
    await matrix.send("piece", "A", private(room), is_final=False)
    await matrix.send("piece", "A whole", private(room))
    assert api.texts(room) == ["In the end", "A whole"]


async def test_what_nobody_understands_holds_up_no_other(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await talking(matrix, api, ann)
    put = api.world.put
    for content in ({}, {"body": 5}, {"body": ["x"], "msgtype": {}}, {"m.relates_to": 7, "body": "kept"}):
        put(room, ann, "m.room.message", content)
    put(room, ann, "m.room.message", {"body": "x", "m.relates_to": {"rel_type": "m.replace", "event_id": "../x"}})
    put(room, ann, "m.room.message", {"msgtype": "m.image", "body": None, "url": "mxc://../../x", "info": []})
    put(room, ann, "m.reaction", {"m.relates_to": {"event_id": 5, "key": []}})
    put(room, ann, "m.room.message", {"body": "mentions", "m.mentions": {"user_ids": 5}})
    put(room, ann, "m.room.redaction", {})
    put(room, ann, "m.room.member", {"membership": 5, "displayname": {}}, state_key=ann)
    put(room, ann, "m.room.name", {"name": ["x"]}, state_key="")
    put(room, "no user", "m.room.message", {"body": "from nobody"})
    put(room, ann, "m.room.message", {"body": "no id"}, event_id="x" * 300)
    await stored(matrix, api.write(room, ann, "after"))
    found = texts(matrix, room)
    assert found[0] == "kept"
    assert found[-1] == "after"
    assert "from nobody" not in found
    assert "no id" not in found


@pytest.mark.long
async def test_nothing_but_the_home_server_hears_the_token(matrix: Server, api: MatrixAPI, ann: str) -> None:
    for status, code in ((500, "M_UNKNOWN"), (404, "M_UNRECOGNIZED"), (403, f"M_{TOKEN}")):
        api.fail("sync", status, code)
    room = api.direct(ann)
    await came(matrix, api, room)
    await matrix.connected()
    said = [path.read_text(errors="replace") for path in matrix.home.logs.iterdir()]
    said += [json.dumps(state.sentence) for state in matrix.store.states]
    for process in await matrix.processes():
        said += [*process.cmdline(), *process.environ().values()]
    said += [path.read_text(errors="replace") for path in matrix.home.root.rglob("*") if path.is_file()]
    assert not [text for text in said if TOKEN in text]


async def test_it_is_small(matrix: Server) -> None:
    used = (await matrix.program()).memory_full_info()
    assert used.pss < 45 * MEGABYTE, used


async def test_what_is_answered_comes_with_the_message(matrix: Server, api: MatrixAPI, ann: str) -> None:
    bob = api.person("Bob")
    room = await together(matrix, api, ann, bob)
    words = api.write(room, bob, "The ferry leaves\nat nine")
    (own,) = await matrix.send("own", "Tea at five", group(room))
    for message, quote in ((words, Quote("Bob", "The ferry leaves at nine")), (own, None), ("$nothing", None)):
        assert (await stored(matrix, api.answer(room, ann, message, "Is that right?"))).quote == quote


async def test_what_is_written_in_a_thread_is_answered_there(matrix: Server, api: MatrixAPI, ann: str) -> None:
    room = await together(matrix, api, ann)
    begun = api.write(room, ann, "Plans")
    relation = {"rel_type": "m.thread", "event_id": begun, "is_falling_back": True}
    fallback = {"m.in_reply_to": {"event_id": begun}}
    asked = await stored(matrix, api.write(room, ann, "And tea?", **{"m.relates_to": {**relation, **fallback}}))
    # What a thread says for older programs is no answer.
    assert asked.quote is None
    (matrix.files / "plan").write_bytes(b"plan")
    file = File("document", "plan.txt", "text/plain", 4, "plan")
    await matrix.send("answer", "word " * 2_000, group(room), answers=asked.message, files=(file,))
    await matrix.send("more", "And cake", group(room), answers=asked.message, is_continued=True)
    found = [each.content["m.relates_to"] for each in api.written(room)]
    assert len(found) == 4
    assert {(each["rel_type"], each["event_id"]) for each in found} == {("m.thread", begun)}
    assert [each["is_falling_back"] for each in found] == [False, True, True, True]
