"""Items of the inbox with buttons in the owner's chat: none that needs the owner, and none that was not shown."""

from typing import Any

import pytest

from parachute.connectors.notices.shown import shown
from parachute.events.inbox.models import ALLOW, APPROVE, DENY, REJECT, Item


def item(kind: str, **fields: Any) -> Item:
    """An item of the inbox."""
    return Item(kind=kind, key="1", title="Title", source="Source", **fields)


def labels(found: Item) -> list[str]:
    """The buttons of an item."""
    return [each.label for each in shown(found, "en")[1]]


def test_a_permission_is_shown_whole_with_its_buttons() -> None:
    found = item("permission", details={"input": {"command": "ls"}, "reason": "why"}, answers=(ALLOW, DENY, "allow X"))
    assert '"command": "ls"' in shown(found, "en")[0]
    assert labels(found) == ["Allow", "Deny"]


def test_what_does_not_fit_gets_no_yes() -> None:
    found = item("permission", details={"input": {"command": "x" * 5000}}, answers=(ALLOW, DENY))
    text, choices = shown(found, "en")
    assert choices == ()
    assert "console" in text


@pytest.mark.parametrize(
    "found",
    [
        item("permission", details={"input": {}}, answers=(ALLOW, DENY), is_owners=True),
        item("suggestion", answers=(APPROVE, REJECT), rights=(("settings", "admin"),)),
        item("module", answers=(APPROVE, REJECT)),
        item("pairing", answers=(APPROVE, REJECT), is_owners=True),
        item("host", answers=("once", "always", "never"), is_owners=True),
    ],
    ids=lambda each: str(each.kind),
)
def test_what_needs_the_owner_gets_no_buttons(found: Item) -> None:
    assert labels(found) == []


def test_what_a_guest_brought_has_no_button_that_allows_anything() -> None:
    options = {"questions": [{"question": "Which?", "options": [{"label": "Blue"}]}]}
    allowing = [
        item("permission", details={"input": {}}, answers=(ALLOW, DENY)),
        item("suggestion", answers=(APPROVE, REJECT), rights=(("brain", "write"),)),
    ]
    assert [shown(each, "en", is_guests=True)[1] for each in allowing] == [(), ()]
    assert [each.label for each in shown(item("question", details=options), "en", is_guests=True)[1]] == ["Blue"]


def test_a_suggestion_has_buttons() -> None:
    assert labels(item("suggestion", answers=(APPROVE, REJECT), rights=(("brain", "write"),))) == ["Approve", "Reject"]
