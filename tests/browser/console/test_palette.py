"""One field over everything, and the keys that lead around."""

import re
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.console import furnishing
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import DESKTOP, PHONE
from tests.support.computer import Computer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long

WORD = "Helgoland"


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """One word that is in a conversation, an entry, an entity and a file."""
    furnishing.install(computer, "daily")
    furnishing.install(computer, "brain")
    furnishing.add_conversations(computer)
    furnishing.bring(computer, furnishing.talk("A trip by boat", 800, 1, f"How far is {WORD}?"))
    furnishing.add_entity(computer, "person", "Ottokar Lind")
    furnishing.add_entry(computer, f"We sailed around {WORD}.")
    entry = furnishing.add_entry(computer, f"{WORD} with Ottokar Lind.")
    link = partial(furnishing.call, computer, "POST", f"/api/daily/entries/{quote(entry['id'])}/links")
    wait_until(lambda: link()["linked"], "Brain knows Ottokar, and the entry mentions them")
    furnishing.add_entity(computer, "project", f"Sailing to {WORD}")
    (computer.vault / "Notes").mkdir(exist_ok=True)
    (computer.vault / "Notes" / "tides.md").write_text(f"The tides of {WORD}.\n")
    for part, found in (("brain", "results"), ("daily", "entries"), ("files", "results")):
        path = f"/api/{part}/search?q={WORD}"
        wait_until(partial(found_at, computer, path, found), f"{part} is indexed")


def found_at(computer: Computer, path: str, member: str) -> Any:
    """The results of a search."""
    return furnishing.call(computer, "GET", path)[member]


def field(page: Page) -> Locator:
    """The field over everything."""
    return page.get_by_role("combobox", name="Search, or type what to do")


def group(page: Page, name: str) -> Locator:
    """The results of one kind."""
    return page.get_by_role("listbox").get_by_role("group", name=name).get_by_role("option")


def test_everything_that_has_the_word_is_found_and_opened(make_person: MakePerson) -> None:
    page = make_person(DESKTOP).open("keys")
    for name, place, seen in (
        ("Conversations", "#/chat/", f"How far is {WORD}?"),
        ("Journal", "#/journal/", f"We sailed around {WORD}."),
        ("People and things", "#/knowledge/entity/", f"Sailing to {WORD}"),
        ("Files", "#/files/", WORD),
    ):
        page.keyboard.press("Control+K")
        expect(field(page)).to_be_focused()
        page.keyboard.type(WORD.lower())
        found = group(page, name)
        expect(found.first).to_contain_text(WORD)
        found.first.click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page).to_have_url(re.compile(place))
        expect(page.locator("#main").get_by_text(seen).first).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile("#/knowledge/entity/"))


