"""`parachute chat`, against a core that says what is written here."""

import base64
import json
import signal
import subprocess
from pathlib import Path

import pytest

from parachute.cli.wrapping import Wrapper
from parachute.keys.cli_token import CliToken
from parachute.settings.home import Home
from tests.support.gate import Gate
from tests.support.terminal import Terminal

from .scripted_core import ABORT, ANSWER, DONE, DROP, SESSION, START, ScriptedCore, Step, text, tool

CLAUDE = 200, {"provider": {"provider": "anthropic"}}
OFFLINE = 200, {"provider": {"provider": "offline"}}


def test_the_answer_is_printed_and_the_rest_stands_beside_it(parachute: Terminal, home: Home) -> None:
    steps = [
        START,
        {"type": "warning", "title": "Offline model", "message": "Small.", "details": ["one"]},
        text("Let me "),
        text("Let me look."),
        tool("Read", file_path="/notes/a.md"),
        {"type": "tool_result", "toolUseId": "t1", "content": "gone\nfor good", "isError": True},
        text("There "),
        {"type": "thinking", "content": "hm"},
        text("There is none."),
        DONE,
    ]
    with ScriptedCore(home, steps) as core:
        core.answers["GET", "/api/status"] = CLAUDE
        result = parachute("chat", "Where", "is it?", "--direct", "--yes", "--directory", ".", "--model", "opus")
    assert result.code == 0
    assert result.out == "Let me look.\n\nThere is none.\n"
    noted = result.err.splitlines()
    assert noted[:4] == ["Offline model: Small.", "  one", "> Read /notes/a.md", "  failed: gone"]
    assert f"--session {SESSION[:8]}`" in noted[4]
    _, call = core.calls
    assert call.token == CliToken(home.root).obtain()
    assert call.body == {
        "message": "Where is it?",
        "sessionId": "new",
        "module": "chat",
        "trustLevel": "direct",
        "workingDirectory": parachute.environment["HOME"],
        "model": "opus",
        "canAnswerPermissions": False,
    }


def test_text_appears_while_the_run_goes_on(parachute: Terminal, home: Home) -> None:
    gate = Gate()
    core = ScriptedCore(home, [START, text("First.\n"), gate, text("First.\nSecond."), DONE])
    with core, parachute.background("chat", "hello") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "First.\n"
        gate.open()
        assert process.stdout.read() == "Second.\n"
        assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["a\nb", "a\nc", "a\nc d"], "a\nb\nc d\n"),
        (["one two", "one"], "one two\none\n"),
        (["same", "same"], "same\n"),
        (["", "x"], "x\n"),
    ],
)
def test_text_that_changes_goes_on_from_the_changed_line(
    parachute: Terminal, home: Home, texts: list[str], shown: str
) -> None:
    with ScriptedCore(home, [START, *(text(each) for each in texts), DONE]):
        assert parachute.ok("chat", "hello") == shown


def test_json_is_one_event_a_line(parachute: Terminal, home: Home) -> None:
    steps = [START, text("Grüße, 日本"), DONE]
    with ScriptedCore(home, steps):
        result = parachute("chat", "hello", "--json")
    events = [json.loads(line) for line in result.out.splitlines()]
    assert [{**event, "seq": None} for event in events] == [{**step, "seq": None} for step in steps]
    assert result.err == ""


def test_standard_input(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home, [START, DONE]) as core:
        parachute.ok("chat", "-", stdin="Line one\nline two\n")
        assert core.calls[0].body["message"] == "Line one\nline two"
        assert "empty" in parachute.fails("chat", "-")
        assert "100,000" in parachute("chat", "-", stdin="x" * 100_001).err
        assert "Usage:" in parachute.fails("chat", code=2)
        assert "no folder nowhere" in parachute.fails("chat", "x", "--directory", "nowhere")
    assert len(core.calls) == 1


def test_a_conversation_goes_on_by_its_id(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home, [START, DONE]) as core:
        parachute.ok("chat", "hello", "--session", SESSION)
    assert core.calls[0].body["sessionId"] == SESSION


