"""Screens of modules that are not installed: what they would do, the consent, and the module turned off."""

import pytest
from playwright.sync_api import expect

from tests.browser.console import furnishing
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import PHONE
from tests.support.computer import Computer

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("screen", "module", "ready"), [("journal", "daily", "Journal"), ("knowledge", "brain", "Knowledge")]
)
def test_a_module_is_installed_after_its_consent_was_read(
    make_person: MakePerson, computer: Computer, screen: str, module: str, ready: str
) -> None:
    person = make_person(PHONE, bypass_csp=True)
    page = person.open(screen)
    expect(page.get_by_role("heading", name=ready, exact=True)).to_be_visible()
    page.get_by_role("button", name="What it may do").click()
    expect(page.get_by_role("dialog").locator("pre")).to_contain_text("Verified")
    assert violations(page) == []
    page.get_by_role("button", name="Cancel").click()
    assert not computer.vault.joinpath(".modules", module).exists()
    page.get_by_role("button", name="What it may do").click()
    page.get_by_role("dialog").get_by_role("button", name="Install").click()
    expect(page.locator("input[type=search]").first).to_be_visible()
    furnishing.call(computer, "POST", f"/api/modules/{module}/disable")
    page.get_by_role("button", name="Turn on").click()
    expect(page.locator("input[type=search]").first).to_be_visible()
    # What the screen asked of the module before it knew that it is off was refused, which the browser notes.
    person.problems[:] = [problem for problem in person.problems if "409" not in problem]


def test_the_search_over_everything_asks_no_module_that_is_not_there(
    make_person: MakePerson, computer: Computer
) -> None:
    for each in furnishing.call(computer, "GET", "/api/modules")["modules"]:
        furnishing.call(computer, "DELETE", f"/api/modules/{each['name']}")
    page = make_person(PHONE).open("chat")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator(".bar").get_by_role("button", name="Search").click()
    with page.expect_request("**/api/files/search?*"):
        page.get_by_role("combobox", name="Search, or type what to do").fill("zyzzyva")
    expect(page.get_by_text("Nothing found")).to_be_visible()
    assert not [url for url in asked if "/api/brain" in url or "/api/daily" in url]


def test_who_may_not_install_is_told_who_may(make_person: MakePerson, computer: Computer) -> None:
    modules = furnishing.call(computer, "GET", "/api/modules")["modules"]
    if any(each["name"] == "daily" for each in modules):
        furnishing.call(computer, "DELETE", "/api/modules/daily")
    page = make_person(scopes=["daily:read", "modules:read"]).open("journal")
    expect(page.get_by_text("The owner of this computer can install it.")).to_be_visible()
