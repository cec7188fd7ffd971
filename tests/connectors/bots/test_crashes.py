"""kill -9 of the server while it answers: nothing is lost, and nobody is answered twice."""

import re
import time
from collections.abc import Callable

import pytest

from tests.automation.transcription.scripted_server import SAID, scripted_server
from tests.connectors.bots.conftest import transcribing
from tests.connectors.bots.requests import asked_with, reply_to_each
from tests.connectors.bots.talking import Bot
from tests.support.messages_api import Gate, hold, several, text

pytestmark = pytest.mark.long

MOMENTS = ((0.0, 0.02, 0.05), (0.08, 0.12, 0.2), (0.01, 0.3, 0.5))
"""Seconds after a message was written; an answer takes about 0.2."""


@pytest.mark.parametrize("moments", MOMENTS, ids=str)
def test_killed_at_any_moment_each_message_is_answered_once(own_bot: Bot, moments: tuple[float, ...]) -> None:
    own_bot.let_in()
    own_bot.model.default(reply_to_each)
    for number, seconds in enumerate(moments):
        own_bot.write(f"<message-{number:04}>")
        time.sleep(seconds)  # not waited for: any moment is as good as another
        own_bot.computer.kill_core()
        own_bot.wait_text(f"Read up to message-{number:04}.")
    for number in range(len(moments)):
        assert sum(f"message-{number:04}." in each for each in own_bot.texts()) == 1, own_bot.texts()


def test_killed_in_the_middle_of_an_answer_it_is_given_anew(own_bot: Bot) -> None:
    own_bot.let_in()
    gate = Gate()
    own_bot.model.script(several(text("I begin "), hold(gate, text("and never end."))))
    own_bot.write("hi")
    gate.wait_reached()
    own_bot.model.default(text("I begin again."))
    own_bot.computer.kill_core()
    gate.open()
    own_bot.wait_text("I begin again.")
    assert sum("begin" in each for each in own_bot.texts()) == 1


@pytest.mark.parametrize("done", [False, True], ids=["before it is written", "before it is known to be"])
def test_killed_while_an_answer_is_sent_it_is_there_once(own_bot: Bot, done: bool) -> None:
    own_bot.let_in()
    own_bot.model.default(text("Exactly once."))
    held = own_bot.telegram.hold("sendMessage", done=done)
    own_bot.write("hi")
    held.wait_reached()
    # Let go at once: what stands for longer than its library waits is not known to be written by anybody.
    core = own_bot.computer.find_process("parachute.server")
    core.kill()
    held.release()
    core.wait()
    own_bot.wait_text("Exactly once.")
    _settle(own_bot, lambda: own_bot.call("GET", "/api/bots/status")["connectors"]["telegram"]["unsent"] == 0)
    assert sum("Exactly once." in each for each in own_bot.texts()) == 1


def test_killed_with_many_that_wait_none_is_lost_and_all_come_in_their_order(own_bot: Bot) -> None:
    own_bot.let_in()
    own_bot.model.default(reply_to_each)
    for number in range(60):
        own_bot.write(f"<message-{number:04}>")
        if number % 20 == 10:
            own_bot.computer.kill_core()
    own_bot.wait_text("Read up to message-0059.")
    _settle(own_bot, lambda: own_bot.call("GET", "/api/bots/status")["connectors"]["telegram"]["waiting_messages"] == 0)
    read = [int(found) for each in own_bot.texts() for found in re.findall(r"Read up to message-(\d+)\.", each)]
    assert read == sorted(set(read))
    words = str(own_bot.session()["messages"])
    assert all(f"<message-{number:04}>" in words for number in range(60))


def test_killed_while_a_voice_note_is_transcribed_its_words_come_once(own_bot: Bot) -> None:
    own_bot.let_in()
    own_bot.model.default(text("I have heard you."))
    with scripted_server() as server, transcribing(server, own_bot):
        server.free.clear()
        own_bot.speak(b"OggS said once")
        own_bot.computer.wait_until(lambda: server.asked, "it is being transcribed")
        own_bot.computer.kill_core()
        server.free.set()
        own_bot.wait_text("I have heard you.")
        _settle(own_bot, lambda: own_bot.call("GET", "/api/bots/status")["connectors"]["telegram"]["unsent"] == 0)
        assert len(asked_with(own_bot, str(SAID["text"]).strip())) == 1
        assert sum("heard you" in each for each in own_bot.texts()) == 1
        (done,) = own_bot.call("GET", "/api/voice/transcriptions")["transcriptions"]
        assert done["state"] == "done"
        (kept,) = (own_bot.computer.vault / "Chat" / "recordings").iterdir()
        assert kept.read_bytes() == b"OggS said once"


def test_a_request_survives_and_is_made_once(own_bot: Bot) -> None:
    own_bot.write("hello?")
    own_bot.computer.kill_core()
    request = own_bot.request()
    own_bot.wait_text("Your code is")
    own_bot.computer.kill_core()
    assert own_bot.request() == request
    _settle(own_bot, lambda: own_bot.call("GET", "/api/bots/status")["connectors"]["telegram"]["unsent"] == 0)
    assert len(own_bot.texts()) == 1
    assert own_bot.session(request["session_id"])["metadata"]["pairing_request_id"] == request["id"]


def _settle(bot: Bot, condition: Callable[[], bool]) -> None:
    bot.computer.wait_until(condition, "nothing is left to do")
