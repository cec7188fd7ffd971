"""Tasks over the API and the command line of a server, until they wait in its inbox and are ticked there, also in the journal."""

import json
from datetime import date, timedelta
from typing import Any

import pytest

from parachute.security.keys.cli_token import CliToken
from tests.modules.runtime.module_computer import WithModules
from tests.support.feed import when_told
from tests.support.making import Make
from tests.support.official import install
from tests.support.server import Server


class Desk(WithModules, Server):
    """A server with notes."""

    def note(self, path: str, text: str) -> None:
        """Write a note, as an editor does."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def tasks(self, query: str = "") -> list[dict[str, Any]]:
        """The tasks that the API tells."""
        found: list[dict[str, Any]] = self.value(f"/api/tasks{query}")["tasks"]
        return found

    def waiting(self) -> list[dict[str, Any]]:
        """The tasks in the inbox."""
        return [each for each in self.value("/api/inbox")["items"] if each["kind"] == "task"]


@pytest.fixture
def server(make_server: Make[Server]) -> Desk:
    return make_server(Desk)


def test_they_are_listed_and_ticked_in_their_file(server: Desk) -> None:
    server.note("Notes/a.md", "# Bank\n\n- [ ] Call 📅 2026-12-24\n- [x] Write\n")
    (task,) = server.tasks("?due=2026-12-24&path=Notes")
    shown = {"path": "Notes/a.md", "line": 3, "text": "Call", "due": "2026-12-24", "heading": "Bank", "done": False}
    assert task == {"id": task["id"], **shown}
    assert server.tasks("?due=2026-12-23") == []
    body = {"id": task["id"], "done": True}
    told: list[dict[str, Any]] = []

    def tick() -> bool:
        """Tick it once somebody follows, and wait until that is told."""
        if not told:
            told.append(server.post("/api/tasks/answer", json=body).json())
        return server.tasks() == []

    when_told(server, tick, "the task is ticked")
    assert told == [{**task, "done": True}]
    assert (server.vault / "Notes/a.md").read_text().count("[x]") == 2
    assert [each["text"] for each in server.tasks("?done=true")] == ["Call", "Write"]
    gone = server.post("/api/tasks/answer", json={**body, "id": "0" * 12})
    assert (gone.status_code, gone.json()["key"]) == (409, "task_gone")


def test_a_key_reads_and_ticks_them_as_it_reads_and_writes_files(server: Desk) -> None:
    server.note("a.md", "- [ ] a\n")
    (task,) = server.tasks()
    for scopes, may_read, may_tick in (("chat:write", 403, 403), ("vault:read", 200, 403), ("vault:write", 200, 200)):
        made = server.command("keys", "create", scopes, "--scope", scopes, "--json")
        headers = {"x-api-key": json.loads(made.stdout)["key"]}
        assert server.ask("GET", "/api/tasks", headers=headers).status_code == may_read
        body = {"id": task["id"], "done": True}
        assert server.ask("POST", "/api/tasks/answer", json=body, headers=headers).status_code == may_tick


def test_the_command_line_lists_ticks_and_unticks_them(server: Desk) -> None:
    server.note("a.md", "- [ ] Call the bank 📅 2026-12-24\n")
    (task,) = server.tasks()
    listed = server.command("tasks", "--due", "2026-12-24")
    assert "Call the bank" in listed.stdout
    assert server.command("tasks", "done", task["id"][:6]).returncode == 0
    assert (server.vault / "a.md").read_text() == "- [x] Call the bank 📅 2026-12-24\n"
    assert json.loads(server.command("tasks", "--done", "--json").stdout)["tasks"][0]["id"] == task["id"]
    assert server.command("tasks", "undo", task["id"]).returncode == 0
    assert (server.vault / "a.md").read_text() == "- [ ] Call the bank 📅 2026-12-24\n"
    assert server.command("tasks", "done", "zz").returncode != 0


def test_one_that_is_due_waits_in_the_inbox_and_is_put_off_and_ticked(server: Desk) -> None:
    day = (date.today() - timedelta(days=1)).isoformat()
    server.note("a.md", f"- [ ] a due:{day}\n- [ ] b due:{day}\n")
    server.tasks()
    owner = {"authorization": f"Bearer {CliToken(server.home.root).obtain()}"}
    for word, left in (("later", "b"), ("done", "")):
        item, *_ = sorted(server.waiting(), key=lambda each: str(each["title"]))
        answer = {"id": item["id"], "answer": word, "hash": item["hash"]}
        said = server.post("/api/inbox/answer", json=answer, headers=owner)
        assert said.status_code == 200, said.text
        assert "".join(each["title"] for each in server.waiting()) == left
    assert (server.vault / "a.md").read_text() == f"- [ ] a due:{day}\n- [x] b due:{day}\n"


@pytest.mark.long
def test_a_tick_is_an_edit_of_the_journal(server: Desk) -> None:
    install(server, "daily")
    entry = server.post("/api/daily/entries", json={"content": "Milk\n\n- [ ] Call the bank"}).json()
    (task,) = server.tasks()
    assert (task["path"], task["text"]) == (f"Daily/journals/{entry['date']}.md", "Call the bank")
    assert server.post("/api/tasks/answer", json={"id": task["id"], "done": True}).status_code == 200
    assert server.value(f"/api/daily/entries/{entry['id']}")["content"] == "Milk\n\n- [x] Call the bank"
