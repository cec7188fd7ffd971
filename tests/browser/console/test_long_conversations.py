"""A long conversation in the browser: its place while more is shown, days, folded answers, search, and the way to the end."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.console import furnishing
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.people import DESKTOP, Person
from tests.chat.imports import exports
from tests.support.computer import Computer

pytestmark = pytest.mark.long

NOON = 1_699_961_400
"""A time at which it is November 14, 2023 in each zone that a browser of the tests has."""


@pytest.fixture
def page(person: Person, computer: Computer) -> Page:
    """An open conversation of 300 messages, 100 on each day."""
    nodes = [exports.node("root", None)]
    for number in range(300):
        role, words = ("assistant", f"Word {number}") if number % 2 else ("user", f"Word {number}")
        words += "\n\nlong" * 200 if number == 281 else ""
        time = NOON + number + 86_400 * (number // 100)
        nodes.append(exports.node(f"n{number}", nodes[-1]["id"], role, words, time=time))
    talk = exports.tree(*nodes, title="A long talk", current="n299", name=f"long-{id(person)}")
    (session,) = furnishing.bring(computer, talk)["session_ids"]
    return person.open(f"chat/{session}")


def top(element: Locator) -> float:
    """The distance of an element from the top of the window."""
    box = element.bounding_box()
    assert box is not None
    return box["y"]


@at_both_sizes
def test_showing_earlier_messages_keeps_the_place(page: Page) -> None:
    log = page.get_by_role("log")
    first = log.get_by_text("Word 260", exact=True)
    expect(first).to_be_attached()
    earlier = page.get_by_role("button", name="Show earlier messages")
    earlier.scroll_into_view_if_needed()
    expect(first).to_be_in_viewport()
    before = top(first)
    earlier.click()
    expect(log.get_by_text("Word 160", exact=True)).to_be_attached()
    expect(first).to_be_in_viewport()
    assert abs(top(first) - before) < 150
    expect(log.get_by_role("heading", name="November 16, 2023")).to_have_count(1)
    page.get_by_role("button", name="Jump to the end").click()
    expect(log.get_by_text("Word 299", exact=True)).to_be_in_viewport()
    expect(page.get_by_role("button", name="Jump to the end")).to_have_count(0)


@at_both_sizes
def test_the_newest_message_stays_in_sight_while_earlier_ones_are_drawn(page: Page) -> None:
    log = page.get_by_role("log")
    expect(log.get_by_text("Word 260", exact=True)).to_be_attached()
    expect(log.get_by_text("Word 299", exact=True)).to_be_in_viewport()


@pytest.mark.parametrize("parts", [7, 70])
def test_answers_are_whole_where_reading_begins_within_one(person: Person, computer: Computer, parts: int) -> None:
    nodes = [exports.node("root", None)]
    for number in range(140):
        role = "assistant" if number % parts else "user"
        nodes.append(exports.node(f"n{number}", nodes[-1]["id"], role, f"Part {number}", time=NOON + number))
    talk = exports.tree(*nodes, title="Long answers", current="n139", name=f"answers-{parts}-{id(person)}")
    (session,) = furnishing.bring(computer, talk)["session_ids"]
    page = person.open(f"chat/{session}")
    asked = 140 // parts - 1
    expect(page.get_by_label("You", exact=True)).to_have_count(asked + 1)
    # The newest, and those among the earliest that were read first.
    for place in {asked, asked - 50 // parts, 0}:
        said = page.get_by_label("Agent", exact=True).nth(place).get_by_text("Part")
        expect(said).to_have_text([f"Part {number}" for number in range(place * parts + 1, (place + 1) * parts)])


def test_a_long_answer_is_folded_until_it_is_wanted(page: Page) -> None:
    answer = page.get_by_label("Agent", exact=True).filter(has_text="Word 281")
    expect(answer.locator(".folded")).to_have_count(1)
    answer.get_by_role("button", name="Show all").click()
    expect(answer.locator(".folded")).to_have_count(0)


@at_both_sizes
def test_all_of_a_conversation_is_searched(page: Page) -> None:
    expect(page.get_by_role("log").get_by_text("Word 299", exact=True)).to_be_visible()
    page.keyboard.press("Control+f")
    page.get_by_role("searchbox", name="Find in this conversation").fill("word 12")
    expect(page.get_by_role("status").filter(has_text="13 of 13")).to_be_visible()
    expect(page.get_by_role("log").get_by_text("Word 212", exact=True)).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("log").get_by_text("Word 129", exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="Next match").click()
    page.get_by_role("button", name="Next match").click()
    expect(page.get_by_role("status").filter(has_text="1 of 13")).to_be_visible()
    expect(page.get_by_role("log").get_by_text("Word 12", exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="Close the search").click()
    expect(page.get_by_role("searchbox", name="Find in this conversation")).to_have_count(0)


def test_the_cursor_is_in_the_message_on_a_desktop(make_person: MakePerson) -> None:
    page = make_person(DESKTOP).open("chat")
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
