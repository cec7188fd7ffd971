"""The list of conversations: found, put away, renamed and deleted, and what comes from elsewhere."""

import io
import json
import re
from base64 import b64decode
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.console import furnishing
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.chat.imports import exports
from tests.support.computer import Computer

pytestmark = pytest.mark.long
WHOLE = True

HOSTILE = "<img src=x onerror=alert(1)> \u202etxt.exe"


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """Sixty conversations, one of them in a workspace, and a history with Claude Code."""
    sessions = furnishing.add_conversations(computer)
    furnishing.add_workspace(computer, "Garden", sessions[:1])
    furnishing.add_claude_code(computer)


def act(page: Page, title: str, action: str) -> None:
    """Choose what to do with a conversation."""
    page.get_by_role("button", name=f"Actions for {title}", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name=action, exact=True).click()


def rows(page: Page) -> Locator:
    """The lines of the list."""
    return page.get_by_role("list", name="Conversations").get_by_role("listitem")


@pytest.fixture(autouse=True)
def _imports(computer: Computer) -> None:
    """The module that imports is there."""
    furnishing.install(computer, "imports")


@at_both_sizes
def test_pages_and_search_as_one_types(person: Person) -> None:
    page = person.open("conversations")
    expect(rows(page)).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(rows(page)).not_to_have_count(50)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    page.get_by_label("Search conversations").fill("lis")
    expect(rows(page)).to_have_count(1)
    expect(page.get_by_role("link", name="Trip to Lisbon with Maria")).to_have_attribute(
        "href", re.compile(r"^#/chat/[\w-]+\?find=lis$")
    )
    page.get_by_label("Search conversations").fill("nowhere at all")
    page.get_by_role("button", name="Clear the search").click()
    expect(rows(page)).to_have_count(50)


def test_a_workspace_and_the_archive(person: Person) -> None:
    page = person.open("conversations")
    page.get_by_role("button", name="Garden", exact=True).click()
    expect(rows(page)).to_have_count(1)
    page.get_by_role("button", name="All", exact=True).click()
    title = "Explaining tides to a child"
    act(page, title, "Archive")
    expect(page.get_by_role("link", name=title)).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name=title)).to_be_visible()
    act(page, title, "Archive")
    page.get_by_role("button", name="Archived", exact=True).click()
    expect(rows(page)).to_have_count(1)
    # Both hold together, and after a reload.
    page.get_by_role("button", name="Garden", exact=True).click()
    expect(page.get_by_text("Nothing is archived")).to_be_visible()
    page.reload()
    for chosen in ("Garden", "Archived"):
        expect(page.get_by_role("button", name=chosen, exact=True)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="All", exact=True).click()
    act(page, title, "Move out of the archive")
    expect(page.get_by_text("Nothing is archived")).to_be_visible()


def test_renaming_ending_and_deleting(person: Person, computer: Computer) -> None:
    answer = furnishing.bring(computer, furnishing.talk("Short", 900, 0))
    (session,) = answer["session_ids"]
    page = person.open("conversations")
    act(page, "Short", "Rename")
    page.get_by_label("Name", exact=True).fill(HOSTILE)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=HOSTILE)).to_be_visible()
    assert page.locator("main img").count() == 0
    act(page, HOSTILE, "End now")
    expect(page.get_by_text("has ended")).to_be_visible()
    act(page, HOSTILE, "Delete")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("link", name=HOSTILE)).to_be_visible()
    act(page, HOSTILE, "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("link", name=HOSTILE)).to_have_count(0)
    found = furnishing.call(computer, "GET", "/api/chat", params={"limit": 1000})["sessions"]
    assert session not in [each["id"] for each in found]


def test_another_device_shows_what_changed(make_person: MakePerson, computer: Computer) -> None:
    page = make_person().open("conversations")
    expect(rows(page)).to_have_count(50)
    talks = [furnishing.talk("From another device", 901, 0)]
    (session,) = furnishing.bring(computer, *talks)["session_ids"]
    expect(page.get_by_role("link", name="From another device")).to_be_visible()
    furnishing.call(computer, "DELETE", f"/api/chat/{session}")
    expect(page.get_by_role("link", name="From another device")).to_have_count(0)


def test_a_conversation_is_adopted_from_claude_code(make_person: MakePerson) -> None:
    page = make_person(PHONE).open("conversations")
    page.get_by_role("link", name="Conversations of Claude Code").click()
    soon = page.get_by_role("list", name="Deleted soon")
    expect(soon.get_by_role("listitem")).to_have_count(1)
    page.get_by_role("button", name="Keep all").click()
    expect(page.get_by_text("1 conversation is kept here now.")).to_be_visible()
    expect(soon).to_have_count(0)
    page.get_by_label("Find by title or project").fill("website")
    newest = page.get_by_role("list", name="Newest")
    expect(newest.get_by_role("listitem")).to_have_count(1)
    newest.get_by_role("button", name="Continue here").click()
    expect(page).to_have_url(re.compile(r"#/chat/[0-9a-f-]{36}$"))
    page.goto(re.sub("#.*", "#/conversations", page.url))
    expect(page.get_by_role("link", name="Make the pictures smaller")).to_be_visible()


def test_an_export_is_looked_at_imported_and_taken_back(person: Person) -> None:
    talks = [
        exports.tree(
            exports.node("root", None),
            exports.node("q", "root", "user", "Which kettle?"),
            exports.node("i", "q", "user", kind="multimodal_text", parts=[{"content_type": "image_asset_pointer"}]),
            exports.node("a", "i", "assistant", "The red one."),
            title="Kettles",
            current="a",
            name="kettle",
        )
    ]
    page = person.open("conversations/import")
    file = {"name": "kettles.json", "mimeType": "application/json", "buffer": json.dumps(talks).encode()}
    page.get_by_label("Export").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_role("heading", name="Contents")).to_be_visible()
    expect(page.get_by_text("pictures: the export does not have them")).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("link", name="Show conversations")).to_be_visible()
    page.get_by_role("link", name="Show conversations").click()
    page.get_by_label("Search conversations").fill("Kettles")
    expect(page.get_by_role("link", name="Kettles")).to_be_visible()
    page.go_back()
    # Not for an hour: what it brought is known no more.
    page.clock.set_fixed_time(datetime.now(UTC) + timedelta(hours=2))
    page.get_by_role("button", name="Undo").click()
    question = page.get_by_role("dialog", name="Undo the import of “kettles.json”?")
    expect(question.get_by_text("1 conversation")).to_be_visible()
    question.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone", exact=True)).to_be_visible()
    page.get_by_role("button", name="Remove from the list").click()
    expect(page.get_by_role("heading", name="Import", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="kettles.json")).to_have_count(0)


