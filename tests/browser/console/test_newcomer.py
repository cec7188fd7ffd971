"""Tasks of somebody who sees the console for the first time, each done by what is on the screen and with few taps.

Each begins at the inbox, where a browser that is signed in opens, except the first start. The numbers are what each task needs today.
"""

import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, expect

from tests.browser.chromium import launch
from tests.browser.console import furnishing
from tests.browser.console.conftest import at_both_sizes
from tests.browser.console.furnished_parts import FETCH, Household
from tests.browser.console.people import DESKTOP, MINUTES, PHONE, Person, computer_with
from tests.browser.console.taps import Taps
from tests.browser.console.test_chat import PICTURE
from tests.browser.console.test_welcome import invitation, step
from tests.support.computer import Computer
from tests.support.home_network import other_device
from tests.support.making import SIGNED_OUT, Make
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    """A computer with the journal, imports, one workspace and a few old conversations."""
    made = Household(computer, model)
    for name in ("daily", "imports"):
        furnishing.install(computer, name)
    (computer.vault / "Projects" / "boat").mkdir(parents=True)
    made.ask("POST", "/api/workspaces", {"name": "Boat", "working_directory": "Projects/boat"})
    furnishing.add_conversations(computer, 12)
    furnishing.bring(computer, furnishing.talk("A trip by boat", 800, 400, "How far is Helgoland?"))
    return made


@pytest.fixture(autouse=True)
def _furnished(request: pytest.FixtureRequest) -> None:
    """Furnish it before the first browser looks at it."""
    if "person" in request.fixturenames:
        request.getfixturevalue("house")


def begin(person: Person, allowed: int) -> Taps:
    """Look at the inbox, from where so many taps are left."""
    return Taps(person.open("inbox"), allowed)


def is_phone(person: Person) -> bool:
    return bool((person.page.viewport_size or {"width": 0})["width"] < 500)


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_first_start(
    make_computer: Make[Computer], browser: Browser, model: MessagesAPI, size: dict[str, object], tmp_path: Path
) -> None:
    fresh = make_computer(environment=SIGNED_OUT)
    person = Person(browser, fresh, size)
    page, taps = person.page, Taps(person.page, 6)
    page.goto(invitation(fresh)["link"])
    step(page, "Welcome")
    taps.choose("Where the model runs", "compatible")
    page.get_by_label("Address of the server").fill(model.url)
    page.get_by_label("Model", exact=True).fill("household-1")
    taps.on("Save and test")
    step(page, "What should it do?")
    expect(page.get_by_role("status").get_by_text("Hello.")).to_be_visible()
    taps.on("Agree and install all 4")
    step(page, "Connect your phone")
    expect(page.get_by_role("button", name="Connect a phone")).to_be_visible()
    taps.on("Skip", "link")
    step(page, "Keep a copy elsewhere")
    assert len(taps.made) == 4
    page.get_by_label("Where backups go").fill(str(tmp_path / "backups"))
    taps.on("Create")
    expect(page.get_by_role("article", name="Emergency kit")).to_be_visible()
    expect(page.get_by_text("The backup is complete.")).to_be_visible()
    taps.on("Finish")
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    person.context.close()


@at_both_sizes
def test_an_entry_is_written_and_found_again(person: Person) -> None:
    word = f"Leeks{'phone' if is_phone(person) else 'desktop'}"
    taps = begin(person, 3)
    taps.to("Journal")
    taps.page.get_by_label("New entry").fill(f"{word} in the soup.")
    taps.on("Save")
    expect(taps.page.get_by_label("New entry")).to_have_value("")
    taps.page.get_by_label("Search the journal").fill(word)
    taps.at(taps.page.get_by_role("list", name="Search results").get_by_role("link"))
    expect(taps.page.get_by_role("article").filter(has_text=word)).to_be_visible()


@at_both_sizes
def test_an_agent_edits_a_file_and_that_is_undone(person: Person, house: Household, model: MessagesAPI) -> None:
    model.script(tool_use("Bash", {"command": "printf 'a\\nb\\n' > plan.md"}), text("Written."))
    taps = begin(person, 4)
    page = taps.page
    taps.to("Chat")
    taps.on("Boat", within=page.get_by_role("group", name="Workspace"))
    page.get_by_label("Message", exact=True).fill("Write a plan.")
    taps.on("Send")
    card = page.get_by_role("region", name="In this turn").filter(has_text="plan.md")
    expect(card.get_by_text("+2")).to_be_visible()
    expect(card.get_by_text("+a")).to_be_visible()
    taps.on("Undo", within=card)
    expect(card.get_by_text("is as it was before.")).to_be_visible()
    assert not (house.computer.vault / "Projects" / "boat" / "plan.md").exists()