def test_the_last_conversation_of_a_person_goes_on(parachute: Terminal, home: Home) -> None:
    rows = [
        {"id": "a" * 36, "source": "parachute", "metadata": {"module": "daily"}},
        {"id": "b" * 36, "source": "telegram", "metadata": {}},
        {"id": SESSION, "source": "parachute", "metadata": {}},
        {"id": "c" * 36, "source": "parachute", "metadata": {}},
    ]
    with ScriptedCore(home, [START, DONE]) as core:
        core.answers["GET", "/api/chat"] = 200, {"sessions": rows}
        parachute.ok("chat", "--continue", "hello")
        parachute.ok("chat", "--session", "cccc", "hello")
        assert "Give one of them." in parachute.fails("chat", "-c", "--session", SESSION, "hello")
        core.answers["GET", "/api/chat"] = 200, {"sessions": rows[:2]}
        assert "no conversation to go on with" in parachute.fails("chat", "--continue", "hello")
    assert [call.body["sessionId"] for call in core.calls if call.method == "POST"] == [SESSION, "c" * 36]


def test_files_go_with_a_message(parachute: Terminal, home: Home, tmp_path: Path) -> None:
    contents = {"a.py": b"x = 1", "b.png": b"\x89PNG", "c.pdf": b"%PDF", "d.tar.gz": b"\x1f\x8b", "e.bin": b"\0\xff"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    given = [word for name in contents for word in ("--attach", str(tmp_path / name))]
    with ScriptedCore(home, [START, DONE]) as core:
        parachute.ok("chat", "What is it?", *given)
        assert "there is no file nowhere" in parachute.fails("chat", "x", "--attach", "nowhere")
        (tmp_path / "big").write_bytes(b"x" * (20 * 1024 * 1024 + 1))
        assert "larger than 21 MB" in parachute.fails("chat", "x", "--attach", str(tmp_path / "big"))
    sent = core.calls[0].body["attachments"]
    assert [each["fileName"] for each in sent] == list(contents)
    assert [each["type"] for each in sent] == ["text", "image", "pdf", "archive", "unknown"]
    assert [base64.b64decode(each["base64Data"]) for each in sent] == list(contents.values())
    assert sent[1]["mimeType"] == "image/png"
    assert len(core.calls) == 1


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"type": "error", "error": "It broke."}, ["Error: It broke."]),
        (
            {
                "type": "typed_error",
                "code": "expired_token",
                "title": "The sign-in has expired",
                "message": "Its time is over.",
                "actions": [{"key": "a", "label": "Sign in", "action": "reauth"}],
            },
            [
                "Error: The sign-in has expired: Its time is over.",
                "Log in again: `parachute auth login`, or `claude login` where it came from there.",
            ],
        ),
        ({"type": "aborted", "message": "Stopped elsewhere."}, ["Stopped elsewhere."]),
    ],
)
def test_a_run_that_fails_ends_with_1(
    parachute: Terminal, home: Home, event: dict[str, object], said: list[str]
) -> None:
    with ScriptedCore(home, [START, text("Half"), event]):
        result = parachute("chat", "hello")
    assert (result.code, result.out.rstrip("\n")) == (1, "Half")
    assert result.err.splitlines()[: len(said)] == said


