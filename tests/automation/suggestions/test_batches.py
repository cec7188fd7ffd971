"""Several suggestions that the user decides about as one."""

import pytest

from tests.automation.suggestions.conftest import SuggestionsServer

pytestmark = pytest.mark.long


def propose(server: SuggestionsServer, word: str, *refused: int) -> list[str]:
    """Three suggestions; the module refuses those with these places."""
    return [
        server.propose(payload={"name": f"{word}{place}", **({"refuse": True} if place in refused else {})})
        for place in range(3)
    ]


def batch(server: SuggestionsServer, ids: list[str], status: int = 200, title: str = "3 people of today") -> str:
    """An entry of them, or the reason why there is none."""
    answer = server.post("/api/suggestions/batch", json={"title": title, "ids": ids})
    assert answer.status_code == status, answer.text
    return str(answer.json()["id"] if status == 200 else answer.json()["detail"])


def order(server: SuggestionsServer, word: str) -> list[str]:
    """Return the names made with this word, in order."""
    return [each["name"] for each in server.value("/api/people/made")["made"] if each.get("name", "").startswith(word)]


def test_an_entry_is_approved_as_a_whole_in_its_order(server: SuggestionsServer, word: str) -> None:
    one, two, three = propose(server, word)
    entry = batch(server, [three, one, two])
    listed = server.value("/api/suggestions?status=pending&module=people&limit=1")["suggestions"][0]
    assert (listed["id"], listed["title"], listed["action"]) == (entry, "3 people of today", "batch")
    assert [member["id"] for member in listed["members"]] == [three, one, two]
    done = server.decide(entry, "approve")
    assert (done["status"], done["resolved_by"]) == ("approved", "user")
    assert order(server, word) == [f"{word}2", f"{word}0", f"{word}1"]
    assert {server.suggestion(each)["resolved_by"] for each in (one, two, three)} == {f"orchestrator:{entry}"}
    assert server.decide(entry, "approve", 409)["key"] == "resolved"
    resolved = server.value("/api/suggestions?status=approved&module=people&limit=4")["suggestions"]
    assert {each["id"] for each in resolved} == {entry, one, two, three}


def test_it_stops_at_the_first_that_fails_and_says_which(server: SuggestionsServer, word: str) -> None:
    one, two, three = propose(server, word, 1)
    entry = batch(server, [one, two, three])
    refused = server.decide(entry, "approve", 422)
    assert refused["stopped_at"] == two
    assert refused["detail"] == f"It stopped at {two} ({word}1): notes: this is not wanted here."
    found = server.suggestion(entry)
    assert (found["status"], found["error"]) == ("pending", refused["detail"])
    assert [member["status"] for member in found["members"]] == ["approved", "pending", "pending"]
    assert order(server, word) == [f"{word}0"]
    # Without the one that fails, it goes on where it stopped.
    server.decide(two, "reject")
    assert server.decide(entry, "approve")["status"] == "approved"
    assert order(server, word) == [f"{word}0", f"{word}2"]


def test_an_entry_ends_with_its_last_member(server: SuggestionsServer, word: str) -> None:
    members = propose(server, word)
    entry = batch(server, members)
    for member in members:
        assert server.suggestion(entry)["status"] == "pending"
        server.decide(member, "reject")
    assert server.suggestion(entry)["status"] == "rejected"
    server.eventually(
        "/api/people/heard",
        lambda value: ["suggestion.resolved", entry, "rejected"] in value["heard"],
        "its end was told",
    )


def test_an_entry_is_rejected_as_a_whole(server: SuggestionsServer, word: str) -> None:
    members = propose(server, word)
    entry = batch(server, members)
    assert server.decide(entry, "modify", 422, payload={})["detail"].startswith("An entry of several")
    done = server.decide(entry, "reject", reason="No.")
    assert (done["status"], done["applied_at"]) == ("rejected", None)
    assert {server.suggestion(each)["status"] for each in members} == {"rejected"}
    assert order(server, word) == []


def test_what_cannot_be_an_entry(server: SuggestionsServer, word: str) -> None:
    one, two, three = propose(server, word)
    server.decide(three, "reject")
    assert "does not wait" in batch(server, [one, three], 409)
    assert "different ids" in batch(server, [one, one], 422)
    batch(server, [one], 422)
    batch(server, [one, two], 422, title=" ")
    entry = batch(server, [one, two])
    four, five = server.propose(payload={"name": f"{word}4"}), server.propose(payload={"name": f"{word}5"})
    assert "another entry" in batch(server, [four, two], 409)
    assert "does not wait" in batch(server, [four, entry], 409)
    # What was refused has taken nothing.
    batch(server, [four, five])
