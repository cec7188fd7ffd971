"""kill -9 of the server while it answers: nothing is lost, and nobody is answered twice."""

import re
import signal
from collections.abc import Callable

import pytest

from tests.automation.transcription.scripted_server import SAID, scripted_server
from tests.connectors.bots.conftest import transcribing
from tests.connectors.bots.requests import asked_with, reply_to_each
from tests.connectors.bots.talking import Bot
from tests.support.messages_api import Gate, hold, several, text, tool_use
from tests.support.waiting import still_running

pytestmark = [pytest.mark.long, pytest.mark.computer]


def _while_it_is_given_out(bot: Bot, message: str) -> None:
    held = bot.telegram.hold("getUpdates", done=True)
    bot.write(message)
    held.wait_reached()
    bot.computer.kill_core()
    held.release()


def _when_it_is_stored(bot: Bot, message: str) -> None:
    written = bot.telegram.write(message, chat=bot.person)
    bot.telegram.wait(lambda: written in bot.telegram.confirmed, "the message is stored", bot.computer.logs)
    bot.computer.kill_core()


def _when_the_model_is_asked(bot: Bot, message: str) -> None:
    gate = Gate()
    bot.model.script(hold(gate, text("Never said.")))
    bot.write(message)
    gate.wait_reached()
    bot.computer.kill_core()
    gate.open()


def _when_a_draft_is_shown(bot: Bot, message: str) -> None:
    gate, before = Gate(), len(bot.telegram.drafts)
    bot.model.script(several(text("Half of it "), hold(gate, text("and never more."))))
    bot.write(message)
    bot.telegram.wait(lambda: len(bot.telegram.drafts) > before, "a draft is shown", bot.computer.logs)
    bot.computer.kill_core()
    gate.open()


def _while_it_is_answered(bot: Bot, message: str) -> None:
    held = bot.telegram.hold("sendMessage", done=True)
    bot.write(message)
    held.wait_reached()
    core = bot.computer.find_process("parachute.server")
    core.kill()
    held.release()
    core.wait()


def _when_the_answer_is_there(bot: Bot, message: str) -> None:
    bot.write(message)
    bot.wait_text(f"{message.strip('<>')}.")
    bot.computer.kill_core()


MOMENTS: tuple[tuple[Callable[[Bot, str], None], ...], ...] = (
    (_while_it_is_given_out, _when_it_is_stored, _when_the_model_is_asked),
    (_when_a_draft_is_shown, _while_it_is_answered, _when_the_answer_is_there),
)
"""Each writes a message, waits for something that happens to it, and kills the server."""


@pytest.mark.parametrize("moments", MOMENTS, ids=["before its answer", "during its answer"])
def test_killed_at_each_step_each_message_is_answered_once(
    own_bot: Bot, moments: tuple[Callable[[Bot, str], None], ...]
) -> None:
    own_bot.let_in()
    own_bot.model.default(reply_to_each)
    for number, moment in enumerate(moments):
        moment(own_bot, f"<message-{number:04}>")
        own_bot.wait_text(f"Read up to message-{number:04}.")
    _settle(own_bot, lambda: _open_work(own_bot) == (0, 0))
    for number in range(len(moments)):
        assert sum(f"message-{number:04}." in each for each in own_bot.texts()) == 1, own_bot.texts()
    assert [each for role, each in _said(own_bot) if role == "user"] == [
        f"<message-{number:04}>" for number in range(len(moments))
    ]


@pytest.mark.parametrize("is_first", [True, False], ids=["the first message", "a later one"])
@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "ended"])
def test_ended_in_the_middle_of_an_answer_it_is_given_anew_and_the_question_stands_once(
    own_bot: Bot, kill: signal.Signals, is_first: bool
) -> None:
    own_bot.let_in()
    before = []
    if not is_first:
        own_bot.model.script(text("Welcome."))
        own_bot.write("hello")
        own_bot.wait_text("Welcome.")
        before = [("user", "hello"), ("assistant", "Welcome.")]
    gate = Gate()
    own_bot.model.script(several(text("I begin "), hold(gate, text("and never end."))))
    own_bot.write("Is it warm?")
    gate.wait_reached()
    own_bot.model.default(text("I begin again."))
    _end_core(own_bot, kill)
    gate.open()
    own_bot.wait_text("I begin again.")
    assert sum("begin" in each for each in own_bot.texts()) == 1
    assert _said(own_bot) == [*before, ("user", "Is it warm?"), ("assistant", "I begin again.")]
    assert str(own_bot.model.conversation[-1].body["messages"]).count("Is it warm?") == 1


def _is_written_down(bot: Bot) -> bool:
    runs = bot.computer.vault / ".parachute" / "runs"
    transcripts = bot.computer.vault.rglob("*.jsonl")
    is_stored = any("I look." in path.read_text() for path in runs.iterdir())
    return is_stored and any('"tool_result"' in path.read_text(errors="replace") for path in transcripts)