def test_a_refused_message_is_told_in_the_words_of_the_api(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/chat"] = 409, {"detail": "It is busy.", "hint": "Wait.", "key": "busy"}
        assert parachute.fails("chat", "hello") == "Error: It is busy.\nWait.\n"


def test_without_a_server_there_is_a_hint(parachute: Terminal) -> None:
    assert "`parachute start`" in parachute.fails("chat", "hello")


def test_a_lost_connection_is_taken_up_behind_the_last_event(parachute: Terminal, home: Home) -> None:
    steps: list[Step] = [START, text("One "), DROP, text("One two "), DROP, DROP, text("One two three."), DONE]
    with ScriptedCore(home, steps) as core:
        assert parachute.ok("chat", "hello") == "One two three.\n"
    assert [call.query.get("after") for call in core.calls] == [None, "2", "3", "3"]


def test_a_connection_lost_before_any_event_is_not_mistaken_for_an_earlier_run(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home, [DROP, START, DONE]) as core:
        assert "before the answer began" in parachute.fails("chat", "hello", "--session", SESSION)
    assert core.paths() == ["POST /api/chat"]


def interrupt(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "Working\n"
    process.send_signal(signal.SIGINT)


def test_ctrl_c_aborts_the_run_and_waits_for_its_end(parachute: Terminal, home: Home) -> None:
    steps: list[Step] = [
        START,
        text("Working\n"),
        ABORT,
        text("Working\non"),
        {"type": "aborted", "message": "Stopped."},
    ]
    with ScriptedCore(home, steps) as core, parachute.background("chat", "hello") as process:
        interrupt(process)
        out, err = process.communicate(timeout=10)
        assert process.returncode == 130
    assert core.paths() == ["POST /api/chat", f"POST /api/chat/{SESSION}/abort"]
    assert out.rstrip() == "on"
    assert err.splitlines()[0] == "Stopped."


def test_a_second_ctrl_c_does_not_wait(parachute: Terminal, home: Home) -> None:
    gate = Gate()
    with ScriptedCore(home, [START, text("Working\n"), ABORT, text("Working\nstill\n"), gate]) as core:
        with parachute.background("chat", "hello") as process:
            interrupt(process)
            assert process.stdout is not None
            assert process.stdout.readline() == "still\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(4) == 130
        gate.open()
    assert len(core.calls) == 2


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
        screen.type("\x03")
        screen.until("> ")
        screen.type("hello\r")
        screen.until("Hi.")
        screen.until("> ")
        screen.type("/exit\r")
        assert screen.end() == 0
    assert [call.body["message"] for call in core.calls] == ["hello"]


@pytest.mark.parametrize("word", ["/exit", "/quit", "exit", "quit"])
def test_words_of_the_prompt_do_not_go_to_the_model(parachute: Terminal, home: Home, word: str) -> None:
    with ScriptedCore(home, [START, DONE]) as core, parachute.screen("chat") as screen:
        screen.until("> ")
        screen.type("/help\r")
        screen.until("end the conversation")
        screen.type(f"{word}\r")
        assert screen.end() == 0
    assert core.calls == []


def test_until_the_first_word_a_terminal_shows_that_it_goes_on(parachute: Terminal, home: Home) -> None:
    gate = Gate()
    with ScriptedCore(home, [START, gate, text("There."), DONE]), parachute.screen("chat", "hello") as screen:
        screen.until("Thinking ...")
        gate.open()
        assert "\r\x1b[K" in screen.until("There.")
        assert screen.end() == 0


def test_a_folder_is_looked_for_here_and_then_in_the_vault(parachute: Terminal, home: Home) -> None:
    folder = Path(parachute.environment["HOME"])
    (folder / "Parachute" / "Projects" / "boat").mkdir(parents=True)
    with ScriptedCore(home, [START, DONE]) as core:
        core.answers["GET", "/api/status"] = CLAUDE
        parachute.ok("chat", "x", "--directory", "Projects/boat")
        (folder / "Projects" / "boat").mkdir(parents=True)
        parachute.ok("chat", "x", "--directory", "Projects/boat")
        core.answers["GET", "/api/status"] = OFFLINE
        assert "has no tools" in parachute.fails("chat", "x", "--directory", "Projects/boat")
    said = [call.body["workingDirectory"] for call in core.calls if call.body]
    assert said == [f"{folder}/Parachute/Projects/boat", f"{folder}/Projects/boat"]


def test_an_agent_without_a_sandbox_is_asked_about_once(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home, [START, DONE]) as core:
        assert parachute("chat", "x", "--direct").code == 3
        with parachute.screen("chat", "x", "--direct") as screen:
            screen.until("without a sandbox")
            screen.until("[y/N]")
            screen.type("\n")
            assert screen.end() == 1
        assert core.calls == []
        parachute.ok("chat", "x", "--direct", "--yes")
    assert core.calls[0].body["trustLevel"] == "direct"


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_lines_break_between_words(size: int) -> None:
    words = "one two three fourteen\n  indented words\n日本語 日本語 an-extraordinarily-long-word x"
    wrapper = Wrapper(10)
    pieces = [words[at : at + size] for at in range(0, len(words), size)]
    shown = "".join(map(wrapper.feed, pieces)) + wrapper.rest()
    assert shown.splitlines() == [
        "one two",
        "three",
        "fourteen",
        "  indented",
        "words",
        "日本語",
        "日本語",
        "an-extraordinarily-long-word",
        "x",
    ]


QUESTION = {
    "type": "user_question",
    "requestId": "q1",
    "sessionId": SESSION,
    "questions": [
        {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}], "multiSelect": False},
        {"question": "Which days?", "options": [{"label": "Mon"}, {"label": "Tue"}], "multiSelect": True},
    ],
}


