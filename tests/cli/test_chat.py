"""`parachute chat` with a message: the answer, the options, and what can fail."""

import base64
import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from parachute.security.keys.cli_token import CliToken
from tests.support.gate import Gate
from tests.support.terminal import Terminal
from tests.support.waiting import SECONDS

from .scripted_core import DONE, DROP, SESSION, START, ScriptedCore, Step, text, tool

CLAUDE = 200, {"provider": {"provider": "anthropic"}}
MORE = ("--agent", "sailor", "--context", "Projects/boat", "--context", "Projects")
OFFLINE = 200, {"provider": {"provider": "offline"}}


def test_the_answer_is_printed_and_the_rest_stands_beside_it(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
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
        result = parachute("chat", "Where", "is it?", "--direct", "--yes", "--directory", ".", "--model", "opus", *MORE)
    assert result.code == 0
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
        "agentPath": "sailor",
        "contexts": ["Projects/boat", "Projects"],
        "canAnswerPermissions": False,
    }
    assert parachute.screens == snapshot


def test_text_appears_while_the_run_goes_on(parachute: Terminal, home: Home) -> None:
    gate = Gate()
    core = ScriptedCore(home, [START, text("First.\n"), gate, text("First.\nSecond."), DONE])
    with core, parachute.background("chat", "hello") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "First.\n"
        gate.open()
        assert process.stdout.read() == "Second.\n"
        assert process.wait(SECONDS) == 0


def test_json_is_one_event_a_line(parachute: Terminal, home: Home) -> None:
    steps = [START, text("Grüße, 日本"), DONE]
    with ScriptedCore(home, steps):
        result = parachute("chat", "hello", "--json")
    events = [json.loads(line) for line in result.out.splitlines()]
    assert [{**event, "seq": None} for event in events] == [{**step, "seq": None} for step in steps]
    assert result.err == ""


