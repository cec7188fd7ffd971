"""`parachute chat` without a message: a conversation at the prompt."""

from parachute.config.settings.home import Home
from tests.support.gate import Gate
from tests.support.terminal import Terminal

from .scripted_core import ABORT, DONE, SESSION, START, ScriptedCore, text, tool


def test_a_conversation_at_a_terminal(parachute: Terminal, home: Home) -> None:
    steps = [START, text("Hi \x1b[2Jthere."), tool("Bash", command="ls"), text("Well."), DONE]
    with ScriptedCore(home, steps) as core, parachute.screen("chat") as screen:
        screen.until("> ")
        screen.type("hello\r")
        answer = screen.until("Well.")
        assert "Hi [2Jthere.\r\n" in answer
        assert "\x1b[2m> Bash ls\x1b[0m" in answer
        screen.until("> ")
        screen.type("and now?\r")
        screen.until("Well.")
        screen.until("> ")
        screen.type("\x04")
        assert screen.end() == 0
        assert f"--session {SESSION[:8]}`" in screen.seen
    assert [(call.body["message"], call.body["sessionId"]) for call in core.calls] == [
        ("hello", "new"),
        ("and now?", SESSION),
    ]
    assert core.calls[0].body["canAnswerPermissions"] is True


def test_ctrl_c_in_a_conversation_stops_the_answer_and_then_the_conversation(parachute: Terminal, home: Home) -> None:
    core = ScriptedCore(home, [START, text("Working on it"), ABORT, {"type": "aborted"}])
    with core, parachute.screen("chat") as screen:
        screen.until("> ")
        screen.type("hello\r")
        screen.until("Working")
        screen.type("\x03")
        screen.until("The run was stopped.")
        screen.until("> ")
        screen.type("\x03")
        assert screen.end(pressing="\x03") == 130
        assert f"--session {SESSION[:8]}`" in screen.seen
    assert core.paths()[-1].endswith("/abort")


def test_ctrl_c_clears_a_half_typed_line(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home, [START, text("Hi."), DONE]) as core, parachute.screen("chat") as screen:
        screen.until("> ")
        screen.type("half ty")
        screen.until("half ty")
        screen.until_it_waits()
        screen.type("\x03")
        screen.until("> ")
        screen.type("hello\r")
        screen.until("Hi.")
        screen.until("> ")
        screen.type("/exit\r")
        assert screen.end() == 0
    assert [call.body["message"] for call in core.calls] == ["hello"]


def test_words_of_the_prompt_do_not_go_to_the_model(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home, [START, DONE]) as core, parachute.screen("chat") as screen:
        screen.until("> ")
        screen.type("/help\r")
        screen.until("end the conversation")
        screen.type("quit\r")
        assert screen.end() == 0
    assert core.calls == []


def test_until_the_first_word_a_terminal_shows_that_it_goes_on(parachute: Terminal, home: Home) -> None:
    gate = Gate()
    with ScriptedCore(home, [START, gate, text("There."), DONE]), parachute.screen("chat", "hello") as screen:
        screen.until("Thinking ...")
        gate.open()
        assert "\r\x1b[K" in screen.until("There.")
        assert screen.end() == 0