def test_a_question_is_answered_at_the_terminal(parachute: Terminal, home: Home) -> None:
    core = ScriptedCore(home, [START, QUESTION, ANSWER, text("Thanks."), DONE])
    with core, parachute.screen("chat", "hello") as screen:
        screen.until("Which colour?")
        screen.until("own words: ")
        screen.type("2\r")
        screen.until("Which days?")
        screen.until("own words: ")
        screen.type("1, never\r")
        screen.until("Thanks.")
        assert screen.end() == 0
    answers = {"Which colour?": "Blue", "Which days?": ["Mon", "never"]}
    assert core.calls[1].path == f"/api/chat/{SESSION}/answer"
    assert core.calls[1].body == {"request_id": "q1", "answers": answers}


def test_ctrl_c_at_a_question_aborts(parachute: Terminal, home: Home) -> None:
    core = ScriptedCore(home, [START, QUESTION, ABORT, {"type": "aborted"}])
    with core, parachute.screen("chat", "hello") as screen:
        screen.until("own words: ")
        screen.type("\x03")
        assert screen.end() == 130
    assert core.paths()[1:] == [f"POST /api/chat/{SESSION}/abort"]


def test_a_question_without_a_person_does_not_hang(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home, [START, QUESTION, text("Then not."), DONE]):
        result = parachute("chat", "hello")
    assert (result.code, result.out) == (0, "Then not.\n")
    assert "Answer in the app" in result.err


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("yes", {"allow": True, "grant": None}),
        ("1", {"allow": True, "grant": "run:git"}),
        ("7", {"allow": False, "grant": None}),
        ("", {"allow": False, "grant": None}),
    ],
)
def test_a_permission_request_is_answered(
    parachute: Terminal, home: Home, typed: str, answer: dict[str, object]
) -> None:
    request = {
        "type": "permission_request",
        "requestId": "p1",
        "sessionId": SESSION,
        "toolName": "Bash",
        "input": {"command": "git push"},
        "reason": "It reaches out.",
        "suggestedGrants": ["run:git"],
    }
    core = ScriptedCore(home, [START, request, ANSWER, DONE])
    with core, parachute.screen("chat", "hello") as screen:
        screen.until("git push")
        screen.until("or no: ")
        screen.type(f"{typed}\r")
        assert screen.end() == 0
    assert core.calls[1].path == f"/api/chat/{SESSION}/permissions/p1"
    assert core.calls[1].body == answer


def test_what_goes_along_with_a_message_is_named(parachute: Terminal, home: Home) -> None:
    names = ["Kevin", "LVB", "Ann", "Bob", "Eve", "Rome", "Oslo"]
    known = {"type": "prompt_metadata", "knownNames": names, "knownEntries": 2}
    nothing = {"type": "prompt_metadata", "knownNames": [], "knownEntries": 0}
    with ScriptedCore(home, [START, known, text("Hello."), DONE]) as core:
        assert "Knows: Kevin, LVB, Ann, Bob, Eve, 2 more, 2 entries\n" in parachute("chat", "hi").err
        core.steps = [START, nothing, text("Hello."), DONE]
        assert "Knows" not in parachute("chat", "hi").err


@pytest.mark.parametrize(("typed", "levels"), [("y", [None, "direct"]), ("", [None])])
def test_without_a_sandbox_the_user_is_asked(
    parachute: Terminal, home: Home, typed: str, levels: list[str | None]
) -> None:
    failure = {
        "type": "typed_error",
        "code": "unknown_error",
        "title": "The computer cannot go on",
        "message": "This session may only run in a sandbox. bubblewrap is not installed.",
        "sessionId": SESSION,
        "key": "no_sandbox",
    }
    core = ScriptedCore(home, [START, failure])
    with core, parachute.screen("chat", "hello") as screen:
        screen.until("bubblewrap is not installed.")
        screen.until("[y/N] ")
        screen.type(f"{typed}\r")
        assert screen.end() == 1
    assert [call.body.get("trustLevel") for call in core.calls] == levels
    assert [call.body["sessionId"] for call in core.calls[1:]] == [SESSION] * len(levels[1:])
