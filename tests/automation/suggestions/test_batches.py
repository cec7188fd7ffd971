"""Several suggestions that the user decides about as one."""

import pytest

from tests.automation.suggestions.conftest import SuggestionsComputer

pytestmark = pytest.mark.long


def propose(computer: SuggestionsComputer, word: str, *refused: int) -> list[str]:
    """Three suggestions; the module refuses those with these places."""
    return [
        computer.propose(payload={"name": f"{word}{place}", **({"refuse": True} if place in refused else {})})
        for place in range(3)
    ]


def batch(computer: SuggestionsComputer, ids: list[str], status: int = 200, title: str = "3 people of today") -> str:
    """An entry of them, or the reason why there is none."""
    answer = computer.post("/api/suggestions/batch", json={"title": title, "ids": ids})
    assert answer.status_code == status, answer.text
    return str(answer.json()["id"] if status == 200 else answer.json()["detail"])


def order(computer: SuggestionsComputer, word: str) -> list[str]:
    """What was made with this word, in order."""
    return [
        each["name"] for each in computer.value("/api/people/made")["made"] if each.get("name", "").startswith(word)
    ]


def test_an_entry_is_approved_as_a_whole_in_its_order(computer: SuggestionsComputer, word: str) -> None:
    one, two, three = propose(computer, word)
    entry = batch(computer, [three, one, two])
    listed = computer.value("/api/suggestions?status=pending&module=people&limit=1")["suggestions"][0]
    assert (listed["id"], listed["title"], listed["action"]) == (entry, "3 people of today", "batch")
    assert [member["id"] for member in listed["members"]] == [three, one, two]
    done = computer.decide(entry, "approve")
    assert (done["status"], done["resolved_by"]) == ("approved", "user")
    assert order(computer, word) == [f"{word}2", f"{word}0", f"{word}1"]
    assert {computer.suggestion(each)["resolved_by"] for each in (one, two, three)} == {f"orchestrator:{entry}"}
    assert computer.decide(entry, "approve", 409)["key"] == "resolved"
    resolved = computer.value("/api/suggestions?status=approved&module=people&limit=4")["suggestions"]
    assert {each["id"] for each in resolved} == {entry, one, two, three}


def test_it_stops_at_the_first_that_fails_and_says_which(computer: SuggestionsComputer, word: str) -> None:
    one, two, three = propose(computer, word, 1)
    entry = batch(computer, [one, two, three])
    refused = computer.decide(entry, "approve", 422)
    assert refused["stopped_at"] == two
    assert refused["detail"] == f"It stopped at {two} ({word}1): notes: this is not wanted here."
    found = computer.suggestion(entry)
    assert (found["status"], found["error"]) == ("pending", refused["detail"])
    assert [member["status"] for member in found["members"]] == ["approved", "pending", "pending"]
    assert order(computer, word) == [f"{word}0"]
    # Without the one that fails, it goes on where it stopped.
    computer.decide(two, "reject")
    assert computer.decide(entry, "approve")["status"] == "approved"
    assert order(computer, word) == [f"{word}0", f"{word}2"]


def test_an_entry_ends_with_its_last_member(computer: SuggestionsComputer, word: str) -> None:
    members = propose(computer, word)
    entry = batch(computer, members)
    for member in members:
        assert computer.suggestion(entry)["status"] == "pending"
        computer.decide(member, "reject")
    assert computer.suggestion(entry)["status"] == "rejected"
    computer.eventually(
        "/api/people/heard",
        lambda value: ["suggestion.resolved", entry, "rejected"] in value["heard"],
        "its end was told",
    )


def test_an_entry_is_rejected_as_a_whole(computer: SuggestionsComputer, word: str) -> None:
    members = propose(computer, word)
    entry = batch(computer, members)
    assert computer.decide(entry, "modify", 422, payload={})["detail"].startswith("An entry of several")
    done = computer.decide(entry, "reject", reason="No.")
    assert (done["status"], done["applied_at"]) == ("rejected", None)
    assert {computer.suggestion(each)["status"] for each in members} == {"rejected"}
    assert order(computer, word) == []


def test_what_cannot_be_an_entry(computer: SuggestionsComputer, word: str) -> None:
    one, two, three = propose(computer, word)
    computer.decide(three, "reject")
    assert "does not wait" in batch(computer, [one, three], 409)
    assert "different ids" in batch(computer, [one, one], 422)
    batch(computer, [one], 422)
    batch(computer, [one, two], 422, title=" ")
    entry = batch(computer, [one, two])
    four, five = computer.propose(payload={"name": f"{word}4"}), computer.propose(payload={"name": f"{word}5"})
    assert "another entry" in batch(computer, [four, two], 409)
    assert "does not wait" in batch(computer, [four, entry], 409)
    # What was refused has taken nothing.
    batch(computer, [four, five])
