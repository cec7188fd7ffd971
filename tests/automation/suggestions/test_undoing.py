"""What a suggestion changes is read before it is decided about, and a decision can be taken back."""

import json
from typing import Any

from tests.automation.suggestions.conftest import SuggestionsComputer


def previewed(computer: SuggestionsComputer, identifier: str) -> dict[str, Any]:
    """What is shown of a suggestion."""
    return dict(computer.value(f"/api/suggestions/{identifier}/preview"))


def notes(computer: SuggestionsComputer, person: str) -> list[str]:
    """What `people` keeps about somebody."""
    return list(computer.value(f"/api/para/{person}")["item"]["notes"])


def test_a_change_is_read_before_and_after_it_is_made(computer: SuggestionsComputer, word: str) -> None:
    person = computer.person()
    first = computer.propose(action="update", target_id=person, payload={"note": word})
    shown = previewed(computer, first)
    assert shown == {
        "title": "Kevin",
        "before": "Notes",
        "after": f"Notes\n{word}",
        "diff": f"@@ -1 +1,2 @@\n Notes\n+{word}",
        "problem": None,
    }
    assert notes(computer, person) == []
    computer.decide(first, "modify", payload={"note": f"{word}!"})
    made = previewed(computer, first)
    assert (made["before"], made["after"]) == ("Notes", f"Notes\n{word}!"), "as it was made"
    second = computer.propose(action="update", target_id=person, payload={"note": "more"})
    assert previewed(computer, second)["diff"].endswith(f" Notes\n {word}!\n+more")
    assert previewed(computer, first) == made


def test_a_module_that_shows_nothing_has_its_payload_read_as_text(computer: SuggestionsComputer, word: str) -> None:
    payload = {"name": word, "section": "Work", "append": "- one\n- two", "data": {"tags": ["a", "b"], "age": 3}}
    shown = previewed(computer, computer.propose(payload=payload))
    assert shown["before"] is None
    assert shown["after"] == (
        f"name: {word}\nsection: Work\nappend:\n  - one\n  - two\ndata:\n  tags: a, b\n  age: 3\n"
    )
    assert shown["diff"].startswith("@@")
    refused = computer.get("/api/suggestions/nothing/preview")
    assert (refused.status_code, refused.json()["key"]) == (404, "not_found")


def test_an_approval_is_taken_back_and_given_again(computer: SuggestionsComputer, word: str) -> None:
    person = computer.person()
    made = computer.propose(action="update", target_id=person, payload={"note": word})
    assert computer.decide(made, "undo", 409)["key"] == "not_resolved"
    for _ in range(2):
        computer.decide(made, "approve")
        assert notes(computer, person) == [word]
        undone = computer.decide(made, "undo")
        assert (undone["id"], undone["status"], undone["title"]) == (made, "pending", "Kevin")
        assert notes(computer, person) == []
    found = computer.suggestion(made)
    assert (found["status"], found["resolved_by"], found["applied_at"], found["result"]) == (
        "pending",
        None,
        None,
        None,
    )
    assert [each["outcome"] for each in found["resolutions"]] == ["approved", "undone"] * 2
    assert (found["resolutions"][1]["resolved_by"], found["resolutions"][1]["who"]) == ("user", "local this computer")
    waiting = computer.value("/api/suggestions?status=pending&module=people")["suggestions"]
    assert made in [each["id"] for each in waiting]
    assert f'"target_endpoint": "suggestion {made} undone"' in audited(computer)
    computer.eventually(
        "/api/people/heard",
        lambda value: (
            [each[2] for each in value["heard"] if each[1] == made] == ["pending", "approved"] * 2 + ["pending"]
        ),
        "who listens hears that it waits again",
    )


def test_what_changed_since_is_not_taken_back(computer: SuggestionsComputer, word: str) -> None:
    person = computer.person()
    made = computer.propose(action="update", target_id=person, payload={"note": word})
    computer.decide(made, "approve")
    computer.ask("PUT", f"/api/people/people/{person}")
    assert computer.decide(made, "undo", 409)["detail"] == "Kevin has changed since."
    assert computer.suggestion(made)["status"] == "approved"
    assert notes(computer, person) == [word]
    created = computer.propose(payload={"name": word})
    computer.decide(created, "approve")
    assert "kept nothing" in computer.decide(created, "undo", 409)["detail"]
    assert computer.suggestion(created)["status"] == "approved"


def test_a_rejection_is_taken_back(computer: SuggestionsComputer, word: str) -> None:
    made = computer.propose(payload={"name": word})
    computer.decide(made, "reject")
    assert computer.decide(made, "undo")["status"] == "pending"
    assert computer.decide(made, "approve")["status"] == "approved"
    assert computer.made(name=word) == 1


def test_an_entry_is_taken_back_as_a_whole(computer: SuggestionsComputer, word: str) -> None:
    people = [computer.person(), computer.person("Ann")]
    made = [computer.propose(action="update", target_id=each, payload={"note": word}) for each in people]
    batch = computer.post("/api/suggestions/batch", json={"title": "Two", "ids": made}).json()["id"]
    assert computer.get(f"/api/suggestions/{batch}/preview").status_code == 422
    computer.decide(batch, "approve")
    assert computer.decide(batch, "undo")["status"] == "pending"
    assert [notes(computer, each) for each in people] == [[], []]
    assert [each["status"] for each in computer.suggestion(batch)["members"]] == ["pending", "pending"]
    computer.decide(batch, "approve")
    computer.ask("PUT", f"/api/people/people/{people[0]}")
    computer.decide(batch, "undo", 409)
    # The second was taken back before the first could not be: the entry waits with what is left of it.
    assert [notes(computer, each) for each in people] == [[word], []]
    found = computer.suggestion(batch)
    assert (found["status"], [each["status"] for each in found["members"]]) == ("pending", ["approved", "pending"])
    assert computer.decide(batch, "approve")["status"] == "approved"
    assert [notes(computer, each) for each in people] == [[word], [word]]


def test_a_key_needs_the_rights_of_the_target(computer: SuggestionsComputer, word: str) -> None:
    made = computer.propose(payload={"name": word})
    computer.decide(made, "reject")
    printed = computer.command("keys", "create", word, "--scope", "suggestions:write", "--json")
    headers = {"Authorization": f"Bearer {json.loads(printed.stdout)['key']}"}
    assert computer.ask("GET", f"/api/suggestions/{made}", headers=headers).status_code == 200
    assert computer.ask("GET", f"/api/suggestions/{made}/preview", headers=headers).status_code == 403
    assert computer.ask("POST", f"/api/suggestions/{made}/undo", headers=headers).status_code == 403
    assert computer.suggestion(made)["status"] == "rejected"


def audited(computer: SuggestionsComputer) -> str:
    """The audit log as it is written."""
    return computer.command("audit", "list", "--json", "--limit", "500").stdout
