"""The way back closes what lies open before it leaves a screen, and stopping everything takes more than a tap."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import furnishing
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import DESKTOP, PHONE
from tests.support.computer import Computer

pytestmark = pytest.mark.long

TITLE = "Why does bread need salt?"


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """Sixty conversations."""
    furnishing.add_conversations(computer)


def at(page: Page, screen: str) -> None:
    """The address is of a screen."""
    expect(page).to_have_url(re.compile(rf"#/{screen}$"))


def test_back_closes_a_sheet_the_settings_of_a_conversation_and_the_column(make_person: MakePerson) -> None:
    person = make_person(PHONE)
    person.open("keys")
    page = person.open("conversations")
    page.get_by_role("button", name=f"Actions for {TITLE}").click()
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    at(page, "conversations")
    person.open("chat")
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    at(page, "chat")
    more = page.get_by_role("button", name="More", exact=True)
    more.click()
    expect(more).to_have_attribute("aria-expanded", "true")
    page.go_back()
    expect(more).to_have_attribute("aria-expanded", "false")
    at(page, "chat")
    page.go_back()
    at(page, "conversations")
    page.go_back()
    at(page, "keys")


def test_what_was_closed_by_hand_takes_no_step(make_person: MakePerson) -> None:
    person = make_person(PHONE)
    person.open("keys")
    page = person.open("conversations")
    for _ in range(2):
        page.get_by_role("button", name=f"Actions for {TITLE}").click()
        page.get_by_role("button", name="Rename").click()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    page.go_back()
    at(page, "keys")


def test_a_link_of_the_column_takes_the_place_of_its_step(make_person: MakePerson) -> None:
    page = make_person(PHONE).open("conversations")
    page.get_by_role("button", name="More", exact=True).click()
    page.locator(".column").get_by_role("link", name="Keys and devices").click()
    at(page, "keys")
    page.go_back()
    at(page, "conversations")
    expect(page.get_by_role("button", name="More", exact=True)).to_have_attribute("aria-expanded", "false")


def test_stopping_everything_is_held_or_said_twice(make_person: MakePerson) -> None:
    page = make_person(DESKTOP, bypass_csp=True).open("keys")
    column = page.locator(".column")
    stopped = page.get_by_role("alert").get_by_text("Everything is stopped")
    column.get_by_role("button", name="Stop everything").click()
    expect(column.get_by_role("button", name="Stop now")).to_have_accessible_description(re.compile("."))
    assert violations(page) == []
    column.get_by_role("button", name="Stop now").click(delay=1500)
    expect(stopped).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(stopped).to_have_count(0)
    column.get_by_role("button", name="Stop everything").focus()
    page.keyboard.press("Enter")
    expect(column.get_by_role("button", name="Stop now")).to_be_focused()
    expect(stopped).to_have_count(0)
    page.wait_for_timeout(500)  # what comes sooner was part of the first press
    page.keyboard.press("Enter")
    expect(stopped).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(stopped).to_have_count(0)
