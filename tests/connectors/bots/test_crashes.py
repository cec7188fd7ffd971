"""kill -9 of the server while it answers: nothing is lost, and nobody is answered twice."""

import re
import time
from collections.abc import Callable

import pytest

from tests.connectors.bots.requests import reply_to_each
from tests.connectors.bots.talking import Bot
from tests.support.messages_api import Gate, hold, several, text

pytestmark = pytest.mark.long

MOMENTS = (0.0, 0.01, 0.02, 0.04, 0.06, 0.1, 0.15, 0.2, 0.3, 0.5)
"""Seconds after a message was written; an answer takes about 0.1."""


def test_killed_at_any_moment_each_message_is_answered_once(bot: Bot) -> None:
    bot.let_in()
    bot.model.default(reply_to_each)
    for number, seconds in enumerate(MOMENTS):
        bot.write(f"<message-{number:04}>")
        time.sleep(seconds)  # not waited for: any moment is as good as another
        bot.computer.kill_core()
        bot.wait_text(f"Read up to message-{number:04}.")
    for number in range(len(MOMENTS)):
        assert sum(f"message-{number:04}." in each for each in bot.texts()) == 1, bot.texts()


def test_killed_in_the_middle_of_an_answer_it_is_given_anew(bot: Bot) -> None:
    bot.let_in()
    gate = Gate()
    bot.model.script(several(text("I begin "), hold(gate, text("and never end."))))
    bot.write("hi")
    gate.wait_reached()
    bot.model.default(text("I begin again."))
    bot.computer.kill_core()
    gate.open()
    bot.wait_text("I begin again.")
    assert sum("begin" in each for each in bot.texts()) == 1


@pytest.mark.parametrize("done", [False, True], ids=["before it is written", "before it is known to be"])
def test_killed_while_an_answer_is_sent_it_is_there_once(bot: Bot, done: bool) -> None:
    bot.let_in()
    bot.model.default(text("Exactly once."))
    held = bot.telegram.hold("sendMessage", done=done)
    bot.write("hi")
    held.wait_reached()
    bot.computer.kill_core()
    held.release()
    bot.wait_text("Exactly once.")
    _settle(bot, lambda: bot.call("GET", "/api/bots/status")["connectors"]["telegram"]["unsent"] == 0)
    assert sum("Exactly once." in each for each in bot.texts()) == 1


def test_killed_with_many_that_wait_none_is_lost_and_all_come_in_their_order(bot: Bot) -> None:
    bot.let_in()
    bot.model.default(reply_to_each)
    for number in range(60):
        bot.write(f"<message-{number:04}>")
        if number % 20 == 10:
            bot.computer.kill_core()
    bot.wait_text("Read up to message-0059.")
    _settle(bot, lambda: bot.call("GET", "/api/bots/status")["connectors"]["telegram"]["waiting_messages"] == 0)
    read = [int(found) for each in bot.texts() for found in re.findall(r"Read up to message-(\d+)\.", each)]
    assert read == sorted(set(read))
    words = str(bot.session()["messages"])
    assert all(f"<message-{number:04}>" in words for number in range(60))


def test_a_request_survives_and_is_made_once(bot: Bot) -> None:
    bot.write("hello?")
    bot.computer.kill_core()
    request = bot.request()
    bot.wait_text("Your code is")
    bot.computer.kill_core()
    assert bot.request() == request
    _settle(bot, lambda: bot.call("GET", "/api/bots/status")["connectors"]["telegram"]["unsent"] == 0)
    assert len(bot.texts()) == 1
    assert bot.session(request["session_id"])["metadata"]["pairing_request_id"] == request["id"]


def _settle(bot: Bot, condition: Callable[[], bool]) -> None:
    bot.computer.wait_until(condition, "nothing is left to do")
