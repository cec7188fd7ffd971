"""Moments of the console that no address leads to: open menus, results, versions, a picture at full size."""

import json
from collections.abc import Callable

import httpx2
from playwright.sync_api import Page, expect

from tests.browser.console import furnishing
from tests.browser.console.furnished_lists import picture
from tests.browser.console.furnished_talks import SHOWN
from tests.browser.console.people import Person
from tests.browser.console.test_inbox_cards import serve
from tests.support.inbox_items import EVIL, ITEMS, as_shown
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
    expect(page.locator("iframe.diagram-frame")).to_be_visible()
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


def versions(person: Person) -> Page:
    page = talk(person, "versions")
    if not page.locator(".versions").count():
        page.locator(".message.assistant button:has(svg)").last.click()
    expect(page.locator(".versions").first).to_be_visible()
    expect(page.locator(".composer .spinner")).to_have_count(0)
    return page


def compare(person: Person) -> Page:
    page = versions(person)
    page.get_by_role("button", name="Compare answers").or_(page.get_by_role("button", name="vergleichen")).click()
    expect(page.locator(".compare .message").last).to_be_visible()
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
    expect(page.get_by_role("option").nth(3)).to_be_visible()
    return page


def shortcuts(person: Person) -> Page:
    page = person.open("keys")
    page.get_by_role("heading", level=1).focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    return page


def _menu(number: int) -> Scene:
    def opened(person: Person) -> Page:
        page = person.open("chat")
        page.locator(".conversation-header button").nth(number).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        return page

    return opened


def _typed(words: str) -> Scene:
    def written(person: Person) -> Page:
        page = person.open("chat")
        page.locator(".composer textarea").press_sequentially(words)
        expect(page.get_by_role("option").first).to_be_visible()
        return page

    return written


def attachments(person: Person) -> Page:
    page = person.open("chat")
    chosen = [("harbour at low tide in the evening.png", "image/png", picture(1200, 800)), ("list.txt", "text/plain", b"a")]
    chosen.append(("large.png", "image/png", bytes(5_000_001)))
    files = [{"name": name, "mimeType": kind, "buffer": data} for name, kind, data in chosen]
    page.locator("input[type=file][multiple]").set_input_files(files)  # type: ignore[arg-type]
    expect(page.locator(".composer .attachments li")).to_have_count(3)
    return page


def picture_sent(person: Person) -> Page:
    page = attachments(person)
    page.locator(".composer textarea").fill("What do you see?")
    page.locator(".composer textarea").press("Control+Enter")
    page.locator(".attachments.sent button").first.click()
    expect(page.get_by_role("dialog").get_by_role("img")).to_be_visible()
    return page


def settings(person: Person) -> Page:
    return person.open("computer/settings")


def inbox_cards(person: Person) -> Page:
    items = [json.loads(json.dumps(as_shown(each)).replace(json.dumps(EVIL)[1:-1], "harbour")) for each in ITEMS]
    serve(person.page, items, [])
    page = person.open("inbox")
    page.reload()
    expect(page.get_by_role("article")).to_have_count(len(ITEMS))
    return page


def doctor(person: Person) -> Page:
    (person.computer.home.root / "hooks.yaml").chmod(0o644)
    page = person.open("computer/doctor")
    expect(page.locator(".computer-problem").first).to_be_visible(timeout=120_000)
    return page


def imported(person: Person) -> Page:
    page = person.open("conversations/import")
    talks = [furnishing.talk("Kettles", 900, 3), furnishing.talk("Planning the garden for spring", 0, 0)]
    file = {"name": "conversations.json", "mimeType": "application/json", "buffer": json.dumps(talks).encode()}
    page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    page.locator("main form button, main .form-actions button").last.click()
    expect(page.locator(".import-state, .plain-list").first).to_be_visible()
    return page


SCENES: dict[str, Scene] = {
    **{each.__name__: each for each in (forms, forms_end, cards, versions, compare, find, palette, shortcuts)},
    **{each.__name__: each for each in (attachments, picture_sent, settings, inbox_cards, doctor, imported)},
    **{f"menu_{name}": _menu(number) for number, name in enumerate(("workspace", "model", "rights", "folder"))},
    "slash": _typed("/"),
    "at": _typed("Ask @Mar"),
}
