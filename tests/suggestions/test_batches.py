"""Several suggestions that the user decides about as one."""

from tests.suggestions.conftest import House


def propose(house: House, word: str, *refused: int) -> list[str]:
    """Three suggestions; the module refuses those with these places."""
    return [
        house.propose(payload={"name": f"{word}{place}", **({"refuse": True} if place in refused else {})})
        for place in range(3)
    ]


def batch(house: House, ids: list[str], status: int = 200, title: str = "3 people of today") -> str:
    """An entry of them, or the reason why there is none."""
    answer = house.post("/api/suggestions/batch", json={"title": title, "ids": ids})
    assert answer.status_code == status, answer.text
    return str(answer.json()["id"] if status == 200 else answer.json()["detail"])


def order(house: House, word: str) -> list[str]:
    """What was made with this word, in order."""
    return [each["name"] for each in house.value("/api/people/made")["made"] if each.get("name", "").startswith(word)]


def test_an_entry_is_approved_as_a_whole_in_its_order(house: House, word: str) -> None:
    one, two, three = propose(house, word)
    entry = batch(house, [three, one, two])
    listed = house.value("/api/suggestions?status=pending&module=people&limit=1")["suggestions"][0]
    assert (listed["id"], listed["title"], listed["action"]) == (entry, "3 people of today", "batch")
    assert [member["id"] for member in listed["members"]] == [three, one, two]
    done = house.decide(entry, "approve")
    assert (done["status"], done["resolved_by"]) == ("approved", "user")
    assert order(house, word) == [f"{word}2", f"{word}0", f"{word}1"]
    assert {house.suggestion(each)["resolved_by"] for each in (one, two, three)} == {f"orchestrator:{entry}"}
    assert house.decide(entry, "approve", 409)["key"] == "resolved"
    resolved = house.value("/api/suggestions?status=approved&module=people&limit=4")["suggestions"]
    assert {each["id"] for each in resolved} == {entry, one, two, three}


def test_it_stops_at_the_first_that_fails_and_says_which(house: House, word: str) -> None:
    one, two, three = propose(house, word, 1)
    entry = batch(house, [one, two, three])
    refused = house.decide(entry, "approve", 422)
    assert refused["stopped_at"] == two
    assert refused["detail"] == f"It stopped at {two} ({word}1): notes: this is not wanted here."
    found = house.suggestion(entry)
    assert (found["status"], found["error"]) == ("pending", refused["detail"])
    assert [member["status"] for member in found["members"]] == ["approved", "pending", "pending"]
    assert order(house, word) == [f"{word}0"]
    # Without the one that fails, it goes on where it stopped.
    house.decide(two, "reject")
    assert house.decide(entry, "approve")["status"] == "approved"
    assert order(house, word) == [f"{word}0", f"{word}2"]


def test_an_entry_ends_with_its_last_member(house: House, word: str) -> None:
    members = propose(house, word)
    entry = batch(house, members)
    for member in members:
        assert house.suggestion(entry)["status"] == "pending"
        house.decide(member, "reject")
    assert house.suggestion(entry)["status"] == "rejected"
    house.eventually(
        "/api/people/heard",
        lambda value: ["suggestion.resolved", entry, "rejected"] in value["heard"],
        "its end was told",
    )


def test_an_entry_is_rejected_as_a_whole(house: House, word: str) -> None:
    members = propose(house, word)
    entry = batch(house, members)
    assert house.decide(entry, "modify", 422, payload={})["detail"].startswith("An entry of several")
    done = house.decide(entry, "reject", reason="No.")
    assert (done["status"], done["applied_at"]) == ("rejected", None)
    assert {house.suggestion(each)["status"] for each in members} == {"rejected"}
    assert order(house, word) == []


def test_what_cannot_be_an_entry(house: House, word: str) -> None:
    one, two, three = propose(house, word)
    house.decide(three, "reject")
    assert "does not wait" in batch(house, [one, three], 409)
    assert "different ids" in batch(house, [one, one], 422)
    batch(house, [one], 422)
    batch(house, [one, two], 422, title=" ")
    entry = batch(house, [one, two])
    four, five = house.propose(payload={"name": f"{word}4"}), house.propose(payload={"name": f"{word}5"})
    assert "another entry" in batch(house, [four, two], 409)
    assert "does not wait" in batch(house, [four, entry], 409)
    # What was refused has taken nothing.
    batch(house, [four, five])
