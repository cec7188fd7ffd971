"""Runs of modules' agents that begin with the owner's word, on a whole computer."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from parachute.security.keys.cli_token import CliToken
from tests.modules.runtime.module_computer import ModuleServer
from tests.support.installation import PLAIN
from tests.support.messages_api import Gate, MessagesAPI, hold, text, tool_use

pytestmark = pytest.mark.long

BODY = """
@route("POST", "/run")
async def run(self, agent: str, prompt: str):
    return {"text": await self.run_agent(agent, prompt)}

@route("POST", "/query")
async def query(self, agent: str, prompt: str):
    return {"types": [event["type"] async for event in self.core.query(prompt, agent=agent)]}
"""
AGENTS = {
    "asked": {"requires_explicit_approval": True, "capabilities": ["read"], "description": "Reads letters"},
    "free": {"sandbox": None, "requires_explicit_approval": True, "bash": ["cat", "id"]},
    "called": {"requires_explicit_invocation": True},
    "plain": {"capabilities": ["read"]},
}


class Office(ModuleServer):
    """A server with the module `letters`."""

    def run(self, agent: str, prompt: str, module: str = "letters", how: str = "run") -> httpx2.Response:
        """Have the module run one of its agents."""
        return self.post(f"/api/{module}/{how}", json={"agent": agent, "prompt": prompt})

    def owners(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """A request with the token of the command line."""
        headers = {"authorization": f"Bearer {CliToken(self.home.root).obtain()}"}
        return httpx2.request(method, f"{self.url}{path}", headers=headers, timeout=60, **PLAIN, **options)

    def waiting(self) -> list[dict[str, Any]]:
        """Its items in the inbox."""
        return [item for item in self.value("/api/inbox")["items"] if item["kind"] == "agent_run"]

    def answer(self, item: dict[str, Any], word: str) -> httpx2.Response:
        """Answer an item as it was shown."""
        return self.owners("POST", "/api/inbox/answer", json={"id": item["id"], "hash": item["hash"], "answer": word})

    def ended(self, identifier: str) -> dict[str, Any]:
        """A run that has ended."""
        path = f"/api/agent-runs/{identifier}"
        found: dict[str, Any] = self.eventually(
            path, lambda run: run["status"] not in ("waiting", "running"), "the run has ended"
        )
        return found


@pytest.fixture(scope="module")
def server(model: MessagesAPI) -> Iterator[Office]:
    """One server for all of these tests."""
    with Office(environment=model.credentials) as running:
        running.install("letters", BODY, agents=AGENTS)
        yield running


def key_of(answer: httpx2.Response) -> str:
    """The key of a refusal."""
    return str(answer.json()["key"])


def test_a_run_waits_until_the_owner_says_yes_to_what_was_shown(server: Office, model: MessagesAPI) -> None:
    asked = len(model.requests)
    answer = server.run("asked", "Sort my letters.")
    assert (answer.status_code, key_of(answer)) == (409, "waits_for_owner")
    assert key_of(server.run("asked", "Sort my letters.")) == "waits_for_owner"
    (item,) = server.waiting()
    details = item["details"]
    assert (details["module"], details["agent"], details["prompt"]) == ("letters", "asked", "Sort my letters.")
    assert (details["files"], details["network"], details["tools"], details["sandboxed"]) == (
        "none",
        "none",
        ["Read"],
        True,
    )
    assert item["answers"] == ["allow", "deny"]
    assert len(model.requests) == asked
    wrong = server.answer({**item, "hash": f"sha256:{'0' * 64}"}, "allow")
    assert wrong.status_code == 409
    gate = Gate()
    model.script(hold(gate, text("All sorted.")))
    try:
        assert server.answer(item, "allow").status_code == 200
        gate.wait_reached()
        assert server.waiting() == []
        assert key_of(server.run("asked", "Sort my letters.")) == "waits_for_owner"
    finally:
        gate.open()
    run = server.ended(details["request"])
    assert (run["status"], run["text"], run["item"]) == ("completed", "All sorted.", None)
    # The module hears it once: the same question is a new one afterwards.
    assert server.run("asked", "Sort my letters.").json() == {"text": "All sorted."}
    assert key_of(server.run("asked", "Sort my letters.")) == "waits_for_owner"
    (item,) = server.waiting()
    assert server.answer(item, "deny").status_code == 200
    refused = server.run("asked", "Sort my letters.")
    assert (refused.status_code, key_of(refused)) == (403, "refused")
    assert server.waiting() == []


def test_events_of_a_run_come_once_it_has_ended(server: Office, model: MessagesAPI) -> None:
    assert key_of(server.run("asked", "Look!", how="query")) == "waits_for_owner"
    (item,) = server.waiting()
    model.script(text("Seen."))
    assert server.answer(item, "allow").status_code == 200
    server.ended(item["details"]["request"])
    assert server.run("asked", "Look!", how="query").json() == {"types": ["session", "text", "done"]}


def test_without_a_sandbox_it_runs_with_the_owners_rights_and_only_then(server: Office, model: MessagesAPI) -> None:
    secret = Path(server.folder, "outside.txt")
    secret.write_text("outside of the vault")
    assert key_of(server.run("free", "Look outside.")) == "waits_for_owner"
    (item,) = server.waiting()
    assert (item["details"]["sandboxed"], item["details"]["files"]) == (False, "everything that you can open")
    assert "WITHOUT" in item["title"].upper()
    assert item["details"]["commands"] == "cat, id"
    # Whoever may talk to agents is not the owner yet.
    key = server.owners("POST", "/api/auth/keys", json={"label": "Phone"}).json()
    scoped = server.command("keys", "create", "Tablet", "--scope", "chat:write", "--scope", "inbox:write", "--json")
    token = json.loads(scoped.stdout)["key"]
    body = {"id": item["id"], "hash": item["hash"], "answer": "allow"}
    tablet = server.ask("POST", "/api/inbox/answer", json=body, headers={"x-api-key": token})
    assert tablet.status_code == 403
    model.script(tool_use("Bash", {"command": f"cat {secret}"}), text("Read."))
    phone = server.ask("POST", "/api/inbox/answer", json=body, headers={"x-api-key": key["key"]})
    assert phone.status_code == 200
    run = server.ended(item["details"]["request"])
    assert (run["status"], run["text"]) == ("completed", "Read."), run
    assert "outside of the vault" in str(model.conversation[-1].body["messages"])
    assert server.value(f"/api/chat/{run['session_id']}")["effectiveExecutionMode"] == "direct"
    assert server.value(f"/api/chat/{run['session_id']}")["trustLevel"] == "sandboxed"
    assert server.run("free", "Look outside.").json() == {"text": "Read."}


def test_an_untrusted_module_never_gets_rid_of_its_sandbox(server: Office) -> None:
    server.install("stranger", BODY, untrusted=True, agents=AGENTS)
    refused = server.run("free", "Let me out.", "stranger")
    assert (refused.status_code, key_of(refused)) == (403, "untrusted")
    assert key_of(server.run("asked", "May I?", "stranger")) == "waits_for_owner"
    (item,) = server.waiting()
    assert item["details"]["trust_level"] == "untrusted"
    # What a module asked for goes with it.
    assert server.post("/api/modules/stranger/disable").status_code == 200
    assert server.waiting() == []
    assert server.answer(item, "allow").status_code == 404


def test_the_owner_alone_starts_what_needs_an_explicit_invocation(server: Office, model: MessagesAPI) -> None:
    refused = server.run("called", "Go!")
    assert (refused.status_code, key_of(refused)) == (403, "owner_starts_it")
    body = {"module": "letters", "agent": "called", "prompt": "Go!"}
    # Not without a credential, though this is a program of the same user: every module host is one, too.
    assert server.post("/api/agent-runs", json=body).status_code == 403
    model.script(text("Gone."))
    begun = server.owners("POST", "/api/agent-runs", json=body)
    assert (begun.status_code, begun.json()["status"], begun.json()["item"]) == (200, "running", None)
    assert server.ended(begun.json()["id"])["text"] == "Gone."
    assert server.waiting() == []


def test_the_command_line_asks_and_starts(server: Office, model: MessagesAPI) -> None:
    unanswered = server.command("modules", "run", "letters", "asked", "Read them.")
    assert unanswered.returncode == 3
    assert "Reads letters" in unanswered.stdout
    (item,) = server.waiting()
    assert server.answer(item, "deny").status_code == 200
    model.script(text("They are read."))
    begun = server.command("modules", "run", "letters", "asked", "Read them all.", "--yes", "--json")
    assert begun.returncode == 0, begun.stderr
    run = json.loads(begun.stdout)
    assert run["status"] in ("running", "completed")
    server.ended(run["id"])
    assert "They are read." in server.command("modules", "runs", run["id"]).stdout
    listed = json.loads(server.command("modules", "runs", "--json").stdout)
    assert run["id"] in [each["id"] for each in listed]


@pytest.mark.parametrize(
    ("agent", "prompt", "status"),
    [("nobody", "Go!", 404), ("asked", "  ", 422), ("asked", "x" * 20_001, 422)],
)
def test_what_cannot_run_waits_for_nobody(server: Office, agent: str, prompt: str, status: int) -> None:
    assert server.run(agent, prompt).status_code == status
    assert server.waiting() == []


def test_a_limit_holds_for_the_next_run_and_is_what_is_shown(server: Office) -> None:
    agent = {"sandbox": {"network": ["a.example.org"]}, "requires_explicit_approval": True, "capabilities": ["read"]}
    server.install("narrow", BODY, agents={"asked": agent})
    assert key_of(server.run("asked", "Look it up.", "narrow")) == "waits_for_owner"
    (before,) = server.waiting()
    assert before["details"]["network"] == "a.example.org"
    limited = server.command("modules", "limit", "narrow", "asked", "--no-network")
    assert limited.returncode == 0, limited.stderr
    assert "limited to no network" in limited.stdout
    # What was shown before holds no more.
    assert server.answer(before, "allow").status_code == 404
    assert key_of(server.run("asked", "Look it up.", "narrow")) == "waits_for_owner"
    (item,) = server.waiting()
    assert item["details"]["network"] == "none"
    wider = server.command("modules", "limit", "narrow", "asked", "--folder", "Daily/")
    assert wider.returncode == 1
    assert "not among what asked may open" in wider.stderr
    assert server.command("modules", "limit", "narrow", "asked").returncode == 1
    again = server.command("modules", "limit", "narrow", "asked", "--reset", "--json")
    assert json.loads(again.stdout)["agent_limits"] == {}
    assert server.post("/api/modules/narrow/disable").status_code == 200


def test_nothing_begins_while_everything_is_stopped(server: Office) -> None:
    assert key_of(server.run("asked", "In panic.")) == "waits_for_owner"
    (item,) = server.waiting()
    assert server.owners("POST", "/api/panic").status_code == 200
    try:
        refused = server.answer(item, "allow")
        assert refused.status_code >= 400
        body = {"module": "letters", "agent": "called", "prompt": "Go!"}
        assert server.owners("POST", "/api/agent-runs", json=body).status_code >= 400
        assert [each["id"] for each in server.waiting()] == [item["id"]]
    finally:
        assert server.owners("POST", "/api/resume").status_code == 200
    assert server.answer(item, "deny").status_code == 200


def test_a_module_cannot_flood_the_inbox(server: Office) -> None:
    server.install("noisy", BODY, agents=AGENTS)
    keys = [key_of(server.run("asked", f"Number {number}", "noisy")) for number in range(6)]
    assert keys == ["waits_for_owner"] * 4 + ["queue_full"] * 2
    first, *_ = server.waiting()
    assert server.answer(first, "deny").status_code == 200
    # A no does not make room for the next question.
    assert key_of(server.run("asked", "Number 7", "noisy")) == "queue_full"
    assert server.post("/api/modules/noisy/disable").status_code == 200


def test_what_waits_is_dropped_by_a_restart_and_asked_again(server: Office) -> None:
    assert key_of(server.run("asked", "Before.")) == "waits_for_owner"
    (item,) = server.waiting()
    server.stop()
    server.start()
    assert server.waiting() == []
    assert server.answer(item, "allow").status_code == 404
    assert key_of(server.run("asked", "Before.")) == "waits_for_owner"
    assert len(server.waiting()) == 1
