"""Questions that a chat puts to the person at the terminal."""

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ABORT, ANSWER, DONE, SESSION, START, ScriptedCore, text

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


def test_a_question_without_a_person_does_not_hang(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home, [START, QUESTION, text("Then not."), DONE]):
        result = parachute("chat", "hello")
    assert result.code == 0
    assert parachute.screens == snapshot


ANSWERS: dict[str, dict[str, object]] = {
    "yes": {"allow": True, "grant": None},
    "1": {"allow": True, "grant": "Bash(git:*)"},
    "7": {"allow": False, "grant": None},
    "": {"allow": False, "grant": None},
}


def test_permission_requests_are_answered(parachute: Terminal, home: Home) -> None:
    request = {
        "type": "permission_request",
        "sessionId": SESSION,
        "toolName": "Bash",
        "input": {"command": "git push"},
        "reason": "It reaches out.",
        "suggestedGrants": ["Bash(git:*)"],
    }
    steps = [step for number in range(len(ANSWERS)) for step in ({**request, "requestId": f"p{number}"}, ANSWER)]
    core = ScriptedCore(home, [START, *steps, DONE])
    with core, parachute.screen("chat", "hello") as screen:
        for typed in ANSWERS:
            screen.until("git push")
            screen.until("or no: ")
            screen.type(f"{typed}\r")
        assert screen.end() == 0
    assert [(call.path, call.body) for call in core.calls[1:]] == [
        (f"/api/chat/{SESSION}/permissions/p{number}", answer) for number, answer in enumerate(ANSWERS.values())
    ]


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
