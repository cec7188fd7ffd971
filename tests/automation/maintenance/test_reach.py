"""Reach of the maintenance agent and its limits: each refusal beside something like it that works."""

import pytest

from tests.automation.maintenance.conftest import KEY, MCP_SECRET, SETTING, MaintenanceServer
from tests.conftest import needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.long]

SEARCH = """\
import http.client, json, os, socket
def ask(tools):
    connection = http.client.HTTPConnection("model.local")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect("/run/parachute/model.sock")
    body = {"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": [{"role": "user", "content": "x"}], "tools": tools}
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"}
    connection.request("POST", "/v1/messages", json.dumps(body), headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()
own = {"name": "look", "description": "x", "input_schema": {"type": "object", "properties": {}}}
print("own", ask([own])[0])
print("search", *ask([{"type": "web_search_20250305", "name": "web_search"}]))
"""
CONNECT = """\
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5)
    print("connected")
except OSError as error:
    print("refused", error)
"""


def test_logs_and_code_can_be_read_and_not_written(server: MaintenanceServer) -> None:
    reading = (
        "grep planted /logs/core.log",
        "cat /modules/diary/module.py",
        "cat /logs/computer.json",
        "ls /logs",
        "cat /logs/mcp@*",
    )
    writing = (
        "echo x >> /logs/core.log",
        "touch /logs/new",
        "echo x >> /modules/diary/module.py",
        "rm -r /modules/diary",
    )
    server.wait_until(lambda: list(server.vault.glob(".parachute/audit/*.jsonl")), "something was recorded")
    log, code, state, names, printed, *denied = server.carry_out(*reading, *writing)
    assert log[0], log
    assert "planted [removed] and [removed] and password=[removed] here." in log[1]
    assert "class Tested(Module)" in code[1]
    assert '"name": "diary"' in state[1]
    assert "audit-" in names[1]
    assert printed == (True, "I am given [removed], well.")
    assert [ok for ok, _ in denied] == [False] * 4, denied
    assert all("Read-only" in said or "Permission denied" in said for _, said in denied), denied
    sent = str([request.body for request in server.model.conversation])
    assert not [secret for secret in (KEY, SETTING, MCP_SECRET, "hunter2222") if secret in sent]


@pytest.mark.usefixtures("views_work")
def test_data_can_be_written_what_runs_later_waits_and_all_can_be_undone(server: MaintenanceServer) -> None:
    before = (server.vault / "Diary/today.md").read_text()
    waiting = (
        "echo x > /vault/Diary/.mcp.json",
        "mkdir /vault/Diary/.claude && echo x > /vault/Diary/.claude/settings.json",
        "git init -q /vault/Diary && echo x > /vault/Diary/.git/hooks/pre-commit",
    )
    denied = (
        "echo x > /vault/Projects/garden/notes.md",
        "echo x > /vault/Projects/garden/.git/hooks/pre-commit",
        "echo x > /vault/new.md",
    )
    writing = "echo Sun. > /vault/Diary/today.md; mkdir /vault/Diary/2026 && echo y > /vault/Diary/2026/a.md"
    done = server.carry_out(writing, *waiting, *denied)
    assert [ok for ok, _ in done] == [True] * 4 + [False] * 3, done
    diary = server.vault / "Diary"
    assert (diary / "today.md").read_text() == "Sun.\n"
    assert (diary / "2026/a.md").read_text() == "y\n"
    assert sorted(path.name for path in diary.iterdir()) == ["2026", "today.md"]
    (item,) = (item for item in server.value("/api/inbox")["items"] if item["kind"] == "changes")
    assert {held["root"].split("/")[0] for held in item["details"]["files"]} == {".mcp.json", ".claude", ".git"}
    assert server.carry_out("cat /vault/Projects/garden/notes.md") == [(True, "Peas.")]
    undone = server.post(f"/api/chat/{item['session_id']}/undo", json={}, headers=server.headers)
    assert undone.json()["conflicts"] == []
    assert (diary / "today.md").read_text() == before
    assert sorted(path.name for path in diary.iterdir()) == ["today.md"]


def test_a_folder_with_projects_is_named(server: MaintenanceServer) -> None:
    warnings = [event for event in server.chat("/maintenance Hello.") if event["type"] == "warning"]
    assert warnings[0]["title"] == "Maintenance agent"
    (sentence,) = (event["message"] for event in warnings[1:])
    assert sentence.startswith("Projects can only be read: ")
    assert "holds another repository, garden" in sentence


def test_trust_cannot_be_reached(server: MaintenanceServer) -> None:
    listed, state, home, trust, environment, tools = server.carry_out(
        "ls -a /vault",
        "cat /vault/.parachute/own.txt",
        f"ls -a {server.home.root}",
        f"cat {server.home.root}/config.yaml",
        "cat /proc/1/environ",
        "echo x > /vault/.parachute/panic.json",
    )
    assert sorted(listed[1].split()) == [".", "..", "Diary", "Projects"]
    assert [ok for ok, _ in (state, home, trust, tools)] == [False] * 4
    assert KEY not in environment[1]
    assert (server.vault / ".parachute/own.txt").read_text() == "the computer's own\n"


@pytest.mark.parametrize("host", ["127.0.0.1", "93.184.216.34"])
def test_there_is_no_network(server: MaintenanceServer, host: str) -> None:
    (server.vault / "Diary/connect.py").write_text(CONNECT)
    try:
        (ok, said), *_ = server.carry_out(f"python3 /vault/Diary/connect.py {host} {server.port}")
    finally:
        (server.vault / "Diary/connect.py").unlink()
    assert ok, said
    assert said.startswith("refused"), said


def test_the_provider_does_not_search_for_it_either(server: MaintenanceServer) -> None:
    (server.vault / "Diary/search.py").write_text(SEARCH)
    try:
        ((ok, said),) = server.carry_out("python3 /vault/Diary/search.py")
        assert "WebSearch" not in str(server.model.conversation[-1].body.get("tools"))
    finally:
        (server.vault / "Diary/search.py").unlink()
    assert ok, said
    own, search = said.split("\n")[:2]
    assert own == "own 200"
    assert search.startswith("search 403"), search
    assert "web_search" in search


def test_the_copies_are_gone_afterwards(server: MaintenanceServer) -> None:
    folder = server.home.root / "run" / "maintenance"
    assert server.carry_out("ls /logs")[0][0]
    assert list(folder.iterdir()) == []