def test_killed_again_and_again_behind_a_tool_the_answer_goes_on_and_nothing_is_said_twice(own_bot: Bot) -> None:
    own_bot.let_in(template="personal")
    gates = [Gate(), Gate()]
    look = tool_use("Bash", {"command": "echo looked", "description": "x"})
    own_bot.model.script(several(text("I look."), look), hold(gates[0], text("Never.")), hold(gates[1], text("Never.")))
    own_bot.write("Is it warm?")
    for gate in gates:
        gate.wait_reached()
        # What was said and done is written down a moment later, by the server and by the agent's program: what is not is as if
        # it had never been, and the question is sent anew.
        own_bot.computer.wait_until(lambda: _is_written_down(own_bot), "it is written down")
        if gate is gates[1]:
            own_bot.model.default(text("It is warm."))
        own_bot.computer.kill_core()
        gate.open()
    own_bot.wait_text("It is warm.")
    assert [each for each in own_bot.texts() if "look" in each or "warm" in each] == ["I look.", "It is warm."]
    words = [each for each in _said(own_bot) if each[1]]
    assert words[:2] == [("user", "Is it warm?"), ("assistant", "I look.")]
    assert words[-1] == ("assistant", "It is warm.")
    # Of the two that were sent to go on, the one that nobody has begun to answer is gone.
    assert [each.split(".")[0] for role, each in words[2:-1]] == [
        "[This computer was restarted in the middle of this answer"
    ]


@pytest.mark.parametrize("done", [False, True], ids=["before it is sent", "before it is known to be"])
def test_killed_while_a_file_is_sent_it_is_there_once(own_bot: Bot, done: bool) -> None:
    own_bot.let_in(template="personal")
    held = own_bot.telegram.hold("sendDocument", done=done)
    _script_of_a_file(own_bot)
    own_bot.write("The table!")
    held.wait_reached()
    core = own_bot.computer.find_process("parachute.server")
    core.kill()
    held.release()
    core.wait()
    own_bot.wait_text("There it is.")
    _settle(own_bot, lambda: _open_work(own_bot) == (0, 0))
    assert [each.content for each in own_bot.telegram.written if each.attached] == [b"a,b"]


def test_killed_before_the_agent_knows_that_a_file_is_sent_it_is_there_once(own_bot: Bot) -> None:
    own_bot.let_in(template="personal")
    gate = Gate()
    own_bot.model.script(*_FILE, hold(gate, text("Never.")))
    own_bot.write("The table!")
    gate.wait_reached()
    # It asks for it once more, as one would that has forgotten.
    _script_of_a_file(own_bot)
    own_bot.computer.kill_core()
    gate.open()
    own_bot.wait_text("There it is.")
    _settle(own_bot, lambda: _open_work(own_bot) == (0, 0))
    assert [each.content for each in own_bot.telegram.written if each.attached] == [b"a,b"]


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

    def all_are_there() -> bool:
        words = str(own_bot.session()["messages"])
        return all(f"<message-{number:04}>" in words for number in range(60))

    _settle(own_bot, all_are_there)  # the agent's program may store an answer after giving it


def test_killed_while_a_voice_note_is_transcribed_its_words_come_once(own_bot: Bot) -> None:
    own_bot.let_in()
    own_bot.model.default(text("I have heard you."))
    with scripted_server() as server, transcribing(server, own_bot):
        server.free.clear()
        own_bot.speak(b"OggS said once")
        server.wait(lambda: server.asked, "it is being transcribed", own_bot.computer.logs)
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


_FILE = (
    tool_use("Bash", {"command": "printf 'a,b' > table.csv", "description": "x"}),
    tool_use("mcp__parachute__send_file", {"path": "table.csv"}),
)


def _script_of_a_file(bot: Bot) -> None:
    bot.model.script(*_FILE)
    bot.model.default(text("There it is."))


def _said(bot: Bot) -> list[tuple[str, str]]:
    """Return the messages of the conversation, with their roles."""
    return [
        (each["role"], "".join(part.get("text", "") for part in each["content"])) for each in bot.session()["messages"]
    ]


def _open_work(bot: Bot) -> tuple[int, int]:
    state = bot.call("GET", "/api/bots/status")["connectors"]["telegram"]
    return state["waiting_messages"], state["unsent"]


def _end_core(bot: Bot, kill: signal.Signals) -> None:
    """End the server; returns when another one answers."""
    if kill == signal.SIGKILL:
        bot.computer.kill_core()
        return
    core = bot.computer.find_process("parachute.server")
    core.send_signal(kill)
    assert not still_running([core])
    bot.computer.wait_until(lambda: bot.call("GET", "/api/bots/status"), "another one answers")


def _settle(bot: Bot, condition: Callable[[], bool]) -> None:
    bot.computer.wait_until(condition, "nothing is left to do")
