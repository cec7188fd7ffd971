"""The server goes and comes back: a line says so, and the page catches up without a reload."""

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import MakePerson
from tests.browser.console.furnished_parts import Household
from tests.browser.console.people import PHONE, WITH_WORKER
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.long
WHOLE = True

AWAY = "The computer does not answer."


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    return Household(computer, model)


def test_what_changed_meanwhile_appears_without_a_reload(make_person: MakePerson, house: Household) -> None:
    person = make_person(PHONE, **WITH_WORKER)
    page = person.open("workspaces")
    page.evaluate("window.isTheSamePage = true")
    banner = page.get_by_text(AWAY)
    expect(banner).to_have_count(0)
    house.computer.stop()
    expect(banner).to_be_visible()
    house.computer.start()
    house.ask("POST", "/api/workspaces", {"name": "Made meanwhile"})
    expect(page.get_by_text("Made meanwhile")).to_be_visible()
    expect(banner).to_have_count(0)
    assert page.evaluate("window.isTheSamePage")
    person.forgive_refusals()


def test_a_screen_opened_while_it_was_away_fills_itself(make_person: MakePerson, house: Household) -> None:
    person = make_person(**WITH_WORKER)
    page = person.open("workspaces")
    house.computer.stop()
    expect(page.get_by_text(AWAY)).to_be_visible()
    page.get_by_role("navigation", name="Screens").get_by_role("link", name="Costs").click()
    expect(page.get_by_role("main").get_by_role("alert").first).to_be_visible()
    house.computer.start()
    expect(page.get_by_role("heading", name="No usage yet")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("alert")).to_have_count(0)
    person.forgive_refusals()


def test_a_screen_that_could_not_be_fetched_is_fetched_once_the_computer_is_back(
    make_person: MakePerson, house: Household
) -> None:
    person = make_person()
    page = person.open("workspaces")
    house.computer.stop()
    expect(page.get_by_text(AWAY).first).to_be_visible()
    page.get_by_role("navigation", name="Screens").get_by_role("link", name="Costs").click()
    expect(page.get_by_role("main").get_by_role("alert")).to_contain_text(AWAY)
    house.computer.start()
    expect(page.get_by_role("heading", name="No usage yet")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("alert")).to_have_count(0)
    person.forgive_refusals()


def test_what_one_device_changes_appears_on_the_other(make_person: MakePerson, house: Household) -> None:
    one, other = (
        make_person(**WITH_WORKER).open("capabilities/agents"),
        make_person(**WITH_WORKER).open("capabilities/agents"),
    )
    one.get_by_role("button", name="Write an agent").click()
    form = one.get_by_role("dialog")
    form.get_by_label("Name").fill("shared")
    form.get_by_label("Prompt").fill("You are shared.")
    form.get_by_role("button", name="Save").click()
    expect(other.get_by_role("button", name="shared", exact=True)).to_be_visible()
