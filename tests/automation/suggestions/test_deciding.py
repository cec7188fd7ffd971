"""Suggestions of a real module, applied by another: from the proposal to the decision."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.automation.suggestions.conftest import SuggestionsServer


@pytest.mark.long
def test_an_update_is_proposed_approved_and_applied_once(server: SuggestionsServer, word: str) -> None:
    person = server.person()
    change = {"note": word}
    made = server.propose(action="update", target_id=person, payload=change, reasoning="The journal says so.")
    found = server.suggestion(made)
    assert (found["title"], found["expected_version"], found["status"]) == ("Kevin", 1, "pending")
    assert (found["source_agent"], found["source_session"]) == ("journal", None)
    assert (found["action"], found["target_module"], found["target_id"]) == ("update", "people", person)
    assert (found["payload"], found["reasoning"], found["resolutions"]) == (change, "The journal says so.", [])
    assert server.made(**change) == 0
    done = server.decide(made, "approve")
    assert (done["status"], done["resolved_by"], done["result"]) == ("approved", "user", {"done": "update"})
    assert done["resolved_at"] == done["applied_at"]
    assert server.value(f"/api/para/{person}")["item"]["notes"] == [word]
    again = server.decide(made, "approve", 409)
    assert again["detail"] == f"The suggestion {made} is approved already."
    assert server.made(**change) == 1
    (logged,) = server.suggestion(made)["resolutions"]
    assert (logged["outcome"], logged["resolved_by"], logged["error"]) == ("approved", "user", None)


def test_a_module_that_sleeps_is_woken(server: SuggestionsServer, word: str) -> None:
    made = server.propose(payload={"name": word})
    server.put_to_sleep("people")
    assert server.decide(made, "approve")["status"] == "approved"
    assert server.made(name=word) == 1


def test_a_rejected_one_changes_nothing(server: SuggestionsServer, word: str) -> None:
    made = server.propose(payload={"name": word})
    rejected = server.decide(made, "reject", reason="Not now.")
    assert (rejected["status"], rejected["resolved_by"], rejected["applied_at"]) == ("rejected", "user", None)
    assert server.suggestion(made)["resolutions"][0]["reason"] == "Not now."
    assert server.decide(made, "approve", 409)["key"] == "resolved"
    assert server.decide(made, "modify", 409, payload={"name": word})["key"] == "resolved"
    assert server.made(name=word) == 0
    # The same may be proposed again, and is another one.
    assert server.propose(payload={"name": word}) != made


def test_a_target_that_changed_meanwhile_is_left_alone(server: SuggestionsServer, word: str) -> None:
    person = server.person()
    made = server.propose(action="update", target_id=person, payload={"note": word})
    server.ask("PUT", f"/api/people/people/{person}")
    for _ in range(2):
        refused = server.decide(made, "approve", 409)
        assert refused["detail"] == "Kevin has changed since."
    found = server.suggestion(made)
    assert (found["status"], found["resolved_by"]) == ("pending", None)
    assert found["error"].startswith("Kevin has changed since.")
    assert [each["outcome"] for each in found["resolutions"]] == ["failed", "failed"]
    assert server.made(note=word) == 0
    # A modification that fails makes nobody believe that the proposed change was seen beside what is there now.
    server.decide(made, "modify", 422, payload={"note": word, "refuse": True})
    server.decide(made, "approve", 409)
    # The same, proposed with what is there now in view, is another suggestion.
    renewed = server.propose(action="update", target_id=person, payload={"note": word})
    assert renewed != made
    assert server.suggestion(renewed)["expected_version"] == 2
    done = server.decide(made, "modify", payload={"note": f"{word}!"})
    assert (done["status"], done["modifications"], done["payload"]) == (
        "modified",
        {"note": f"{word}!"},
        {"note": word},
    )
    assert done["error"] is None
    assert server.value(f"/api/para/{person}")["item"]["notes"] == [f"{word}!"]


def test_what_the_module_refuses_goes_on_waiting(server: SuggestionsServer, word: str) -> None:
    made = server.propose(payload={"name": word, "refuse": True})
    assert server.decide(made, "approve", 422)["detail"] == "notes: this is not wanted here."
    assert server.suggestion(made)["status"] == "pending"
    assert server.decide(made, "modify", payload={"name": word})["status"] == "modified"
    assert server.made(name=word) == 1


def test_a_module_without_apply_suggestion_takes_none(server: SuggestionsServer) -> None:
    made = server.propose(target_module="silent")
    assert server.decide(made, "approve", 403)["detail"] == "The module silent takes no suggestions."
    assert server.decide(made, "reject")["status"] == "rejected"


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
def test_what_cannot_be_proposed(server: SuggestionsServer, changes: dict[str, Any], status: int, reason: str) -> None:
    before = server.value("/api/suggestions")["total"]
    assert reason in server.propose(status, **changes)
    assert server.value("/api/suggestions")["total"] == before


def test_deep_payloads_are_refused(server: SuggestionsServer) -> None:
    payload: dict[str, Any] = {}
    for _ in range(32):
        payload = {"in": payload}
    made = server.propose(payload=payload)
    assert server.decide(made, "reject")["payload"] == payload
    assert "levels" in server.propose(422, payload={"in": {"in": payload}})


def test_the_same_is_not_proposed_twice(server: SuggestionsServer, word: str) -> None:
    made = server.propose(payload={"name": word}, reasoning="one")
    assert server.propose(payload={"name": word}, reasoning="two") == made
    assert server.propose(payload={"name": f"{word}!"}) != made


def test_many_decisions_at_once_apply_it_once(server: SuggestionsServer, word: str) -> None:
    made = server.propose(payload={"name": word})
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: server.post(f"/api/suggestions/{made}/approve").status_code, range(8)))
    assert sorted(set(answers)) == [200, 409]
    assert answers.count(200) == 1
    assert server.made(name=word) == 1


def test_modules_hear_of_it(server: SuggestionsServer, word: str) -> None:
    made = server.propose(payload={"name": word})
    server.decide(made, "approve")
    expected = [["suggestion.created", made, "pending"], ["suggestion.resolved", made, "approved"]]
    server.eventually(
        "/api/people/heard",
        lambda value: [each for each in value["heard"] if each[1] == made] == expected,
        "both events arrived",
    )


def test_pages_and_filters(server: SuggestionsServer, word: str) -> None:
    made = [server.propose(payload={"name": f"{word}{number}"}) for number in range(3)]
    server.decide(made[1], "reject")
    waiting = server.value("/api/suggestions?status=pending&module=people&limit=2")
    assert [each["id"] for each in waiting["suggestions"]] == [made[2], made[0]]
    assert waiting["total"] >= 2
    following = server.value("/api/suggestions?status=pending&module=people&limit=1&offset=1")
    assert [each["id"] for each in following["suggestions"]] == [made[0]]
    assert server.value("/api/suggestions?module=nothing") == {"suggestions": [], "total": 0}
    assert server.get("/api/suggestions?status=odd").status_code == 422
    for path in ("nothing", "%2e%2e", "a" * 500):
        assert server.get(f"/api/suggestions/{path}").status_code in (400, 404)
        assert server.post(f"/api/suggestions/{path}/approve").status_code in (400, 404)


def test_all_that_were_seen_are_approved_and_no_others(server: SuggestionsServer, word: str) -> None:
    seen = [
        server.propose(payload={"name": f"{word}1"}),
        server.propose(payload={"name": f"{word}2", "refuse": True}),
        server.propose(payload={"name": f"{word}3"}),
    ]
    unseen = server.propose(payload={"name": f"{word}4"})
    answer = server.post("/api/suggestions/approve-all", json={"ids": [*seen, "nothing"]}).json()
    assert [(each["id"], each["status"]) for each in answer["results"]] == [
        (seen[0], "approved"),
        (seen[1], None),
        (seen[2], "approved"),
        ("nothing", None),
    ]
    assert answer["results"][1]["error"] == "notes: this is not wanted here."
    assert server.suggestion(unseen)["status"] == "pending"
    assert (server.made(name=f"{word}1"), server.made(name=f"{word}3"), server.made(name=f"{word}4")) == (1, 1, 0)
    assert server.post("/api/suggestions/approve-all", json={}).status_code == 422


@pytest.mark.long
def test_a_key_needs_the_right_to_change_the_target(server: SuggestionsServer, word: str) -> None:
    made = server.propose(payload={"name": word})
    keys = {}
    for label, scopes in (
        ("reader", "suggestions:read"),
        ("half", "suggestions:write"),
        ("whole", "suggestions:write"),
    ):
        arguments = ["keys", "create", label, "--scope", scopes]
        if label == "whole":
            arguments += ["--scope", "people:write"]
        printed = server.command(*arguments, "--json")
        assert printed.returncode == 0, printed.stderr
        keys[label] = printed.stdout

    def ask(label: str, method: str, path: str) -> int:
        headers = {"Authorization": f"Bearer {json.loads(keys[label])['key']}"}
        answer = server.ask(method, path, headers=headers)
        if answer.status_code == 403 and label != "reader":
            assert "parachute suggestions approve" in answer.json()["hint"]
        return answer.status_code

    assert ask("reader", "GET", f"/api/suggestions/{made}") == 200
    assert ask("reader", "POST", f"/api/suggestions/{made}/approve") == 403
    assert ask("half", "POST", f"/api/suggestions/{made}/approve") == 403
    assert ask("half", "POST", f"/api/suggestions/{made}/reject") == 403
    assert server.suggestion(made)["status"] == "pending"
    assert ask("whole", "POST", f"/api/suggestions/{made}/approve") == 200
    assert server.made(name=word) == 1
