"""Several providers: their list, their models in the header of a conversation, and a workspace that stays at home."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.furnished_parts import Household
from tests.browser.console.people import Person
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def home_api() -> Iterator[MessagesAPI]:
    with MessagesAPI() as api:
        api.default(text("Hello."))
        yield api


@pytest.fixture(scope="module")
def settings(home_api: MessagesAPI) -> dict[str, Any]:
    return {"providers": {"home": {"base_url": home_api.url, "model": "qwen3"}}}


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    made = Household(computer, model)
    made.ask("POST", "/api/workspaces", {"name": "Diary", "only_at_home": True})
    return made


@pytest.fixture
def person(request: pytest.FixtureRequest, make_person: MakePerson) -> Person:
    """The owner, whose pages are looked at by axe-core as well."""
    return make_person(request.param, bypass_csp=True)


@at_both_sizes
def test_a_workspace_that_stays_at_home_says_so_and_offers_models_there(person: Person, house: Household) -> None:
    page = person.open("chat")
    header = page.get_by_role("list", name="Workspace, model, rights and folder")
    for item, value in (("Workspace", "Diary"), ("Model", None)):
        header.get_by_role("listitem").filter(has_text=f"{item}: ").get_by_role("button").click()
        menu = page.get_by_role("dialog", name=item)
        if value:
            menu.get_by_role("button", name=value, exact=True).click()
    expect(header.get_by_text("Only at home")).to_be_visible()
    expect(menu.get_by_role("button", name="(home)").first).to_be_visible()
    expect(menu.get_by_role("button").filter(has_text="Claude").filter(has_not_text="(home)")).to_have_count(0)
    assert violations(page) == []


@at_both_sizes
def test_providers_are_listed_added_and_removed(person: Person, house: Household, home_api: MessagesAPI) -> None:
    page = person.open("computer/model")
    rows = page.locator("section", has=page.get_by_role("heading", name="Further providers")).get_by_role("listitem")
    expect(rows.filter(has_text=home_api.url)).to_be_visible()
    page.get_by_role("button", name="Add a provider").click()
    dialog = page.get_by_role("dialog", name="Add a provider")
    dialog.get_by_label("Name").fill("second")
    dialog.get_by_label("Address").fill(home_api.url)
    dialog.get_by_label("Model", exact=True).fill("llama4")
    assert violations(page) == []
    dialog.get_by_role("button", name="Add a provider").click()
    expect(rows.filter(has_text="second")).to_contain_text("counts tokens")
    assert house.ask("GET", "/api/config")["settings"]
    page.get_by_role("button", name="Remove second").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove second").click()
    expect(rows.filter(has_text="second")).to_have_count(0)
