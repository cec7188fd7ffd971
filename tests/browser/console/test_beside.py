"""Conversations beside the chat: found at their place, kept on top, put away, and saved as files."""

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.console import furnishing
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.chat.imports import exports
from tests.support.computer import Computer

pytestmark = pytest.mark.long

LONG = "A long talk about lighthouses"


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """Sixty conversations, one of them in a workspace, and a long one."""
    sessions = furnishing.add_conversations(computer)
    furnishing.add_workspace(computer, "Garden", sessions[:1])
    nodes = [exports.node("root", None)]
    at = time.time() - 100 * 86_400
    for number in range(150):
        said = f"Question number {number}" + (" about the periwinkle" if number == 12 else "")
        nodes.append(exports.node(f"q{number}", nodes[-1]["id"], "user", said, time=at + number))
        nodes.append(exports.node(f"a{number}", f"q{number}", "assistant", "A word. " * 40, time=at + number))
    furnishing.bring(computer, exports.tree(*nodes, title=LONG, current="a149", name="long", create_time=at))


def beside(page: Page) -> Locator:
    """The list beside the chat."""
    return page.get_by_role("complementary", name="Conversations")


def act(page: Page, within: Locator, title: str, action: str) -> None:
    """Choose what to do with a conversation."""
    within.get_by_role("button", name=f"Actions for {title}", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name=action, exact=True).click()


def sees_the_place(page: Page) -> None:
    """The message with the word is in sight, though it is far from the end."""
    expect(page.get_by_role("heading", name=LONG)).to_be_visible()
    expect(page.locator("#main").get_by_text("Question number 12 about the periwinkle")).to_be_in_viewport()


def test_the_list_leads_to_conversations_and_can_be_hidden(make_person: MakePerson) -> None:
    page = make_person(DESKTOP).open("chat")
    expect(beside(page).get_by_role("region", name="Garden").get_by_role("link")).to_have_text(
        ["Planning the garden for spring"]
    )
    opened = beside(page).get_by_role("link", name="Why does bread need salt?")
    opened.click()
    expect(page.get_by_role("heading", name="Why does bread need salt?")).to_be_visible()
    expect(opened).to_have_attribute("aria-current", "page")
    beside(page).get_by_role("button", name="Hide conversations").click()
    expect(opened).to_have_count(0)
    page.reload()
    beside(page).get_by_role("button", name="Show conversations").click()
    expect(opened).to_be_visible()
    page.set_viewport_size({"width": 900, "height": 800})
    expect(beside(page)).to_have_count(0)


def test_what_is_found_opens_at_its_place(make_person: MakePerson) -> None:
    page = make_person(DESKTOP).open("chat")
    beside(page).get_by_label("Search conversations").fill("Periwinkle")
    expect(beside(page).get_by_text("Question number 12 about the periwinkle")).to_be_visible()
    beside(page).get_by_role("link", name=LONG).click()
    sees_the_place(page)


def test_a_phone_finds_the_same_place(make_person: MakePerson) -> None:
    page = make_person(PHONE).open("conversations")
    page.get_by_label("Search conversations").fill("periwinkle")
    expect(page.get_by_text("Question number 12 about the periwinkle")).to_be_visible()
    page.get_by_role("link", name=LONG).click()
    sees_the_place(page)


@at_both_sizes
def test_a_pinned_conversation_is_on_top(person: Person) -> None:
    is_phone = person.context.pages[0].viewport_size == PHONE["viewport"]
    page = person.open("conversations" if is_phone else "chat")
    within = page.locator("main") if is_phone else beside(page)
    title = "The budget of the choir"
    act(page, within, title, "Pin")
    pinned = within.get_by_role("list", name="Pinned") if is_phone else within.get_by_role("region", name="Pinned")
    expect(pinned.get_by_role("link")).to_have_text([title])
    expect(within.get_by_role("link", name=title)).to_have_count(1)
    page.reload()
    expect(pinned.get_by_role("link")).to_have_text([title])
    act(page, within, title, "Unpin")
    expect(pinned).to_have_count(0)


def test_archive_rename_and_delete_beside_the_chat(make_person: MakePerson) -> None:
    page = make_person(DESKTOP).open("chat")
    title = "Repairing the red bicycle"
    act(page, beside(page), title, "Archive")
    expect(beside(page).get_by_role("link", name=title)).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(beside(page).get_by_role("link", name=title)).to_be_visible()
    act(page, beside(page), title, "Rename")
    page.get_by_label("Name", exact=True).fill("The blue bicycle")
    page.keyboard.press("Enter")
    beside(page).get_by_role("link", name="The blue bicycle").click()
    expect(page.get_by_role("heading", name="The blue bicycle")).to_be_visible()
    act(page, beside(page), "The blue bicycle", "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page).to_have_url(re.compile("#/chat$"))
    expect(beside(page).get_by_role("link", name="The blue bicycle")).to_have_count(0)


def test_one_conversation_is_saved_as_a_file(make_person: MakePerson, tmp_path: Path) -> None:
    page = make_person(DESKTOP).open("chat")
    for action, ending in (("Save as Markdown", ".md"), ("Save as a web page", ".html")):
        with page.expect_download() as saving:
            act(page, beside(page), "A letter to the landlord", action)
        assert re.fullmatch(
            rf"\d{{4}}-\d\d-\d\d-A-letter-to-the-landlord-\w+\{ending}", saving.value.suggested_filename
        )
        saving.value.save_as(tmp_path / f"saved{ending}")
        text = (tmp_path / f"saved{ending}").read_text()
        assert "Let us look at it together." in text
        assert "You" in text


def test_screen_readers_find_the_list(make_person: MakePerson) -> None:
    page = make_person(DESKTOP, bypass_csp=True).open("chat")
    expect(beside(page).get_by_role("link", name="Why does bread need salt?")).to_be_visible()
    assert violations(page) == []
