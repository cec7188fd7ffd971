"""Moments of the console that no address leads to: forms of text, cards of a turn, and results of a search."""

from collections.abc import Callable

import httpx2
from playwright.sync_api import Page, expect

from tests.browser.console.furnished_talks import SHOWN
from tests.browser.console.people import MILLISECONDS, Person
from tests.support.installation import PLAIN

Scene = Callable[[Person], Page]


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
    page.locator(".cards .card-actions button").first.click()
    return page


def find(person: Person) -> Page:
    page = talk(person, "forms")
    page.keyboard.press("Control+f")
    page.get_by_role("searchbox").fill("Helgoland")
    expect(page.get_by_role("status").filter(has_text="1")).to_be_visible()
    return page


def palette(person: Person) -> Page:
    page = person.open("keys")
    page.keyboard.press("Control+k")
    page.keyboard.type("garden")
    expect(page.get_by_role("option").nth(3)).to_be_visible(timeout=MILLISECONDS)
    return page


SCENES: dict[str, Scene] = {each.__name__: each for each in (forms, forms_end, cards, find, palette)}
