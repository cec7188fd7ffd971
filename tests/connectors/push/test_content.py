"""The text of a notice: as much as the owner chose, and buttons only below all that they are about."""

from dataclasses import replace
from typing import Any

import pytest

from parachute.connectors.push.content import RUN, of_item
from parachute.events.inbox.models import Item

DETAILS: dict[str, Any] = {"tool": "Bash", "input": {"command": "make sails"}, "reason": "It is asked about."}
PERMISSION = Item(
    "permission",
    "1",
    "Bash: make sails",
    "The boat",
    details=DETAILS,
    answers=("allow", "deny", "allow Bash(make:*)"),
    rights=(("chat", "write"),),
    session="s1",
)
QUESTION = Item(
    "question",
    "2",
    "Which colour?",
    "The boat",
    details={"questions": [{"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}]},
    answers=("answer", "skip"),
    rights=(("chat", "write"),),
)


def test_the_least_is_that_something_waits() -> None:
    said = of_item(PERMISSION, "waits", "en")
    assert (said.title, said.body, said.item, said.hash, said.actions) == (
        "Something waits for you",
        "",
        None,
        None,
        (),
    )
    assert said == of_item(QUESTION, "waits", "en"), "one takes the place of the other, and tells nothing of it"


def test_the_kind_says_no_name_and_offers_no_answer() -> None:
    said = of_item(PERMISSION, "kind", "de")
    assert (said.title, said.body, said.actions) == ("Ein Agent bittet um Erlaubnis", "", ())
    assert said.url == f"/#/inbox/{PERMISSION.id}"


def test_all_that_is_asked_stands_above_its_buttons() -> None:
    said = of_item(PERMISSION, "title", "en")
    assert "make sails" in said.body
    assert "It is asked about." in said.body
    assert [(each["title"], each["answer"]) for each in said.actions] == [("Allow", "allow"), ("Deny", "deny")]
    assert said.hash == PERMISSION.hash


def test_an_answer_of_a_question_is_one_of_its_own() -> None:
    said = of_item(QUESTION, "title", "en")
    assert [(each["title"], each["values"]) for each in said.actions] == [
        ("Red", {"Which colour?": "Red"}),
        ("Blue", {"Which colour?": "Blue"}),
    ]


@pytest.mark.parametrize(
    "item",
    [
        replace(PERMISSION, details={**DETAILS, "input": {"command": "true; " * 60}}),
        replace(PERMISSION, is_owners=True),
        replace(PERMISSION, rights=(("modules", "admin"),)),
        replace(
            QUESTION,
            details={"questions": [{"question": "Which?", "options": [{"label": each} for each in "abc"]}]},
        ),
        Item(
            "push_service",
            "h",
            "Send",
            "Phone",
            details={"host": "h.org", "device": "Phone"},
            answers=("always", "never"),
        ),
    ],
    ids=["cut", "owners", "admin", "three answers", "needs a confirmation"],
)
def test_what_asks_for_more_has_no_buttons(item: Item) -> None:
    said = of_item(item, "title", "en")
    assert said.actions == ()
    assert len(said.body) <= 240


@pytest.mark.parametrize(("says", "body"), [("kind", ""), ("title", "Bread\nComes again: every weekday at 7")])
def test_a_reminder_says_its_text_where_titles_are_said(says: Any, body: str) -> None:
    reminder = Item("reminder", "1", "Bread", "reminder", details={"schedule": "every weekday at 7"})
    said = of_item(reminder, says, "en")
    assert (said.title, said.body) == ("A reminder", body)


@pytest.mark.parametrize(("says", "body"), [("kind", ""), ("title", "The boat")])
def test_a_run_leads_to_its_conversation(says: Any, body: str) -> None:
    said = of_item(Item(RUN, "7", "The boat", "", details={"failed": True}, session="s1"), says, "en")
    assert (said.title, said.body, said.url, said.item) == ("An agent could not finish", body, "/#/chat/s1", None)


def test_a_topic_tells_nothing_and_is_as_short_as_the_standard_wants() -> None:
    topics = {of_item(each, "kind", "en").topic("secret") for each in (PERMISSION, QUESTION)}
    assert len(topics) == 2
    assert not topics & {of_item(each, "kind", "en").topic("another device") for each in (PERMISSION, QUESTION)}
    assert all(len(each) == 32 for each in topics)
