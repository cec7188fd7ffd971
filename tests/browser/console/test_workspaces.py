"""Workspaces: made, changed, and deleted."""

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
    (computer.vault / "Projects" / "boat").mkdir(parents=True)
    return Household(computer, model)


def test_a_workspace_through_its_life(person: Person, house: Household) -> None:
    page = person.open("workspaces")
    expect(page.get_by_role("heading", name="One place for each project")).to_be_visible()
    page.get_by_role("button", name="New workspace").click()
    form = page.get_by_role("dialog", name="New workspace")
    form.get_by_label("Name", exact=True).fill("Boat")
    form.get_by_label("Folder", exact=True).fill("Projects/boat")
    form.get_by_label("Hosts on the internet").select_option("Only the hosts below")
    form.get_by_label("Hosts that are allowed").fill("example.org\nweather.example.org")
    form.get_by_label("Skills").select_option("nothing")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    (made,) = house.ask("GET", "/api/workspaces")["workspaces"]
    assert (made["slug"], made["network"]["hosts"]) == ("boat", ["example.org", "weather.example.org"])
    assert made["capabilities"]["skills"] == "none"

    page.get_by_role("button", name="Change Boat").click()
    form = page.get_by_role("dialog", name="Change Boat")
    form.get_by_label("What is it about?").fill("Repairs of the Albatross")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("listitem").filter(has_text="Repairs of the Albatross")).to_be_visible()
    (changed,) = house.ask("GET", "/api/workspaces")["workspaces"]
    assert changed == {**made, "description": "Repairs of the Albatross"} | {
        name: changed[name] for name in ("updated_at", "updatedAt") if name in changed
    }

    page.get_by_role("button", name="Delete Boat").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Delete Boat").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="One place for each project")).to_be_visible()
    assert (house.computer.vault / "Projects" / "boat").is_dir()


def test_what_is_wrong_is_said_and_the_form_stays(make_person: MakePerson, house: Household) -> None:
    person = make_person()
    page = person.open("workspaces")
    page.get_by_role("button", name="New workspace").click()
    form = page.get_by_role("dialog", name="New workspace")
    form.get_by_label("Name", exact=True).fill("Nowhere")
    form.get_by_label("Folder", exact=True).fill("/etc")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_be_visible()
    expect(form.get_by_label("Name", exact=True)).to_have_value("Nowhere")
    assert house.ask("GET", "/api/workspaces")["workspaces"] == []
    person.forgive_refusals()
