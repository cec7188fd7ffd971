"""Each kind of item is a sentence with buttons, whatever its names are."""

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