def test_by_keyboard_alone_to_a_screen_a_setting_and_a_command(make_person: MakePerson) -> None:
    page = make_person(DESKTOP).open("keys")
    page.keyboard.press("Control+K")
    page.keyboard.type("journ")
    first = group(page, "Screens").first
    expect(first).to_have_attribute("aria-selected", "true")
    expect(field(page)).to_have_attribute("aria-activedescendant", first.get_attribute("id") or "")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#/journal"))
    page.keyboard.press("Control+K")
    page.keyboard.type("dark appea")
    expect(group(page, "Commands")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-appearance", "dark")
    page.keyboard.press("Control+K")
    page.keyboard.type("backup.rep")
    expect(group(page, "Settings").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#/computer/settings"))
    page.keyboard.press("Control+K")
    page.keyboard.type("Stop every")
    expect(group(page, "Commands")).to_have_count(1)
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_search_that_fails_or_is_not_needed_leaves_the_others(make_person: MakePerson) -> None:
    person = make_person(DESKTOP)
    page = person.open("keys")
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=503, json={"detail": "Not now.", "key": "unavailable"})

    page.route("**/api/brain/search?*", refuse)
    page.keyboard.press("Control+K")
    page.keyboard.type(WORD)
    expect(page.get_by_text("No answer from: People and things.")).to_be_visible()
    expect(group(page, "Journal").first).to_be_visible()
    # Not letter by letter.
    assert len(asked) < len(WORD)
    assert asked[-1].endswith(f"q={WORD}&limit=5")
    field(page).fill("zzyzx nowhere")
    # What answers says what it looked through; the index is not through, perhaps.
    said = re.compile(r"Nothing found for “zzyzx nowhere” in [\d,]+ conversations, 2 entries, [\d,]+ files?\.")
    expect(page.get_by_role("status").get_by_text(said)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    person.forgive_refusals()


def test_filters_leave_out_what_they_cannot_be_applied_to(make_person: MakePerson) -> None:
    page = make_person(DESKTOP).open("keys")
    page.keyboard.press("Control+K")
    page.keyboard.type(WORD)
    expect(group(page, "Files").first).to_be_visible()
    # By keyboard alone: the chips are what follows the field, and a letter chooses.
    page.keyboard.press("Tab")
    expect(page.get_by_label("Kind")).to_be_focused()
    page.keyboard.type("Jour")
    expect(page.get_by_label("Kind")).to_have_value("journal")
    expect(group(page, "Journal")).to_have_count(2)
    expect(page.get_by_role("listbox").get_by_role("group")).to_have_count(1)
    page.get_by_label("Kind").select_option("")
    page.get_by_label("Time").select_option("today")
    expect(group(page, "Files").first).to_be_visible()
    expect(group(page, "Journal")).to_have_count(2)
    expect(group(page, "People and things")).to_have_count(0)
    page.get_by_label("Time").select_option("any")
    page.get_by_label("Person").select_option(label="Ottokar Lind")
    expect(group(page, "Files")).to_have_count(0)
    expect(group(page, "Journal")).to_have_count(1)
    expect(group(page, "Journal")).to_contain_text("with Ottokar Lind")
    expect(group(page, "People and things")).to_have_count(0)
    field(page).fill("Ottokar")
    expect(group(page, "People and things")).to_contain_text("Brain/entities/")
    # The next search is over everything again.
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Control+K")
    expect(page.get_by_label("Person").locator("option:checked")).to_have_text("Anybody")


def test_a_phone_has_a_button_for_it(make_person: MakePerson) -> None:
    page = make_person(PHONE).open("conversations")
    page.locator(".bar").get_by_role("button", name="Search").click()
    field(page).fill(WORD)
    group(page, "Journal").first.click()
    expect(page).to_have_url(re.compile("#/journal/"))
    page.locator(".bar").get_by_role("button", name="Search").click()
    expect(field(page)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(re.compile("#/journal/"))


def test_single_keys_lead_around_and_never_while_somebody_types(make_person: MakePerson) -> None:
    page = make_person(DESKTOP).open("keys")
    page.keyboard.press("g")
    page.keyboard.press("l")
    expect(page).to_have_url(re.compile("#/conversations$"))
    search = page.get_by_label("Search conversations")
    expect(search).to_be_visible()
    page.keyboard.press("/")
    expect(search).to_be_focused()
    page.keyboard.type("g n ? /")
    expect(search).to_have_value("g n ? /")
    expect(page).to_have_url(re.compile("#/conversations$"))
    page.get_by_role("heading", name="Conversations", level=1).focus()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("#/chat$"))
    expect(page.get_by_role("heading", name="New conversation")).to_be_visible()
    page.get_by_role("heading", name="New conversation").focus()
    page.keyboard.press("/")
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    page.get_by_role("heading", name="New conversation").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.get_by_role("switch", name="Single keys").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("heading", name="New conversation").focus()
    for key in ("g", "j", "?"):
        page.keyboard.press(key)
    page.keyboard.press("Control+K")
    expect(field(page)).to_be_focused()
    expect(page).to_have_url(re.compile("#/chat$"))


CHOOSES = """new MutationObserver((_, observer) => {
  const field = document.querySelector('main input[type=search]');
  if (!field) return;
  observer.disconnect();
  field.focus();
}).observe(document, { childList: true, subtree: true })"""


def test_a_field_that_was_chosen_as_soon_as_it_was_there_keeps_the_cursor(make_person: MakePerson) -> None:
    page = make_person(DESKTOP).open("keys")
    page.evaluate(CHOOSES)
    page.goto(f"{page.url.split('#')[0]}#/conversations")
    expect(page.locator("#main .row").first).to_be_visible()
    page.keyboard.type("boat")
    expect(page.get_by_label("Search conversations")).to_have_value("boat")


def test_screen_readers_find_both(make_person: MakePerson) -> None:
    page = make_person(DESKTOP, bypass_csp=True).open("keys")
    page.keyboard.press("Control+K")
    page.keyboard.type(WORD)
    expect(group(page, "Files").first).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    assert violations(page) == []
