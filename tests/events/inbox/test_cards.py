"""Each kind of item is a sentence with buttons, whatever its names are."""

from typing import Any

import pytest

from parachute.events.inbox.cards import kinds
from parachute.events.inbox.models import Item
from tests.support.inbox_items import EVIL, ITEMS

NAMES = [f"{each.kind}-{number}" for number, each in enumerate(ITEMS)]


def test_each_kind_has_an_example() -> None:
    assert {each.kind for each in ITEMS} == kinds().keys()
    assert len({each.id for each in ITEMS}) == len(ITEMS)


@pytest.mark.parametrize("item", ITEMS, ids=NAMES)
def test_a_card_is_one_sentence_and_a_button_for_each_answer(item: Item) -> None:
    card = kinds()[item.kind].card(item)
    assert tuple(each.answer for each in card.choices) == item.answers
    for text in (card.sentence, *(text for each in card.choices for text in (each.label, each.done))):
        assert text
        assert text.isprintable()
        assert len(text) < 700
    assert len({each.label for each in card.choices}) == len(card.choices)


@pytest.mark.parametrize("item", ITEMS, ids=NAMES)
def test_no_braces_of_a_record_are_shown(item: Item) -> None:
    shown = "\n".join(kinds()[item.kind].lines(item.details)).replace(EVIL, "")
    assert "{'" not in shown
    assert '{"' not in shown


LONG = f"{'docs.example.org.' + 'a' * 60}.{'b' * 60}.{'c' * 60}.evil.test"


@pytest.mark.parametrize(
    ("kind", "details", "shown"),
    [
        ("host", {"host": LONG, "workspace": None}, LONG),
        ("repository", {"repository": f"{LONG}/a", "access": "push", "workspace": None}, f"{LONG}/a"),
        ("mcp_server", {"command": "x", "hosts": [LONG], "files": [{"path": f"/{LONG}", "sha256": "0"}]}, f"/{LONG}"),
        ("mcp_server", {"command": "x", "hosts": [LONG]}, LONG),
        ("permission", {"tool": "mcp__mail__send", "input": {"command": "ls", "to": "x"}}, "mcp__mail__send"),
        ("permission", {"tool": "mcp__mail__send", "input": {"file_path": "/a"}}, "mcp__mail__send"),
    ],
)
def test_what_is_decided_about_is_said_whole(kind: str, details: dict[str, Any], shown: str) -> None:
    item = Item(kind=kind, key="k", title="t", source="s", details=details)
    found = kinds()[kind]
    assert shown in "\n".join([found.card(item).sentence, *found.lines(details)])
