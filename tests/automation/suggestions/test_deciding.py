"""Suggestions of a real module, applied by another: from the proposal to the decision."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.automation.suggestions.conftest import SuggestionsComputer


def test_an_update_is_proposed_approved_and_applied_once(computer: SuggestionsComputer, word: str) -> None:
    person = computer.person()
    change = {"note": word}
    made = computer.propose(action="update", target_id=person, payload=change, reasoning="The journal says so.")
    found = computer.suggestion(made)
    assert (found["title"], found["expected_version"], found["status"]) == ("Kevin", 1, "pending")
    assert (found["source_agent"], found["source_session"]) == ("journal", None)
    assert (found["action"], found["target_module"], found["target_id"]) == ("update", "people", person)
    assert (found["payload"], found["reasoning"], found["resolutions"]) == (change, "The journal says so.", [])
    assert computer.made(**change) == 0
    done = computer.decide(made, "approve")
    assert (done["status"], done["resolved_by"], done["result"]) == ("approved", "user", {"done": "update"})
    assert done["resolved_at"] == done["applied_at"]
    assert computer.value(f"/api/para/{person}")["item"]["notes"] == [word]
    again = computer.decide(made, "approve", 409)
    assert again["detail"] == f"The suggestion {made} is approved already."
    assert computer.made(**change) == 1
    (logged,) = computer.suggestion(made)["resolutions"]
    assert (logged["outcome"], logged["resolved_by"], logged["error"]) == ("approved", "user", None)


def test_a_module_that_sleeps_is_woken(computer: SuggestionsComputer, word: str) -> None:
    made = computer.propose(payload={"name": word})
    computer.put_to_sleep("people")
    assert computer.decide(made, "approve")["status"] == "approved"
    assert computer.made(name=word) == 1


def test_a_rejected_one_changes_nothing(computer: SuggestionsComputer, word: str) -> None:
    made = computer.propose(payload={"name": word})
    rejected = computer.decide(made, "reject", reason="Not now.")
    assert (rejected["status"], rejected["resolved_by"], rejected["applied_at"]) == ("rejected", "user", None)
    assert computer.suggestion(made)["resolutions"][0]["reason"] == "Not now."
    assert computer.decide(made, "approve", 409)["key"] == "resolved"
    assert computer.decide(made, "modify", 409, payload={"name": word})["key"] == "resolved"
    assert computer.made(name=word) == 0
    # The same may be proposed again, and is another one.
    assert computer.propose(payload={"name": word}) != made


def test_a_target_that_changed_meanwhile_is_left_alone(computer: SuggestionsComputer, word: str) -> None:
    person = computer.person()
    made = computer.propose(action="update", target_id=person, payload={"note": word})
    computer.ask("PUT", f"/api/people/people/{person}")
    for _ in range(2):
        refused = computer.decide(made, "approve", 409)
        assert refused["detail"] == "Kevin has changed since."
    found = computer.suggestion(made)
    assert (found["status"], found["resolved_by"]) == ("pending", None)
    assert found["error"].startswith("Kevin has changed since.")
    assert [each["outcome"] for each in found["resolutions"]] == ["failed", "failed"]
    assert computer.made(note=word) == 0
    # A modification that fails makes nobody believe that the proposed change was seen beside what is there now.
    computer.decide(made, "modify", 422, payload={"note": word, "refuse": True})
    computer.decide(made, "approve", 409)
    # The same, proposed with what is there now in view, is another suggestion.
    renewed = computer.propose(action="update", target_id=person, payload={"note": word})
    assert renewed != made
    assert computer.suggestion(renewed)["expected_version"] == 2
    done = computer.decide(made, "modify", payload={"note": f"{word}!"})
    assert (done["status"], done["modifications"], done["payload"]) == (
        "modified",
        {"note": f"{word}!"},
        {"note": word},
    )
    assert done["error"] is None
    assert computer.value(f"/api/para/{person}")["item"]["notes"] == [f"{word}!"]


def test_what_the_module_refuses_goes_on_waiting(computer: SuggestionsComputer, word: str) -> None:
    made = computer.propose(payload={"name": word, "refuse": True})
    assert computer.decide(made, "approve", 422)["detail"] == "notes: this is not wanted here."
    assert computer.suggestion(made)["status"] == "pending"
    assert computer.decide(made, "modify", payload={"name": word})["status"] == "modified"
    assert computer.made(name=word) == 1


def test_a_module_without_apply_suggestion_takes_none(computer: SuggestionsComputer) -> None:
    made = computer.propose(target_module="silent")
    assert computer.decide(made, "approve", 403)["detail"] == "The module silent takes no suggestions."
    assert computer.decide(made, "reject")["status"] == "rejected"


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ({"target_module": "journal"}, 403, "may not make suggestions for 'journal'; it may for: people, silent"),
        ({"action": "explode"}, 422, "action: one of create, update, delete, link"),
        ({"action": "update"}, 422, "target_id: update needs the para-id"),
        ({"action": "link", "target_id": "para:silent:aaaaaaaaaaaa"}, 422, "target_id: a para-id of people"),
        ({"action": "link", "target_id": "Kevin"}, 422, "para-id"),
        ({"action": "delete", "target_id": "para:people:aaaaaaaaaaaa"}, 404, "people knows no para:people:"),
        ({"payload": {"text": "x" * 65_536}}, 422, "payload: 65,547 bytes are more than the 65,536 allowed"),
        ({"payload": {"half": "\ud800"}}, 422, "half of a character"),
        ({"reasoning": "x" * 2001}, 422, "reasoning: text of at most 2,000"),
    ],
)
def test_what_cannot_be_proposed(
    computer: SuggestionsComputer, changes: dict[str, Any], status: int, reason: str
) -> None:
    before = computer.value("/api/suggestions")["total"]
    assert reason in computer.propose(status, **changes)
    assert computer.value("/api/suggestions")["total"] == before


def test_deep_payloads_are_refused(computer: SuggestionsComputer) -> None:
    payload: dict[str, Any] = {}
    for _ in range(32):
        payload = {"in": payload}
    made = computer.propose(payload=payload)
    assert computer.decide(made, "reject")["payload"] == payload
    assert "levels" in computer.propose(422, payload={"in": {"in": payload}})


def test_the_same_is_not_proposed_twice(computer: SuggestionsComputer, word: str) -> None:
    made = computer.propose(payload={"name": word}, reasoning="one")
    assert computer.propose(payload={"name": word}, reasoning="two") == made
    assert computer.propose(payload={"name": f"{word}!"}) != made


def test_many_decisions_at_once_apply_it_once(computer: SuggestionsComputer, word: str) -> None:
    made = computer.propose(payload={"name": word})
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: computer.post(f"/api/suggestions/{made}/approve").status_code, range(8)))
    assert sorted(set(answers)) == [200, 409]
    assert answers.count(200) == 1
    assert computer.made(name=word) == 1


def test_modules_hear_of_it(computer: SuggestionsComputer, word: str) -> None:
    made = computer.propose(payload={"name": word})
    computer.decide(made, "approve")
    expected = [["suggestion.created", made, "pending"], ["suggestion.resolved", made, "approved"]]
    computer.eventually(
        "/api/people/heard",
        lambda value: [each for each in value["heard"] if each[1] == made] == expected,
        "both events arrived",
    )


def test_pages_and_filters(computer: SuggestionsComputer, word: str) -> None:
    made = [computer.propose(payload={"name": f"{word}{number}"}) for number in range(3)]
    computer.decide(made[1], "reject")
    waiting = computer.value("/api/suggestions?status=pending&module=people&limit=2")
    assert [each["id"] for each in waiting["suggestions"]] == [made[2], made[0]]
    assert waiting["total"] >= 2
    following = computer.value("/api/suggestions?status=pending&module=people&limit=1&offset=1")
    assert [each["id"] for each in following["suggestions"]] == [made[0]]
    assert computer.value("/api/suggestions?module=nothing") == {"suggestions": [], "total": 0}
    assert computer.get("/api/suggestions?status=odd").status_code == 422
    for path in ("nothing", "%2e%2e", "a" * 500):
        assert computer.get(f"/api/suggestions/{path}").status_code in (400, 404)
        assert computer.post(f"/api/suggestions/{path}/approve").status_code in (400, 404)


def test_all_that_were_seen_are_approved_and_no_others(computer: SuggestionsComputer, word: str) -> None:
    seen = [
        computer.propose(payload={"name": f"{word}1"}),
        computer.propose(payload={"name": f"{word}2", "refuse": True}),
        computer.propose(payload={"name": f"{word}3"}),
    ]
    unseen = computer.propose(payload={"name": f"{word}4"})
    answer = computer.post("/api/suggestions/approve-all", json={"ids": [*seen, "nothing"]}).json()
    assert [(each["id"], each["status"]) for each in answer["results"]] == [
        (seen[0], "approved"),
        (seen[1], None),
        (seen[2], "approved"),
        ("nothing", None),
    ]
    assert answer["results"][1]["error"] == "notes: this is not wanted here."
    assert computer.suggestion(unseen)["status"] == "pending"
    assert (computer.made(name=f"{word}1"), computer.made(name=f"{word}3"), computer.made(name=f"{word}4")) == (1, 1, 0)
    assert computer.post("/api/suggestions/approve-all", json={}).status_code == 422


def test_a_key_needs_the_right_to_change_the_target(computer: SuggestionsComputer, word: str) -> None:
    made = computer.propose(payload={"name": word})
    keys = {}
    for label, scopes in (
        ("reader", "suggestions:read"),
        ("half", "suggestions:write"),
        ("whole", "suggestions:write"),
    ):
        arguments = ["keys", "create", label, "--scope", scopes]
        if label == "whole":
            arguments += ["--scope", "people:write"]
        printed = computer.command(*arguments, "--json")
        assert printed.returncode == 0, printed.stderr
        keys[label] = printed.stdout

    def ask(label: str, method: str, path: str) -> int:
        headers = {"Authorization": f"Bearer {json.loads(keys[label])['key']}"}
        answer = computer.ask(method, path, headers=headers)
        if answer.status_code == 403 and label != "reader":
            assert "parachute suggestions approve" in answer.json()["hint"]
        return answer.status_code

    assert ask("reader", "GET", f"/api/suggestions/{made}") == 200
    assert ask("reader", "POST", f"/api/suggestions/{made}/approve") == 403
    assert ask("half", "POST", f"/api/suggestions/{made}/approve") == 403
    assert ask("half", "POST", f"/api/suggestions/{made}/reject") == 403
    assert computer.suggestion(made)["status"] == "pending"
    assert ask("whole", "POST", f"/api/suggestions/{made}/approve") == 200
    assert computer.made(name=word) == 1
