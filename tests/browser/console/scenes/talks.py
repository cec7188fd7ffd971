"""Conversations: forms of text, cards of a turn, versions, and what is asked."""

import httpx2
from playwright.sync_api import Page, expect

from tests.browser.console.furnished_talks import SHOWN
from tests.browser.console.people import MILLISECONDS, Person
from tests.browser.console.scenes.pressing import dialog, press
from tests.browser.console.spoken import spoken
from tests.support.installation import PLAIN


def talk(person: Person, name: str) -> Page:
    """The page of one of the conversations that show something."""
    found = httpx2.get(f"{person.computer.url}/api/chat", params={"limit": 200}, timeout=60, **PLAIN).json()["sessions"]
    word = SHOWN[name].split()[-1].strip("?.")
    session = next(each["id"] for each in found if word in (each.get("title") or ""))
    page = person.open(f"chat/{session}")
    expect(page.locator(".message.assistant").last).to_be_visible()
    return page


def forms(person: Person) -> Page:
    page = talk(person, "forms")
    page.get_by_text("mermaid").scroll_into_view_if_needed()
    expect(page.locator(".diagram img")).to_be_visible(timeout=MILLISECONDS)
    page.locator(".message.user").first.scroll_into_view_if_needed()
    return page


def forms_end(person: Person) -> Page:
    page = forms(person)
    page.evaluate("scrollTo(0, 100000)")
    return page


def cards(person: Person) -> Page:
    page = talk(person, "cards")
    page.locator(".cards").last.scroll_into_view_if_needed()
    return page


def cards_open(person: Person) -> Page:
    page = cards(person)
    press(page, "Difference", page.locator(".cards").last)
    return page


def tool(person: Person) -> Page:
    page = talk(person, "cards")
    page.locator("details.fold summary").first.click()
    return page


def versions(person: Person) -> Page:
    page = talk(person, "versions")
    expect(page.get_by_role("group", name=spoken(page, "Versions")).first).to_be_visible()
    return page


def compare(person: Person) -> Page:
    page = versions(person)
    press(page, "Compare answers")
    return dialog(page)


def editing(person: Person) -> Page:
    page = versions(person)
    press(page, "Edit this message")
    expect(page.locator(".editing")).to_be_visible()
    return page


def options(person: Person) -> Page:
    page = talk(person, "cards")
    press(page, "Settings of this conversation")
    return dialog(page)


def turns(person: Person) -> Page:
    page = talk(person, "cards")
    press(page, "Changes")
    return dialog(page)


def choices_of_model(person: Person) -> Page:
    page = person.open("chat")
    page.locator(".conversation-header button").nth(1).click()
    return dialog(page)


def asked(person: Person) -> Page:
    page = talk(person, "asked")
    expect(page.locator(".question")).to_be_visible()
    return page


def find(person: Person) -> Page:
    page = talk(person, "forms")
    page.keyboard.press("Control+f")
    page.locator(".find input").fill("Helgoland")
    expect(page.get_by_role("status").filter(has_text="1")).to_be_visible()
    return page


def forget(person: Person) -> Page:
    page = person.open("keys")
    page.keyboard.press("Control+k")
    page.keyboard.type("peas")
    page.locator(".palette > button").click()
    page.locator("dialog form button[type=submit]").click()
    expect(page.locator("dialog input[type=checkbox]").first).to_be_visible(timeout=MILLISECONDS)
    return page


def palette(person: Person) -> Page:
    page = person.open("keys")
    page.keyboard.press("Control+k")
    page.keyboard.type("garden")
    expect(page.locator(".palette-found [role=option]").nth(3)).to_be_visible(timeout=MILLISECONDS)
    return page
