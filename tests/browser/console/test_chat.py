"""Conversations in the browser: an answer that streams, tools, files, a reload in between, and what was changed."""

import base64
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.console import furnishing
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.people import Person
from tests.chat.imports import exports
from tests.support.computer import Computer
from tests.support.gate import Gate
from tests.support.messages_api import MessagesAPI
from tests.support.replies import Pause, Reply, text, tool_use

pytestmark = pytest.mark.long

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def say(page: Page, words: str) -> None:
    """Write a message and send it."""
    page.get_by_label("Message", exact=True).fill(words)
    page.get_by_role("button", name="Send").click()


@at_both_sizes
def test_an_answer_streams_and_stays(person: Person, model: MessagesAPI) -> None:
    gate = Gate()
    model.script(Reply((*text("First **half**").parts, Pause(gate), *text("\n\nSecond half").parts)))
    page = person.open("chat")
    say(page, "Two halves, please.")
    log = page.get_by_role("log")
    expect(log.get_by_text("half", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    gate.open()
    expect(log.get_by_text("Second half")).to_be_visible()
    expect(page).to_have_url(re.compile(r"#/chat/[0-9a-f-]{36}$"))
    page.reload()
    expect(page.get_by_role("log").get_by_text("Second half")).to_be_visible()
    expect(page.get_by_role("heading", name="Two halves, please.")).to_be_visible()


def test_what_is_typed_before_a_conversation_has_begun_goes_with_it(make_person: MakePerson) -> None:
    page = make_person().open("chat")
    held: list[Route] = []
    page.route("**/api/chat?text=delta", lambda route: held.append(route))
    say(page, "Begin.")
    message = page.get_by_label("Message", exact=True)
    expect(page.get_by_role("log").get_by_text("Begin.")).to_be_visible()
    message.press_sequentially("And then")
    for route in held:
        route.continue_()
    expect(page).to_have_url(re.compile(r"#/chat/[0-9a-f-]{36}$"))
    expect(page.get_by_role("log").get_by_text("Hello.")).to_be_visible()
    expect(message).to_be_focused()
    expect(message).to_have_value("And then")
    page.reload()
    expect(message).to_have_value("And then")
    page.get_by_role("link", name="New conversation").click()
    expect(message).to_have_value("")


def test_a_reload_in_the_middle_takes_the_answer_up_again(person: Person, model: MessagesAPI) -> None:
    gate = Gate()
    model.script(Reply((*text("Until here").parts, Pause(gate), *text(" and on").parts)))
    page = person.open("chat")
    say(page, "Slowly.")
    expect(page.get_by_text("Until here")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Until here")).to_be_visible()
    gate.open()
    expect(page.get_by_text("Until here and on")).to_be_visible()
    expect(page.get_by_label("You").get_by_text("Slowly.")).to_have_count(1)


def test_stopping(person: Person, model: MessagesAPI) -> None:
    gate = Gate()
    model.script(Reply((*text("Endless").parts, Pause(gate))))
    page = person.open("chat")
    say(page, "Go on for ever.")
    expect(page.get_by_text("Endless")).to_be_visible()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("Stopped.")).to_be_visible()
    gate.open()


def test_a_tool_call_is_folded_and_says_what_it_did(person: Person, model: MessagesAPI) -> None:
    model.script(tool_use("Bash", {"command": "echo told-by-the-tool"}), text("It said so."))
    page = person.open("chat")
    say(page, "Run something.")
    expect(page.get_by_text("It said so.")).to_be_visible()
    call = page.get_by_text("echo told-by-the-tool")
    expect(page.locator(".text-block", has_text="told-by-the-tool")).to_have_count(0)
    call.click()
    expect(page.locator(".text-block", has_text="told-by-the-tool")).to_be_visible()


def test_hostile_text_stays_text(make_person: MakePerson, model: MessagesAPI) -> None:
    hostile = "<img src=x onerror=alert(1)> ![a](http://192.0.2.1/x.png) [click](javascript:alert(1)) <script>alert(1)</script>"
    model.script(text(hostile))
    person = make_person()
    page = person.open("chat")
    say(page, hostile)
    answer = page.get_by_label("Agent", exact=True)
    expect(answer.get_by_text("<script>alert(1)</script>")).to_be_visible()
    assert page.locator(".log img, .log script").count() == 0
    assert page.locator(".log a[href^='javascript']").count() == 0


def test_messages_before_the_newest_are_read(person: Person, computer: Computer) -> None:
    """Of 1,201 messages the page fetches 500 at first, and draws 40 of them."""
    nodes = [exports.node("root", None)]
    for number in range(1200):
        role = "assistant" if number % 2 else "user"
        nodes.append(exports.node(f"n{number}", nodes[-1]["id"], role, f"Word {number}", time=1_700_000_000 + number))
    talk = exports.tree(*nodes, title="A long talk", current="n1199", name="long")
    answer = furnishing.bring(computer, talk)
    (session,) = answer["session_ids"]
    page = person.open(f"chat/{session}")
    log = page.get_by_role("log")
    expect(log.get_by_text("Word 1199", exact=True)).to_be_visible()
    expect(log.get_by_text("Word 1160", exact=True)).to_be_attached()
    expect(log.get_by_text("Word 1159", exact=True)).to_have_count(0)
    earlier = page.get_by_role("button", name="Show earlier messages")
    for shown in range(1060, -1, -100):
        earlier.click()
        expect(log.get_by_text(f"Word {shown}", exact=True)).to_be_attached()
    earlier.click()
    expect(log.get_by_text("Word 0", exact=True)).to_be_attached()
    expect(earlier).to_have_count(0)
    expect(log.get_by_text(re.compile(r"^Word \d+$"))).to_have_text([f"Word {number}" for number in range(1200)])


def test_several_files_are_sent_and_shown(person: Person) -> None:
    page = person.open("chat")
    files = [
        {"name": "a.txt", "mimeType": "text/plain", "buffer": b"inside-of-a"},
        {"name": "b.txt", "mimeType": "text/plain", "buffer": b"inside-of-b"},
        {"name": "c.png", "mimeType": "image/png", "buffer": PICTURE},
    ]
    page.locator("input[type=file][multiple]").set_input_files(files)  # type: ignore[arg-type]
    expect(page.locator(".composer .attachments li")).to_have_count(3)
    say(page, "Three files.")
    expect(page.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_be_visible()
    for _ in range(2):
        sent = page.get_by_role("list", name="Files of this message")
        expect(sent.get_by_text("a.txt")).to_be_visible()
        expect(sent.get_by_text("b.txt")).to_be_visible()
        expect(sent.get_by_role("img", name="c.png")).to_have_js_property("naturalWidth", 1)
        expect(page.get_by_text("inside-of-a")).to_have_count(0)
        page.reload()


def test_two_windows_follow_each_other(make_person: MakePerson) -> None:
    person = make_person()
    one = person.open("chat")
    say(one, "Yes.")
    expect(one.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_have_count(1)
    other = person.context.new_page()
    other.goto(one.url)
    expect(other.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_have_count(1)
    say(one, "Yes.")
    for page in (one, other):
        expect(page.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_have_count(2)
        expect(page.get_by_label("You", exact=True)).to_have_count(2)


def test_two_devices_show_the_same(make_person: MakePerson, model: MessagesAPI) -> None:
    gate = Gate()
    model.script(Reply((*text("Shared").parts, Pause(gate), *text(" end").parts)))
    one, other = make_person(), make_person()
    say(one.open("chat"), "For both.")
    expect(one.page.get_by_text("Shared")).to_be_visible()
    other.page.goto(one.page.url)
    expect(other.page.get_by_text("Shared")).to_be_visible()
    gate.open()
    for page in (one.page, other.page):
        # Two blocks of one answer: beside each other while they come, and paragraphs of their own in what is read later.
        expect(page.get_by_label("Agent", exact=True).last).to_contain_text(re.compile(r"Shared\s*end"))
