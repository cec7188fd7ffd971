"""The change of a suggestion is shown before the decision, and a decision can be taken back."""

import json
from typing import Any

from tests.automation.suggestions.conftest import SuggestionsServer


def previewed(server: SuggestionsServer, identifier: str) -> dict[str, Any]:
    """Return the preview of a suggestion."""
    return dict(server.value(f"/api/suggestions/{identifier}/preview"))


def notes(server: SuggestionsServer, person: str) -> list[str]:
    """Return the notes of `people` about a person."""
    return list(server.value(f"/api/para/{person}")["item"]["notes"])


def test_a_change_is_read_before_and_after_it_is_made(server: SuggestionsServer, word: str) -> None:
    person = server.person()
    first = server.propose(action="update", target_id=person, payload={"note": word})
    shown = previewed(server, first)
    assert shown == {
        "title": "Kevin",
        "before": "Notes",
        "after": f"Notes\n{word}",
        "diff": f"@@ -1 +1,2 @@\n Notes\n+{word}",
        "problem": None,
    }
    assert notes(server, person) == []
    server.decide(first, "modify", payload={"note": f"{word}!"})
    made = previewed(server, first)
    assert (made["before"], made["after"]) == ("Notes", f"Notes\n{word}!"), "as it was made"
    second = server.propose(action="update", target_id=person, payload={"note": "more"})
    assert previewed(server, second)["diff"].endswith(f" Notes\n {word}!\n+more")
    assert previewed(server, first) == made


def test_a_module_that_shows_nothing_has_its_payload_read_as_text(server: SuggestionsServer, word: str) -> None:
    payload = {"name": word, "section": "Work", "append": "- one\n- two", "data": {"tags": ["a", "b"], "age": 3}}
    shown = previewed(server, server.propose(payload=payload))
    assert shown["before"] is None
    assert shown["after"] == (
        f"name: {word}\nsection: Work\nappend:\n  - one\n  - two\ndata:\n  tags: a, b\n  age: 3\n"
    )
    assert shown["diff"].startswith("@@")
    refused = server.get("/api/suggestions/nothing/preview")
    assert (refused.status_code, refused.json()["key"]) == (404, "no_such_suggestion")


def test_an_approval_is_taken_back_and_given_again(server: SuggestionsServer, word: str) -> None:
    person = server.person()
    made = server.propose(action="update", target_id=person, payload={"note": word})
    assert server.decide(made, "undo", 409)["key"] == "not_resolved"
    for _ in range(2):
        server.decide(made, "approve")
        assert notes(server, person) == [word]
        undone = server.decide(made, "undo")
        assert (undone["id"], undone["status"], undone["title"]) == (made, "pending", "Kevin")
        assert notes(server, person) == []
    found = server.suggestion(made)
    assert (found["status"], found["resolved_by"], found["applied_at"], found["result"]) == (
        "pending",
        None,
        None,
        None,
    )
    assert [each["outcome"] for each in found["resolutions"]] == ["approved", "undone"] * 2
    assert (found["resolutions"][1]["resolved_by"], found["resolutions"][1]["who"]) == ("user", "local this computer")
    waiting = server.value("/api/suggestions?status=pending&module=people")["suggestions"]
    assert made in [each["id"] for each in waiting]
    assert f'"target_endpoint": "suggestion {made} undone"' in audited(server)
    server.eventually(
        "/api/people/heard",
        lambda value: (
            [each[2] for each in value["heard"] if each[1] == made] == ["pending", "approved"] * 2 + ["pending"]
        ),
        "who listens hears that it waits again",
    )


def test_what_changed_since_is_not_taken_back(server: SuggestionsServer, word: str) -> None:
    person = server.person()
    made = server.propose(action="update", target_id=person, payload={"note": word})
    server.decide(made, "approve")
    server.ask("PUT", f"/api/people/people/{person}")
    assert server.decide(made, "undo", 409)["detail"] == "Kevin has changed since."
    assert server.suggestion(made)["status"] == "approved"
    assert notes(server, person) == [word]
    created = server.propose(payload={"name": word})
    server.decide(created, "approve")
    assert "kept nothing" in server.decide(created, "undo", 409)["detail"]
    assert server.suggestion(created)["status"] == "approved"


def test_a_rejection_is_taken_back(server: SuggestionsServer, word: str) -> None:
    made = server.propose(payload={"name": word})
    server.decide(made, "reject")
    assert server.decide(made, "undo")["status"] == "pending"
    assert server.decide(made, "approve")["status"] == "approved"
    assert server.made(name=word) == 1


def test_an_entry_is_taken_back_as_a_whole(server: SuggestionsServer, word: str) -> None:
    people = [server.person(), server.person("Ann")]
    made = [server.propose(action="update", target_id=each, payload={"note": word}) for each in people]
    batch = server.post("/api/suggestions/batch", json={"title": "Two", "ids": made}).json()["id"]
    assert server.get(f"/api/suggestions/{batch}/preview").status_code == 422
    server.decide(batch, "approve")
    assert server.decide(batch, "undo")["status"] == "pending"
    assert [notes(server, each) for each in people] == [[], []]
    assert [each["status"] for each in server.suggestion(batch)["members"]] == ["pending", "pending"]
    server.decide(batch, "approve")
    server.ask("PUT", f"/api/people/people/{people[0]}")
    server.decide(batch, "undo", 409)
    # The second was taken back before the first could not be: the entry waits with what is left of it.
    assert [notes(server, each) for each in people] == [[word], []]
    found = server.suggestion(batch)
    assert (found["status"], [each["status"] for each in found["members"]]) == ("pending", ["approved", "pending"])
    assert server.decide(batch, "approve")["status"] == "approved"
    assert [notes(server, each) for each in people] == [[word], [word]]


def test_a_key_needs_the_rights_of_the_target(server: SuggestionsServer, word: str) -> None:
    made = server.propose(payload={"name": word})
    server.decide(made, "reject")
    printed = server.command("keys", "create", word, "--scope", "suggestions:write", "--json")
    headers = {"Authorization": f"Bearer {json.loads(printed.stdout)['key']}"}
    assert server.ask("GET", f"/api/suggestions/{made}", headers=headers).status_code == 200
    assert server.ask("GET", f"/api/suggestions/{made}/preview", headers=headers).status_code == 403
    assert server.ask("POST", f"/api/suggestions/{made}/undo", headers=headers).status_code == 403
    assert server.suggestion(made)["status"] == "rejected"


def audited(server: SuggestionsServer) -> str:
    """The audit log as it is written."""
    return server.command("audit", "list", "--json", "--limit", "500").stdout