def test_a_line_says_what_a_turn_has_left(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    files = [{"path": path} for path in ("plan.md", "new\nline", "a", "b")]
    counts = {"total": 30, "undone": 0, "added": 30, "removed": 2}
    item = {"id": "host:0123456789ab", "session_id": SESSION, "kind": "host"}
    item["sentence"] = "The agent of boat wants to reach a.example."
    sentence = "daily suggests adding Kevin to brain."
    suggestion = {**item, "id": "suggestion:ba9876543210", "kind": "suggestion", "sentence": sentence}
    with ScriptedCore(home, [START, text("Done."), DONE]) as core:
        core.answers["GET", "/api/status"] = CLAUDE
        core.turns = [
            {
                "changes": [
                    {"run": 12, "files": files, **counts},
                    {"run": 13, "files": files[:1], "total": 1, "undone": 1, "added": 1, "removed": 0},
                ]
            }
        ]
        core.waiting = [
            item,
            {**item, "kind": "changes"},
            suggestion,
            {**suggestion, "session_id": "another"},
        ]
        assert parachute("chat", "Work.").code == 0
    assert parachute.screens == snapshot


def test_standard_input(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home, [START, DONE]) as core:
        parachute.ok("chat", "-", stdin="Line one\nline two\n")
        assert core.calls[0].body["message"] == "Line one\nline two"
        parachute.fails("chat", "-")
        parachute("chat", "-", stdin="x" * 100_001)
        parachute.fails("chat", code=2)
        parachute.fails("chat", "x", "--directory", "nowhere")
    assert len(core.calls) == 1
    assert parachute.screens == snapshot


def test_a_conversation_goes_on_by_its_id(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home, [START, DONE]) as core:
        parachute.ok("chat", "hello", "--session", SESSION)
    assert core.calls[0].body["sessionId"] == SESSION


def test_the_last_conversation_of_a_person_goes_on(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
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
        parachute.fails("chat", "-c", "--session", SESSION, "hello")
        core.answers["GET", "/api/chat"] = 200, {"sessions": rows[:2]}
        parachute.fails("chat", "--continue", "hello")
    assert [call.body["sessionId"] for call in core.calls if call.method == "POST"] == [SESSION, "c" * 36]
    assert parachute.screens == snapshot


def test_files_go_with_a_message(parachute: Terminal, home: Home, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    contents = {"a.py": b"x = 1", "b.png": b"\x89PNG", "c.pdf": b"%PDF", "d.tar.gz": b"\x1f\x8b", "e.bin": b"\0\xff"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    given = [word for name in contents for word in ("--attach", str(tmp_path / name))]
    with ScriptedCore(home, [START, DONE]) as core:
        parachute.ok("chat", "What is it?", *given)
        parachute.fails("chat", "x", "--attach", "nowhere")
        (tmp_path / "big").write_bytes(b"x" * (20 * 1024 * 1024 + 1))
        parachute.fails("chat", "x", "--attach", str(tmp_path / "big"))
    sent = core.calls[0].body["attachments"]
    assert [each["fileName"] for each in sent] == list(contents)
    assert [each["type"] for each in sent] == ["text", "image", "pdf", "archive", "unknown"]
    assert [base64.b64decode(each["base64Data"]) for each in sent] == list(contents.values())
    assert sent[1]["mimeType"] == "image/png"
    assert len(core.calls) == 1
    assert parachute.screens == snapshot


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


def test_a_refused_message_is_told_in_the_words_of_the_api(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/chat"] = 409, {"detail": "It is busy.", "hint": "Wait.", "key": "busy"}
        parachute.fails("chat", "hello")
    assert parachute.screens == snapshot


def test_without_a_server_there_is_a_hint(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.fails("chat", "hello")
    assert parachute.screens == snapshot


def test_a_lost_connection_is_taken_up_behind_the_last_event(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    steps: list[Step] = [START, text("One "), DROP, text("One two "), DROP, DROP, text("One two three."), DONE]
    with ScriptedCore(home, steps) as core:
        parachute.ok("chat", "hello")
    assert [call.query.get("after") for call in core.calls] == [None, "2", "3", "3"]
    assert parachute.screens == snapshot


def test_a_connection_lost_before_any_event_is_not_mistaken_for_an_earlier_run(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home, [DROP, START, DONE]) as core:
        parachute.fails("chat", "hello", "--session", SESSION)
    assert core.paths() == ["POST /api/chat"]
    assert parachute.screens == snapshot


def test_a_folder_is_looked_for_here_and_then_in_the_vault(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    folder = Path(parachute.environment["HOME"])
    (folder / "Parachute" / "Projects" / "boat").mkdir(parents=True)
    with ScriptedCore(home, [START, DONE]) as core:
        core.answers["GET", "/api/status"] = CLAUDE
        parachute.ok("chat", "x", "--directory", "Projects/boat")
        (folder / "Projects" / "boat").mkdir(parents=True)
        parachute.ok("chat", "x", "--directory", "Projects/boat")
        core.answers["GET", "/api/status"] = OFFLINE
        parachute.fails("chat", "x", "--directory", "Projects/boat")
    said = [call.body["workingDirectory"] for call in core.calls if call.body]
    assert said == [f"{folder}/Parachute/Projects/boat", f"{folder}/Projects/boat"]
    assert parachute.screens == snapshot


def test_what_goes_along_with_a_message_is_named(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    names = ["Kevin", "LVB", "Ann", "Bob", "Eve", "Rome", "Oslo"]
    known = {"type": "prompt_metadata", "knownNames": names, "knownEntries": 2}
    nothing = {"type": "prompt_metadata", "knownNames": [], "knownEntries": 0}
    with ScriptedCore(home, [START, known, text("Hello."), DONE]) as core:
        parachute("chat", "hi")
        core.steps = [START, nothing, text("Hello."), DONE]
        assert "Knows" not in parachute("chat", "hi").err
    assert parachute.screens == snapshot
