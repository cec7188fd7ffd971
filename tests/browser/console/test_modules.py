"""Modules: what one may do is read before it is installed, and afterwards it is set, switched off and removed."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import MakePerson
from tests.browser.console.furnished_parts import Household
from tests.browser.console.people import Person
from tests.modules.registry.building import write_module
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    return Household(computer, model)


def test_a_module_that_came_along_through_its_life(person: Person, house: Household) -> None:
    page = person.open("modules")
    offered = page.get_by_role("listitem").filter(has_text="What you know about people")
    offered.get_by_role("button", name="Install").click()
    consent = page.get_by_role("dialog", name="What it may do")
    expect(consent).to_contain_text("Own folder")
    expect(consent).to_contain_text("Tools for conversations")
    consent.get_by_role("button", name="Cancel").click()
    assert house.ask("GET", "/api/modules")["modules"] == []

    offered.get_by_role("button", name="Install").click()
    consent.get_by_role("button", name="Install and approve").click()
    expect(consent).to_have_count(0)
    page.get_by_role("link", name="Brain").click()
    expect(page.get_by_role("heading", name="Brain", level=1)).to_be_visible()
    page.get_by_role("button", name="Switch off").click()
    expect(page.get_by_text("switched off")).to_be_visible()
    page.get_by_role("button", name="Switch on").click()
    expect(page.get_by_text("switched off")).to_have_count(0)
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page).to_have_url(re.compile("#/modules$"))
    expect(offered.get_by_role("button", name="Install")).to_be_visible()
    assert house.ask("GET", "/api/modules")["modules"] == []


def test_nothing_is_asked_of_a_module_that_was_removed(person: Person, house: Household) -> None:
    (brain,) = (each for each in house.ask("GET", "/api/modules/official")["modules"] if each["name"] == "brain")
    house.ask("POST", "/api/modules/install", {"source": brain["source"], "hash": brain["hash"]})
    # On a device that takes long to draw.
    person.page.add_init_script("requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 500)")
    page = person.page
    page.reload()
    person.open("modules/brain")
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("listitem").filter(has_text="What you know about people")).to_be_visible()


def test_a_module_of_somebody_is_fetched_shown_and_approved(make_person: MakePerson, house: Household) -> None:
    source = house.computer.folder / "sources" / "garden"
    write_module(source, "garden")
    page = make_person().open("modules")
    page.get_by_role("button", name="Install a module").click()
    form = page.get_by_role("dialog", name="Install a module")
    form.get_by_label("Where is it?").fill(str(source))
    form.get_by_role("button", name="Fetch and review").click()
    expect(form.get_by_text("It asks for")).to_be_visible()
    assert house.ask("GET", "/api/modules")["modules"] == []
    form.get_by_role("button", name="Install and approve").click()
    expect(form).to_have_count(0)
    (module,) = house.ask("GET", "/api/modules")["modules"]
    assert (module["name"], module["trust_level"]) == ("garden", "untrusted")

    # A change of its files waits, and is shown with its difference.
    file = house.computer.vault / ".modules" / "garden" / "module.py"
    file.write_text(file.read_text() + "\n# Planted.\n")
    house.ask("POST", "/api/modules/reload")
    page.get_by_role("link", name=re.compile("garden", re.IGNORECASE)).click()
    page.get_by_text("Files that change").click()
    expect(page.get_by_text("# Planted.")).to_be_visible()
    page.get_by_role("button", name="Approve this version").click()
    expect(page.get_by_role("button", name="Approve this version")).to_have_count(0)
    # Not while its own page is open, which would ask for it in vain.
    page.goto(f"{house.computer.url}/#/keys")
    expect(page.get_by_role("heading", name="Keys and devices")).to_be_visible()
    house.ask("DELETE", "/api/modules/garden")


def test_a_source_that_is_none_is_told_as_a_sentence(make_person: MakePerson, house: Household) -> None:
    person = make_person()
    page = person.open("modules")
    page.get_by_role("button", name="Install a module").click()
    form = page.get_by_role("dialog", name="Install a module")
    form.get_by_label("Where is it?").fill(str(house.computer.folder / "nothing"))
    form.get_by_role("button", name="Fetch and review").click()
    expect(page.get_by_role("alert").or_(page.locator(".toast.error")).first).to_be_visible()
    person.forgive_refusals()
