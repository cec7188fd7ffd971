"""Answers as a chat sees them: growing, stopped, added to, refused, not delivered."""

import pytest

from tests.connectors.bots.requests import asked_with, reply_to_each, spoken
from tests.connectors.bots.talking import Bot
from tests.support.messages_api import Gate, Reply, hold, several, text, tool_use

pytestmark = [pytest.mark.long, pytest.mark.computer]

QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cold"}],
}


def test_an_answer_grows_as_a_draft_and_is_written_once(bot: Bot) -> None:
    bot.let_in()
    gate = Gate()
    bot.model.script(several(text("Once upon a time "), hold(gate, text("there was a boat."))))
    bot.write("Tell me a story.")
    bot.telegram.wait(
        lambda: any(chat == bot.person and "Once upon" in draft for chat, _, draft in bot.telegram.drafts),
        "a draft is shown",
        bot.computer.logs,
    )
    assert not any("Once upon" in each for each in bot.texts())
    gate.open()
    bot.wait_text("there was a boat.")
    assert sum("Once upon" in each for each in bot.texts()) == 1


def test_what_is_said_before_a_tool_call_stays(bot: Bot) -> None:
    bot.let_in()
    bot.model.script(several(text("I look."), tool_use("mcp__parachute__nothing", {})), text("Nothing is there."))
    bot.write("Look.")
    bot.wait_text("Nothing is there.")
    shown = bot.texts()
    assert shown.index("I look.") < shown.index("Nothing is there.")


def test_messages_that_come_meanwhile_join_the_answer(bot: Bot) -> None:
    bot.let_in()
    gate = Gate()
    bot.model.script(hold(gate, text("To the first.")))
    bot.model.default(text("To all."))
    bot.write("first")
    gate.wait_reached()
    bot.write("second")
    session = bot.session()["id"]
    bot.computer.wait_until(
        lambda: bot.call("GET", "/api/bots/status")["connectors"]["telegram"]["waiting_messages"] == 2, "both are taken"
    )
    gate.open()
    bot.model.wait(lambda: asked_with(bot, "second"), "the agent reads the second one")
    bot.wait_text("To")
    bot.computer.wait_until(lambda: spoken(bot.session(session)) == ["first", "second"], "both are in the conversation")


def test_an_answer_is_stopped(bot: Bot) -> None:
    bot.let_in()
    gate = Gate()
    bot.model.script(several(text("This goes on "), hold(gate, text("and on."))))
    bot.write("Talk.")
    gate.wait_reached()
    bot.write("/stop")
    bot.wait_text("Stopped.")
    gate.open()
    bot.model.script(text("Here again."))
    bot.write("Still there?")
    bot.wait_text("Here again.")


def test_two_weeks_of_messages_in_a_minute_lose_none(bot: Bot) -> None:
    bot.let_in()
    bot.model.default(reply_to_each)
    for number in range(400):
        bot.write(f"<message-{number:04}>")
    bot.computer.wait_until(
        lambda: len(spoken(bot.session(), "<message-")) == 400, "every message is in the conversation", seconds=100
    )
    assert spoken(bot.session(), "<message-") == [f"<message-{number:04}>" for number in range(400)]
    # Nothing of what was answered stays in the computer's own store.
    bot.computer.wait_until(
        lambda: bot.call("GET", "/api/bots/status")["connectors"]["telegram"]["waiting_messages"] == 0, "all is done"
    )
    assert len(bot.model.conversation) < 400


def test_a_picture_and_what_is_too_large_come_with_the_message(bot: Bot) -> None:
    bot.let_in()
    picture = bot.telegram.add_file(b"\xff\xd8\xff" + b"0" * 1000)
    large = bot.telegram.add_file(b"0" * (21 * 1024 * 1024))
    bot.model.script(text("A nice one."), text("Too much."))
    bot.write("", photo=[{"file_id": picture, "file_unique_id": "a", "width": 9, "height": 9}], caption="Look!")
    bot.wait_text("A nice one.")
    (asked,) = asked_with(bot, "Look!")
    assert "[Attached: photo.jpg" in asked
    document = {"file_id": large, "file_unique_id": "b", "file_name": "film.bin", "file_size": 21 * 1024 * 1024}
    bot.write("", document=document, caption="And this?")
    bot.wait_text("Too much.")
    (asked,) = asked_with(bot, "And this?")
    assert "[The file film.bin was not taken" in asked
    folder = bot.computer.home.run / "connector" / "telegram" / "files"
    bot.computer.wait_until(lambda: not [each for each in folder.iterdir() if each.suffix == ".jpg"], "no file is left")


def test_a_conversation_that_was_raised_hears_nothing_from_outside(bot: Bot) -> None:
    bot.let_in()
    bot.model.script(text("Hello."))
    bot.write("hi")
    bot.wait_text("Hello.")
    session = bot.session()["id"]
    bot.call("PATCH", f"/api/chat/{session}/config", {"template": "personal"})
    bot.call("PATCH", f"/api/chat/{session}/config", {"trustLevel": "direct"})
    before = len(bot.model.conversation)
    bot.write("rm -rf everything")
    bot.wait_text("takes no messages from here")
    assert len(bot.model.conversation) == before