@at_both_sizes
def test_an_earlier_message_is_edited_and_both_versions_are_read(person: Person, model: MessagesAPI) -> None:
    model.script(text("Answer one."), text("Answer two."))
    taps = begin(person, 6)
    page = taps.page
    taps.to("Chat")
    page.get_by_label("Message", exact=True).fill("Alpha")
    taps.on("Send")
    expect(page.get_by_text("Answer one.")).to_be_visible()
    taps.on("Edit this message")
    page.get_by_label("Edited message").fill("Beta")
    taps.on("Send", within=page.locator(".editing"))
    expect(page.get_by_text("Answer two.")).to_be_visible()
    taps.on("Previous version", "link")
    expect(page.get_by_text("Answer one.")).to_be_visible()
    taps.on("Next version", "link")
    expect(page.get_by_text("Answer two.")).to_be_visible()


@at_both_sizes
def test_the_language_is_changed(person: Person) -> None:
    taps = begin(person, 3)
    if is_phone(person):
        taps.on("More")
    taps.at(taps.page.locator("summary", has_text="Language and look"))
    taps.choose("Language", "de")
    expect(taps.page.get_by_text("Sprache", exact=True).first).to_be_visible()


@at_both_sizes
def test_a_limit_of_what_is_spent_is_set(person: Person, house: Household) -> None:
    taps = begin(person, 4)
    taps.to("Costs")
    taps.on("Set a limit")
    taps.page.get_by_role("dialog").get_by_label("Dollars").fill("2.5")
    taps.on("Save")
    expect(taps.page.get_by_text("of $2.50")).to_be_visible()
    house.ask("DELETE", "/api/usage/limits/chats")


def test_a_problem_is_repaired(person: Person, computer: Computer) -> None:
    open_file = computer.home.root / "hooks.yaml"
    open_file.chmod(0o644)
    taps = begin(person, 5)
    page = taps.page
    taps.to("Computer")
    taps.on("Doctor", "link")
    taps.on("Check again")
    problem = page.locator(".computer-problem", has_text="hooks.yaml")
    taps.on("Repair", within=problem)
    expect(problem).to_have_count(0)
    assert open_file.stat().st_mode & 0o077 == 0


def test_an_export_is_previewed_imported_and_taken_back(person: Person) -> None:
    talk = json.dumps([furnishing.talk("Kettles", 900, 1)]).encode()
    taps = begin(person, 5)
    page = taps.page
    taps.to("History")
    taps.on("Import conversations", "link")
    taps.attach(page.get_by_label("Export"), [{"name": "kettles.json", "mimeType": "application/json", "buffer": talk}])
    taps.on("Import")
    expect(page.get_by_role("link", name="Show conversations")).to_be_visible()
    taps.on("Undo")
    expect(page.get_by_text("Undone", exact=True)).to_be_visible()


def test_an_export_that_is_dropped_is_imported_with_two_more_taps(person: Person) -> None:
    talk = json.dumps([furnishing.talk("Lanterns", 901, 1)])
    taps = begin(person, 2)
    page = taps.page
    taps.to("History")
    making = (
        "(text) => { const data = new DataTransfer(); data.items.add(new File([text], 'lanterns.json')); return data; }"
    )
    dropped = page.evaluate_handle(making, talk)
    page.get_by_label("Search conversations").dispatch_event("drop", {"dataTransfer": dropped})
    taps.on("Import")
    page.get_by_role("link", name="Show conversations").wait_for()


@at_both_sizes
def test_a_file_is_uploaded_deleted_and_brought_back(person: Person, house: Household) -> None:
    name = f"letter-{'phone' if is_phone(person) else 'desktop'}.txt"
    taps = begin(person, 6 if is_phone(person) else 5)
    page = taps.page
    taps.to("Files")
    letter: FilePayload = {"name": name, "mimeType": "text/plain", "buffer": b"Dear Ann"}
    taps.attach(page.get_by_role("button", name="Upload"), [letter])
    row = page.get_by_role("listitem").filter(has=page.get_by_role("link", name=name))
    expect(row).to_be_visible()
    taps.at(row.get_by_role("button"))
    taps.on("Delete")
    expect(row).to_have_count(0)
    taps.at(page.locator(".toast", has_text="is deleted").get_by_role("button", name="Undo"))
    expect(row).to_be_visible()
    assert (house.computer.vault / name).read_bytes() == b"Dear Ann"


