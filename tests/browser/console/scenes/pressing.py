"""Steps that scenes share."""

from playwright.sync_api import Locator, Page, expect

from tests.browser.console.people import Person
from tests.browser.console.spoken import spoken


def press(page: Page, english: str, within: Locator | None = None) -> None:
    """Press the first button of this name, in the language of the page."""
    (within or page).get_by_role("button", name=spoken(page, english)).first.click()


def dialog(page: Page) -> Page:
    """See that a dialog is open and complete."""
    expect(page.get_by_role("dialog").last).to_be_visible()
    expect(page.locator("dialog .loading")).to_have_count(0)
    return page


def pressed(person: Person, place: str, english: str) -> Page:
    """Open a screen, and the dialog that a button of this name opens."""
    page = person.open(place)
    expect(page.locator("main .loading")).to_have_count(0)
    press(page, english)
    return dialog(page)
