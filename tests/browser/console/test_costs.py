"""Costs of requests to models, their callers, and limits."""

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import MakePerson
from tests.browser.console.furnished_parts import Household
from tests.browser.console.people import Person
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    return Household(computer, model)


def test_costs_come_from_requests(make_person: MakePerson, house: Household) -> None:
    page = make_person().open("costs")
    expect(page.get_by_role("heading", name="No usage yet")).to_be_visible()
    house.say("Hello!")
    # It appears by itself.
    used = page.get_by_role("listitem").filter(has_text="Your conversations")
    expect(used).to_contain_text("tokens")
    expect(page.locator(".total")).to_contain_text("1 request")
    page.get_by_role("button", name="A year").click()
    expect(page.get_by_role("button", name="A year")).to_have_attribute("aria-pressed", "true")
    expect(used).to_be_visible()


def test_a_limit_is_set_and_removed(person: Person, house: Household) -> None:
    page = person.open("costs")
    page.get_by_role("button", name="Set a limit").click()
    shown = page.get_by_role("dialog")
    shown.get_by_label("Dollars").fill("2.5")
    shown.get_by_role("button", name="Save").click()
    limit = page.get_by_role("listitem").filter(has_text="of $2.50")
    expect(limit).to_contain_text("Your conversations")
    limits = house.ask("GET", "/api/usage/limits")["limits"]
    assert [(each["subject"], each["dollars"], each["per"]) for each in limits] == [("chats", 2.5, "day")]
    limit.get_by_role("button", name="Remove").click()
    expect(limit).to_have_count(0)
    assert house.ask("GET", "/api/usage/limits")["limits"] == []


def test_a_limit_that_is_none_is_refused_with_a_sentence(make_person: MakePerson, house: Household) -> None:
    person = make_person()
    page = person.open("costs")
    page.get_by_role("button", name="Set a limit").click()
    shown = page.get_by_role("dialog")
    expect(shown.get_by_role("button", name="Save")).to_be_disabled()
    shown.get_by_label("Dollars").fill("-3")
    shown.get_by_role("button", name="Save").click()
    expect(shown.get_by_role("alert")).to_be_visible()
    assert house.ask("GET", "/api/usage/limits")["limits"] == []
    person.forgive_refusals()