@at_both_sizes
def test_a_picture_is_sent_without_a_word_and_is_there_after_a_reload(person: Person) -> None:
    taps = begin(person, 3)
    page = taps.page
    taps.to("Chat")
    picture = {"name": "heron.png", "mimeType": "image/png", "buffer": PICTURE}
    taps.attach(page.get_by_role("button", name="Attach files"), [picture])  # type: ignore[list-item]
    taps.on("Send")
    expect(page.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_be_visible()
    page.reload()
    sent = page.get_by_label("You", exact=True)
    expect(sent.get_by_role("img", name="heron.png")).to_have_js_property("naturalWidth", 1)
    expect(page.get_by_role("heading", level=1, name="heron.png")).to_be_visible()


@at_both_sizes
def test_an_old_conversation_is_found_by_a_word_at_its_place(person: Person) -> None:
    taps = begin(person, 2)
    page = taps.page
    taps.at(page.get_by_role("button", name="Search").locator("visible=true"))
    page.get_by_role("combobox", name="Search, or type what to do").fill("helgoland")
    found = page.get_by_role("listbox").get_by_role("group", name="Conversations").get_by_role("option")
    taps.at(found.filter(has_text="A trip by boat"))
    expect(page.get_by_role("heading", level=1, name="A trip by boat")).to_be_visible()
    expect(page.get_by_label("You", exact=True).get_by_text("How far is Helgoland?")).to_be_in_viewport()


@at_both_sizes
def test_a_host_that_was_refused_is_allowed_and_tried_again(person: Person, model: MessagesAPI) -> None:
    model.script(tool_use("Bash", FETCH), text("I have asked."), text("It will rain."))
    taps = begin(person, 4)
    page = taps.page
    taps.to("Chat")
    page.get_by_label("Message", exact=True).fill("What will the weather be?")
    taps.on("Send")
    card = page.get_by_role("region", name="In this turn").first
    taps.on("Allow once", within=card)
    taps.on("Try again", within=card)
    expect(page.get_by_label("Agent", exact=True).get_by_text("It will rain.")).to_be_visible()


@pytest.mark.skipif(shutil.which("restic") is None, reason="needs restic: `make test-deps` installs it")
def test_backups_are_set_up_and_proven(person: Person, tmp_path: Path) -> None:
    taps = begin(person, 6)
    page = taps.page
    taps.to("Computer")
    taps.on("Backups", "link")
    taps.on("Choose a place", "link")
    page.get_by_label("Where backups go").fill(str(tmp_path / "backups"))
    taps.on("Create")
    expect(page.get_by_text("The backup is complete.")).to_be_visible(timeout=MINUTES)
    taps.on("Test restoring")
    expect(page.get_by_text("It was restored as a test, and that worked.")).to_be_visible(timeout=MINUTES)


@pytest.mark.computer
def test_a_phone_is_connected(browser: Browser, model: MessagesAPI, tmp_path: Path) -> None:
    with other_device() as device, computer_with(model) as computer:
        person = Person(browser, computer, DESKTOP)
        person.sign_in()
        taps = begin(person, 2)
        page = taps.page
        taps.to("Keys and devices")
        taps.on("Connect a phone")
        expect(page.get_by_text("Scan this with the camera")).to_be_visible()
        if page.get_by_label("Network of the phone").count():
            # A phone is in one network; this machine has the test's beside its own.
            page.get_by_label("Network of the phone").select_option(device.machine)
        link = page.locator("code", has_text=f"http://{device.machine}:{computer.port}/#pair=").inner_text()
        with launch(browser.browser_type, wrapped=lambda program: device.wrapped(program, tmp_path)) as phone:
            opened = phone.new_page(**PHONE)
            opened.goto(link)
            expect(opened.locator("nav.bar")).to_be_visible()
            expect(page.get_by_label("Name of this device")).to_be_visible()
        person.context.close()


@at_both_sizes
def test_an_entry_that_was_overwritten_comes_back(person: Person, computer: Computer) -> None:
    days_ago = 50 if is_phone(person) else 51
    made = furnishing.add_entry(computer, "As it was", days_ago)
    furnishing.call(computer, "PUT", f"/api/daily/entries/{made['id']}", json={"content": "As it is"})
    taps = Taps(person.open(f"journal/{furnishing.day(days_ago)}"), 3)
    page = taps.page
    expect(page.get_by_role("article").get_by_text("As it is")).to_be_visible()
    taps.on("Earlier versions", "link")
    taps.on("Look")
    expect(page.get_by_role("dialog").get_by_text("As it was")).to_be_visible()
    taps.on("Restore this version")
    expect(page.get_by_text("The earlier version is restored.")).to_be_visible()
    assert furnishing.call(computer, "GET", f"/api/daily/entries/{made['id']}")["content"] == "As it was"