def test_pictures_of_an_export_stand_in_their_messages(person: Person) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_0000aa11"}
    drawing = b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
    )
    attached = {"attachments": [{"id": "file_0000bb22", "name": "roof.pdf", "mime_type": "application/pdf"}]}
    talk = exports.tree(
        exports.node("q", None, kind="multimodal_text", parts=[picture, "Is this a gable?"], metadata=attached),
        exports.node("d", "q", "tool", kind="multimodal_text", parts=[picture]),
        exports.node("a", "d", "assistant", "It is."),
        title="Gables",
        name="gable",
    )
    export: dict[str, exports.Content] = {
        "conversations.json": json.dumps([talk]),
        "file_0000aa11-gable.png": drawing,
        "file_0000bb22.dat": b"%PDF-1",
    }
    page = person.open("conversations/import")
    file = {"name": "gables.zip", "mimeType": "application/zip", "buffer": exports.packed(export)}
    page.get_by_label("Export").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_text("Pictures and files in them")).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("link", name="Show conversations").click()
    page.get_by_label("Search conversations").fill("Gables")
    page.get_by_role("link", name="Gables").click()
    asked, drawn = page.get_by_role("article").nth(0), page.get_by_role("article").nth(1)
    expect(asked).to_contain_text("Is this a gable?")
    for article in (asked, drawn):
        expect(article.get_by_role("img", name="gable.png")).to_have_js_property("naturalWidth", 1)
    expect(asked.get_by_role("link", name="roof.pdf")).to_be_visible()
    expect(page.get_by_text("[Attached")).to_have_count(0)


def test_an_import_is_cancelled_and_keeps_what_came_until_it_is_taken_back(
    make_person: MakePerson, computer: Computer
) -> None:
    page = make_person(PHONE).open("conversations/import")
    talks = [furnishing.talk(f"Many {number}", 10_000 + number, 100, "Why? " * 200) for number in range(4000)]
    export = {"name": "many.json", "mimeType": "application/json", "buffer": json.dumps(talks).encode()}
    page.get_by_label("Export").set_input_files(export)  # type: ignore[arg-type]
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page).to_have_url(re.compile("import/.+$"))
    brought = page.locator(".facts > div", has_text="Imported")
    expect(brought).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled", exact=True)).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    (record,) = [
        each for each in furnishing.call(computer, "GET", "/api/imports")["imports"] if each["name"] == "many.json"
    ]
    assert 0 < record["imported"] < len(talks)
    found = furnishing.call(computer, "GET", "/api/chat", params={"limit": 1000, "search": "Many"})["sessions"]
    assert found
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone", exact=True)).to_be_visible()
    found = furnishing.call(computer, "GET", "/api/chat", params={"limit": 1000, "search": "Many"})["sessions"]
    assert found == []


def test_what_is_no_export_is_said(make_person: MakePerson) -> None:
    page = make_person().open("conversations/import")
    page.get_by_label("Export").set_input_files(
        {"name": "holiday.json", "mimeType": "application/json", "buffer": io.BytesIO(b"not JSON").getvalue()}
    )
    expect(page.get_by_text("Not complete")).to_be_visible()
    expect(page.locator(".notice.danger")).not_to_be_empty()


def test_by_keyboard_alone(make_person: MakePerson) -> None:
    page = make_person().open("conversations")
    expect(rows(page)).to_have_count(50)
    page.get_by_role("button", name="Actions for Why does bread need salt?").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Actions for Why does bread need salt?")).to_be_focused()
    page.get_by_role("link", name="Why does bread need salt?").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#/chat/"))


def test_a_key_that_may_only_read_changes_nothing(make_person: MakePerson) -> None:
    page = make_person(scopes=["chat:read"]).open("conversations")
    expect(rows(page)).to_have_count(50)
    page.get_by_role("button", name="Actions for A letter to the landlord").click()
    expect(page.locator(".menu-entry")).to_have_text(["Save as Markdown", "Save as a web page"])
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="New", exact=True)).to_have_count(0)
    page.goto(re.sub("#.*", "#/conversations/import", page.url))
    expect(page.get_by_text("Importing needs all rights.")).to_be_visible()


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")], ids=["phone", "desktop"])
def test_screen_readers_find_everything(make_person: MakePerson, size: dict[str, object], scheme: str) -> None:
    person = make_person(size, color_scheme=scheme, bypass_csp=True)
    for place, ready in (
        ("conversations", "Actions for Why does bread need salt?"),
        ("conversations/claude-code", "Continue here"),
        ("conversations/import", "Export"),
    ):
        page = person.open(place)
        page.get_by_label(ready).or_(page.get_by_role("button", name=ready)).first.wait_for()
        assert violations(page) == []
