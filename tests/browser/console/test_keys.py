"""Devices: a further browser pairs by a code, an app gets a key, and either can be removed."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import PHONE, Person

pytestmark = pytest.mark.long


def test_a_phone_is_paired_with_the_code_of_a_desktop(make_person: MakePerson, browser: Browser) -> None:
    owner = make_person()
    page = owner.open("keys")
    page.get_by_role("button", name="Add a device").click()
    page.get_by_label("Name").fill("Kitchen")
    page.get_by_label("Rights").select_option("Read knowledge and journal (family device)")
    page.get_by_role("button", name="Show a code").click()
    code = page.locator(".pairing-code").inner_text()
    phone = Person(browser, owner.computer, PHONE)
    phone.page.goto(owner.computer.url)
    phone.page.get_by_label("Code or key").fill(code)
    phone.page.get_by_role("button", name="Sign in").click()
    expect(phone.page.locator("nav.bar")).to_be_visible()
    # The code that was used goes from the desktop by itself.
    expect(page.get_by_role("dialog")).to_have_count(0)
    kitchen = page.get_by_role("listitem").filter(has_text="Kitchen")
    expect(kitchen).to_contain_text("read the journal, read knowledge")
    kitchen.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(kitchen).to_have_count(0)
    phone.page.reload()
    expect(phone.page.get_by_role("heading", name="Sign in to your computer")).to_be_visible()
    phone.context.close()


def test_a_key_is_shown_once_and_removed(person: Person) -> None:
    page = person.open("keys")
    page.get_by_role("button", name="Add a device").click()
    page.get_by_label("Kind of device").select_option("The Parachute app, or a program")
    page.get_by_label("Name").fill("Ada's phone")
    page.get_by_role("button", name="Create a key").click()
    shown = page.get_by_role("dialog")
    expect(shown).to_contain_text("para_")
    secret = shown.locator("code").last.inner_text()
    shown.get_by_role("button", name="Done").click()
    expect(page.get_by_text(secret)).to_have_count(0)
    row = page.get_by_role("listitem").filter(has_text="Ada's phone")
    expect(row).to_contain_text("everything")
    row.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(row).to_be_visible()
    row.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)


def test_language_and_appearance_hold_for_this_browser(person: Person) -> None:
    page = person.open("keys")
    page.get_by_role("button", name="More").click()
    page.get_by_text("Language and look").click()
    page.get_by_label("Language").select_option("Deutsch")
    expect(page.get_by_text("Sprache und Darstellung")).to_be_visible()
    page.get_by_label("Darstellung").select_option("Dunkel")
    page.reload()
    expect(page.get_by_role("heading", name="Schlüssel und Geräte")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "de"
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_signing_out_ends_it(make_person: MakePerson) -> None:
    page = make_person(PHONE).open("keys")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to your computer")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Sign in to your computer")).to_be_visible()
