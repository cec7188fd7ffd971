"""The plan over HTTP: who may, what is asked, what makes it void, and what the next start does."""

from typing import Any

import httpx2
import pytest

from parachute.security.keys.cli_token import CliToken
from parachute.web.access.routing import needed
from tests.support.installation import PLAIN
from tests.support.making import Make
from tests.support.server import Server

NOTE = "# A note\nA line about {word}.\nTea.\n"


@pytest.fixture
def server(make_server: Make[Server]) -> Server:
    return make_server()


def ask(server: Server, method: str, path: str, body: Any = None) -> httpx2.Response:
    """One request of the owner's command line."""
    headers = {"authorization": f"Bearer {CliToken(server.home.root).obtain()}"}
    return httpx2.request(method, f"{server.url}{path}", json=body, headers=headers, timeout=60, **PLAIN)


def planned(server: Server, word: str) -> dict[str, Any]:
    """The plan of a word that a note has."""
    (server.vault / "note.md").write_text(NOTE.format(word=word))
    found = ask(server, "POST", "/api/forget", {"words": word})
    assert found.status_code == 200, found.text
    plan: dict[str, Any] = found.json()
    return plan


def chosen(plan: dict[str, Any], choice: str) -> dict[str, Any]:
    """The same choice for each place."""
    return {"plan": plan["id"], "hash": plan["hash"], "choices": {each["id"]: choice for each in plan["asked"]}}


def test_only_the_owner_may() -> None:
    for method, path in (("GET", ""), ("POST", ""), ("POST", "/apply")):
        need = needed(method, f"/api/forget{path}")
        assert (need.module, need.capability, need.audience) == ("forget", "admin", "credential")
        assert need.is_confirmed or method == "GET"


def test_a_line_goes_and_the_next_start_proves_it(server: Server, word: str) -> None:
    plan = planned(server, word)
    (found,) = plan["asked"]
    assert (found["kind"], found["place"], found["choices"]) == ("notes", "note.md", ["line", "file", "leave"])
    assert found["passage"] == f"A line about {word}."

    assert ask(server, "POST", "/api/forget/apply", chosen(plan, "line")).status_code == 202
    server.wait_until(lambda: '"files"' in (server.home.root / "forget.json").read_text(), "conversations are removed")
    assert ask(server, "GET", "/api/forget").json()["is_under_way"]
    assert (server.home.root / "forget.json").stat().st_mode & 0o777 == 0o600
    again = ask(server, "POST", "/api/forget", {"words": word})
    assert (again.status_code, again.json()["key"]) == (409, "busy")
    assert ask(server, "POST", "/api/forget", {"words": word, "more": word}).status_code == 422
    assert ask(server, "POST", "/api/forget", {"words": f"{word} \0"}).json()["key"] == "words_length"
    written = [path for path in server.home.root.rglob("*") if path.is_file() and path.name != "forget.json"]
    assert [path for path in written if word.encode() in path.read_bytes()] == []
    server.stop()
    server.start()

    state = ask(server, "GET", "/api/forget").json()
    assert (state["is_under_way"], state["last"]["found"], state["last"]["left"]) == (False, [], [])
    assert (server.vault / "note.md").read_text() == "# A note\nTea.\n"
    assert not (server.home.root / "forget.json").exists()


def test_no_other_door_leads_to_a_plan(server: Server, word: str) -> None:
    made = ask(
        server,
        "POST",
        "/api/auth/keys",
        {"label": "All but that", "scopes": ["vault:admin", "chat:admin", "forget:write"]},
    )
    keys = {"no key": {}, "a key": {"authorization": f"Bearer {made.json()['key']}"}}
    for name, headers in keys.items():
        for method, path in (("GET", ""), ("POST", ""), ("POST", "/apply")):
            body = {"words": word} if method == "POST" else None
            found = httpx2.request(method, f"{server.url}/api/forget{path}", json=body, headers=headers, **PLAIN)
            assert found.status_code in (401, 403), (name, path, found.text)
    listed = ask(server, "POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert listed.status_code == 200
    assert "forget" not in listed.text


@pytest.mark.parametrize("change", ["text", "hash", "missing", "choice", "plan"])
def test_what_does_not_fit_changes_nothing(server: Server, word: str, change: str) -> None:
    plan = planned(server, word)
    body = chosen(plan, "line")
    expected = {
        "text": "plan_changed",
        "hash": "plan_changed",
        "missing": "choices_missing",
        "choice": "no_such_choice",
    }
    if change == "text":
        (server.vault / "note.md").write_text(NOTE.format(word=f"the {word}"))
    elif change == "hash":
        body["hash"] = "0"
    elif change == "missing":
        body["choices"] = {}
    elif change == "choice":
        body = chosen(plan, "conversation")
    else:
        body["plan"] = "0"
    before = (server.vault / "note.md").read_text()
    refused = ask(server, "POST", "/api/forget/apply", body)
    assert refused.json()["key"] == expected.get(change, "no_such_plan")
    assert ask(server, "GET", "/api/forget").json() == {"is_under_way": False, "problem": None, "last": None}
    assert (server.vault / "note.md").read_text() == before


def test_backups_are_named_with_their_end(server: Server, word: str) -> None:
    (server.home.config).write_text(
        server.home.config.read_text()
        + "backup: {repository: /mnt/stick, keep_daily: 1, keep_weekly: 0, keep_monthly: 0}\n"
    )
    (backup,) = planned(server, word)["backups"]
    assert backup["where"] == "/mnt/stick"
    assert backup["until"] is not None
