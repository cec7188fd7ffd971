"""Requests between callers, and their records."""

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.furnished_parts import Household
from tests.browser.console.people import Person
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    """One turn has left its records."""
    made = Household(computer, model)
    made.session = made.say("Hello!")
    return made


@at_both_sizes
def test_a_picture_and_a_table_say_the_same(person: Person, house: Household) -> None:
    page = person.open("activity")
    page.get_by_text("Calls between parts").click()
    expect(page.get_by_role("img", name="A graph of calls; the table below says the same.")).to_be_visible()
    table = page.get_by_role("region", name="Calls between parts")
    expect(table.get_by_role("cell", name="This computer").first).to_be_visible()
    page.get_by_role("button", name="An hour").click()
    expect(page.get_by_role("button", name="An hour")).to_have_attribute("aria-pressed", "true")
    expect(table).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than the screen"


def test_a_record_is_found_and_opened(person: Person, house: Household) -> None:
    page = person.open(f"activity?session={house.session}")
    first = page.get_by_role("listitem").filter(has=page.get_by_role("button")).first
    expect(page.get_by_role("button", name="The agent in “Hello!” worked for")).to_be_visible()
    first.get_by_role("button").click()
    record = page.get_by_role("dialog", name="Record")
    record.get_by_text("For developers").click()
    expect(record).to_contain_text(house.session)
    page.keyboard.press("Escape")
    page.get_by_label("Name").fill("00000000-0000-4000-8000-000000000000")
    expect(page.get_by_text("Nothing happened in this time.")).to_be_visible()


def test_nothing_was_altered(make_person: MakePerson, house: Household) -> None:
    page = make_person().open("activity")
    page.get_by_role("button", name="Verify the records").click()
    expect(page.get_by_text("No record was altered.")).to_be_visible()