def test_what_cannot_be_delivered_is_in_the_inbox_and_can_be_tried_again(bot: Bot) -> None:
    bot.let_in()
    bot.telegram.fail("sendMessage", 403, "Forbidden: bot was blocked by the user")
    bot.model.script(text("You will not read this."))
    bot.write("hi")

    def waiting() -> list[dict[str, object]]:
        found = bot.call("GET", "/api/inbox")["items"]
        return [each for each in found if each["kind"] == "delivery" and each["details"]["chat_id"] == str(bot.person)]

    (item,) = bot.computer.wait_until(waiting, "the owner sees it")
    assert "will not read this" in item["details"]["text"]
    body = {"id": item["id"], "hash": item["hash"], "answer": "retry"}
    bot.call("POST", "/api/inbox/answer", body)
    bot.wait_text("You will not read this.")
    assert not waiting()


def test_a_chat_has_a_limit_of_its_own(bot: Bot) -> None:
    chat = bot.let_in()
    limits = {each["subject"]: each for each in bot.call("GET", "/api/usage/limits")["limits"]}
    assert limits[chat["usage_subject"]]["dollars"] == 1.0
    bot.call("PUT", f"/api/usage/limits/{chat['usage_subject']}", {"per": "day", "dollars": 0.0})
    bot.model.default(text("Too expensive."))
    before = len(bot.model.conversation)
    bot.write("hi")
    bot.wait_text("spending limit")
    assert len(bot.model.conversation) == before


def test_runs_leave_receipts_as_of_guests(bot: Bot) -> None:
    bot.let_in()
    bot.model.script(text("Hello."))
    bot.write("hi")
    bot.wait_text("Hello.")
    session = bot.session()["id"]

    def receipts() -> list[dict[str, object]]:
        found = bot.call("GET", f"/api/audit?session={session}")["records"]
        return [each for each in found if each["event_type"] == "run"]

    (receipt,) = bot.computer.wait_until(receipts, "the run has a receipt")
    assert receipt["origin"] == "guest"
    assert str(bot.person) in str(receipt)


def test_the_owners_own_chat_is_asked_what_a_bot_asks(bot: Bot) -> None:
    bot.let_in(template="family")
    bot.write("/owner AAAA-AAAA")
    bot.wait_text("has expired")
    code = bot.call("POST", "/api/bots/telegram/owner-code")["code"]
    bot.write(f"/owner {code}")
    bot.wait_text("your own chat now")
    assert bot.chat()["is_owner"] is True
    other = bot.anew()
    other.let_in(template="family")
    other.model.script(tool_use("AskUserQuestion", {"questions": [QUESTION]}), text("Blue it is."))
    other.write("Ask!")
    asked = bot.written("Which colour?")
    assert len(asked.buttons) == 2
    # Others press in vain.
    other.telegram.press(asked.buttons[0], asked.id, chat=other.person)
    bot.telegram.press(asked.buttons[1], asked.id, chat=bot.person)
    other.wait_text("Blue it is.")
    bot.wait_text("Answered: Blue")
    bot.call("DELETE", f"/api/bots/chats/telegram/{bot.person}")
    last = bot.telegram.write("still there?", chat=bot.person)
    bot.telegram.wait(lambda: last in bot.telegram.confirmed, "the message was stored", bot.computer.logs)


def test_panic_is_silent_and_what_waited_is_answered_afterwards(bot: Bot) -> None:
    bot.let_in()
    gate = Gate()
    reply: Reply = several(text("I say "), hold(gate, text("something.")))
    bot.model.script(reply)
    bot.write("Talk.")
    gate.wait_reached()
    before = bot.texts()
    bot.call("POST", "/api/panic")
    gate.open()
    bot.write("Anybody there?")
    assert bot.texts() == before
    bot.model.script(text("I am back."))
    bot.call("POST", "/api/resume")
    bot.wait_text("I am back.")
    assert not any("something" in each for each in bot.texts())


def test_at_most_three_strangers_wait(bot: Bot) -> None:
    people = [bot.anew() for _ in range(5)]
    for each in people:
        last = bot.telegram.write("let me in", chat=each.person)
    bot.telegram.wait(lambda: last in bot.telegram.confirmed, "all were stored", bot.computer.logs)
    assert [each["chat_id"] for each in bot.requests()] == [str(each.person) for each in people[:3]]
    assert bot.call("GET", "/api/bots/pairing/count") == {"pending": 3}
    people[0].wait_text("Your code is")
    assert not people[3].texts()
    again = bot.telegram.write("let me in!", chat=people[0].person)
    bot.telegram.wait(lambda: again in bot.telegram.confirmed, "it was stored", bot.computer.logs)
    assert len(people[0].texts()) == 1
