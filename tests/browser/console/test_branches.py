"""Other versions of a message in the browser: edited, answered again, compared, and followed by other windows."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.people import DESKTOP, Person
from tests.browser.console.test_chat import PICTURE, say
from tests.support.gate import Gate
from tests.support.messages_api import MessagesAPI
from tests.support.replies import Pause, Reply, text

pytestmark = pytest.mark.long


def answers(page: Page, *said: str) -> None:
    """Expect these answers and no others."""
    expect(page.get_by_label("Agent", exact=True)).to_have_text([re.compile(f"^{each}") for each in said])


def asked(page: Page, *said: str) -> None:
    """Expect these messages of the person and no others."""
    expect(page.get_by_label("You", exact=True)).to_have_text([re.compile(f"^{each}") for each in said])


def talk(page: Page, *words: str) -> None:
    """Say things, each after the answer to the one before."""
    for number, each in enumerate(words, 1):
        say(page, each)
        expect(page.get_by_role("button", name="Copy")).to_have_count(2 * number)


def edit(page: Page, message: int, words: str) -> None:
    """Send a message once more with other words."""
    page.get_by_role("button", name="Edit this message").nth(message).click()
    page.get_by_label("Edited message").fill(words)
    page.locator(".editing").get_by_role("button", name="Send").click()


@at_both_sizes
def test_an_edited_message_is_a_version_with_a_way_back(person: Person, model: MessagesAPI) -> None:
    model.script(*(text(f"Answer {number}.") for number in range(4)))
    page = person.open("chat")
    talk(page, "Alpha", "Beta", "Gamma")
    first = page.url
    edit(page, 1, "Delta")
    asked(page, "Alpha", "Delta")
    answers(page, "Answer 0", "Answer 3")
    sent = str(model.conversation[-1].body["messages"])
    assert [word in sent for word in ("Alpha", "Beta", "Delta", "Gamma")] == [True, False, True, False]
    expect(page).not_to_have_url(first)
    page.reload()
    asked(page, "Alpha", "Delta")
    versions = page.get_by_role("group", name="Versions")
    expect(versions).to_have_text("2/2")
    page.get_by_role("link", name="Previous version").click()
    asked(page, "Alpha", "Beta", "Gamma")
    expect(versions).to_have_text("1/2")
    page.get_by_role("link", name="Next version").click()
    asked(page, "Alpha", "Delta")
    page.go_back()
    page.go_back()
    page.go_back()
    asked(page, "Alpha", "Beta", "Gamma")


def test_a_family_is_one_line_that_leads_to_the_newest(make_person: MakePerson, model: MessagesAPI) -> None:
    model.script(text("Of gneiss."), text("Of shale."))
    page = make_person(DESKTOP).open("chat")
    talk(page, "Quarrymen")
    first = page.url
    edit(page, 0, "Quarrywomen")
    answers(page, "Of shale.")
    second = page.url.partition("?")[0]
    beside = page.get_by_role("complementary", name="Conversations")
    line = beside.get_by_role("link").filter(has_text=re.compile("Quarry.*2 versions"))
    expect(line).to_have_count(1)
    expect(line).to_have_attribute("aria-current", "page")
    page.goto(first)
    answers(page, "Of gneiss.")
    # It is a version of what the line stands for.
    expect(line).to_have_attribute("aria-current", "page")
    line.click()
    answers(page, "Of shale.")
    for word, address in (("gneiss", first), ("shale", second)):
        beside.get_by_label("Search conversations").fill(word)
        found = beside.get_by_role("link").filter(has_text=f"Of {word}.")
        expect(found).to_have_count(1)
        found.click()
        expect(page).to_have_url(re.compile(re.escape(address.rpartition("/")[2])))
    beside.get_by_label("Search conversations").fill("")
    beside.get_by_role("listitem").filter(has_text=re.compile("Quarry.*2 versions")).get_by_role(
        "button", name=re.compile("^Actions for")
    ).click()
    page.get_by_role("dialog").get_by_role("button", name="Archive").click()
    expect(line).to_have_count(0)
    expect(beside.get_by_role("link").filter(has_text="Quarry")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(line).to_have_count(1)


def test_a_draft_of_an_edit_stays(person: Person) -> None:
    page = person.open("chat")
    talk(page, "Alpha")
    page.get_by_role("button", name="Edit this message").click()
    page.get_by_label("Edited message").fill("Half a thought")
    page.reload()
    expect(page.get_by_label("Edited message")).to_have_value("Half a thought")
    page.keyboard.press("Escape")
    asked(page, "Alpha")
    page.reload()
    asked(page, "Alpha")
    expect(page.get_by_label("Edited message")).to_have_count(0)


@at_both_sizes
def test_answers_are_had_again_and_compared(person: Person, model: MessagesAPI) -> None:
    model.script(text("A heron."), text("A stork."))
    page = person.open("chat")
    file = {"name": "c.png", "mimeType": "image/png", "buffer": PICTURE}
    page.locator("input[type=file][multiple]").set_input_files(file)  # type: ignore[arg-type]
    talk(page, "Which bird?")
    page.get_by_role("button", name="Try again").click()
    answers(page, "A stork.")
    assert "image" in str(model.conversation[-1].body["messages"])
    expect(page.get_by_label("Agent", exact=True).get_by_role("group", name="Versions")).to_have_text("2/2")
    expect(page.get_by_label("You", exact=True).get_by_role("img", name="c.png")).to_have_js_property("naturalWidth", 1)
    page.get_by_role("button", name="Compare answers").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("region", name="1/2")).to_contain_text("A heron.")
    expect(dialog.get_by_role("region", name="2/2")).to_contain_text("A stork.")
    boxes = [dialog.get_by_role("region", name=name).bounding_box() for name in ("1/2", "2/2")]
    assert boxes[0] is not None
    assert boxes[1] is not None
    is_wide = (page.viewport_size or {"width": 0})["width"] > 800
    assert (boxes[0]["y"] == boxes[1]["y"]) is is_wide
    dialog.get_by_role("link", name="Go on with this one").first.click()
    answers(page, "A heron.")


def test_other_windows_hear_of_versions_titles_and_stops(make_person: MakePerson, model: MessagesAPI) -> None:
    gate = Gate()
    model.script(text("One."), text("Two."), Reply((*text("Endless").parts, Pause(gate))))
    person = make_person()
    one = person.open("chat")
    talk(one, "Alpha")
    other = person.context.new_page()
    other.goto(one.url)
    answers(other, "One.")
    edit(one, 0, "Beta")
    answers(one, "Two.")
    expect(other.get_by_role("group", name="Versions")).to_have_text("1/2")
    other.get_by_role("link", name="Next version").click()
    answers(other, "Two.")
    say(one, "Go on for ever.")
    expect(other.get_by_text("Endless")).to_be_visible()
    other.get_by_role("button", name="Stop", exact=True).click()
    for page in (one, other):
        expect(page.get_by_text("Stopped.")).to_be_visible()
        expect(page.get_by_text("Endless")).to_be_visible()
    gate.open()
    one.get_by_role("button", name="Settings of this conversation").click()
    one.get_by_label("Title").fill("Another name")
    one.get_by_role("button", name="Save").click()
    expect(other.get_by_role("heading", name="Another name")).to_be_visible()
    other.reload()
    expect(other.get_by_text("Endless")).to_be_visible()
