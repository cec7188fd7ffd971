"""The header of a conversation: workspace, model, rights and folder, each by one tap, before its first message and later."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.furnished_parts import Household
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    made = Household(computer, model)
    for folder in ("boat", "garden"):
        (computer.vault / "Projects" / folder).mkdir(parents=True)
    made.ask("POST", "/api/workspaces", {"name": "Boat", "working_directory": "Projects/boat"})
    made.ask("POST", "/api/workspaces", {"name": "Forge", "default_trust_level": "direct"})
    return made


def setting(page: Page, name: str) -> Locator:
    """One control of the header, by its label."""
    return (
        page.get_by_role("list", name="Workspace, model, rights and folder")
        .get_by_role("listitem")
        .filter(has_text=f"{name}: ")
    )


def pick(page: Page, name: str, value: str) -> None:
    """Tap a control of the header, and one entry of its menu."""
    setting(page, name).get_by_role("button").click()
    page.get_by_role("dialog", name=name).get_by_role("button", name=value, exact=True).click()


def say(page: Page, words: str) -> str:
    """Write the first message of a conversation; its id."""
    page.get_by_label("Message", exact=True).fill(words)
    page.get_by_role("button", name="Send").click()
    expect(page).to_have_url(re.compile(r"#/chat/[0-9a-f-]{36}$"))
    expect(page.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_be_visible()
    return page.url.rpartition("/")[2]


@at_both_sizes
def test_a_conversation_begins_with_what_its_header_says(person: Person, house: Household) -> None:
    page = person.open("chat")
    model = house.ask("GET", "/supervisor/models")["models"][0]
    pick(page, "Workspace", "Boat")
    expect(setting(page, "Folder")).to_contain_text("boat")
    pick(page, "Model", model["display_name"])
    pick(page, "Folder", "Projects/garden")
    session = house.ask("GET", f"/api/chat/{say(page, 'Hello.')}")
    assert (session["workspaceId"], session["model"], session["workingDirectory"]) == (
        "boat",
        model["id"],
        "Projects/garden",
    )
    page.reload()
    for name, value in (
        ("Workspace", "Boat"),
        ("Model", model["id"]),
        ("Rights", "In a sandbox"),
        ("Folder", "garden"),
    ):
        expect(setting(page, name)).to_contain_text(value)


def test_a_conversation_says_where_it_works_and_why_that_stays(person: Person, house: Household) -> None:
    session = house.say("Begin.", text("Begun."), workspaceId="boat")
    page = person.open(f"chat/{session}")
    setting(page, "Folder").get_by_role("button").click()
    shown = page.get_by_role("dialog", name="Folder")
    expect(shown).to_contain_text("Projects/boat. A conversation stays in the folder in which it began.")
    shown.get_by_role("button", name="New conversation").click()
    expect(page).to_have_url(re.compile("#/chat$"))
    expect(setting(page, "Folder").get_by_role("button")).to_be_visible()


def test_what_a_conversation_has_is_changed_by_a_tap(person: Person, house: Household) -> None:
    session = house.say("Begin.", text("Begun."))
    page = person.open(f"chat/{session}")
    pick(page, "Workspace", "Boat")
    expect(setting(page, "Workspace")).to_contain_text("Boat")
    assert house.ask("GET", f"/api/chat/{session}")["workspaceId"] == "boat"
    pick(page, "Workspace", "No workspace")
    expect(setting(page, "Workspace")).to_contain_text("No workspace")
    assert house.ask("GET", f"/api/chat/{session}")["workspaceId"] is None


@at_both_sizes
def test_full_rights_are_asked_about_and_stay_in_sight(person: Person, house: Household) -> None:
    session = house.say("Begin.", text("One line.\n\n" * 60))
    page = person.open(f"chat/{session}")
    pick(page, "Rights", "With your own rights")
    sure = page.get_by_role("dialog", name="Run with your own rights?")
    sure.get_by_role("button", name="Cancel").click()
    expect(setting(page, "Rights")).to_contain_text("In a sandbox")
    assert house.ask("GET", f"/api/chat/{session}")["trustLevel"] == "sandboxed"
    pick(page, "Rights", "With your own rights")
    sure.get_by_role("button", name="Give it my rights").click()
    expect(setting(page, "Rights")).to_contain_text("With your own rights")
    assert house.ask("GET", f"/api/chat/{session}")["trustLevel"] == "direct"
    page.reload()
    for place in (0, 10_000):
        page.evaluate(f"scrollTo(0, {place})")
        expect(setting(page, "Rights")).to_be_in_viewport(ratio=1)
    pick(page, "Rights", "In a sandbox")
    expect(setting(page, "Rights")).to_contain_text("In a sandbox")


def test_a_workspace_with_full_rights_is_asked_about_as_well(person: Person, house: Household) -> None:
    page = person.open("chat")
    pick(page, "Workspace", "Forge")
    sure = page.get_by_role("dialog", name="Run with your own rights?")
    sure.get_by_role("button", name="Cancel").click()
    expect(setting(page, "Workspace")).to_contain_text("No workspace")
    pick(page, "Workspace", "Forge")
    sure.get_by_role("button", name="Give it my rights").click()
    expect(setting(page, "Rights")).to_contain_text("With your own rights")
    pick(page, "Rights", "In a sandbox")
    session = house.ask("GET", f"/api/chat/{say(page, 'Hello.')}")
    assert (session["workspaceId"], session["trustLevel"]) == ("forge", "sandboxed")
    page.goto(f"{page.url.partition('#')[0]}#/chat")
    offered = page.get_by_role("group", name="Workspace").get_by_role("button", name="Forge")
    offered.click()
    sure.get_by_role("button", name="Cancel").click()
    expect(offered).to_have_attribute("aria-pressed", "false")
    offered.click()
    sure.get_by_role("button", name="Give it my rights").click()
    expect(offered).to_have_attribute("aria-pressed", "true")
    expect(setting(page, "Rights")).to_contain_text("With your own rights")
    offered.click()
    expect(setting(page, "Rights")).to_contain_text("In a sandbox")


def test_who_may_only_read_or_chat_gives_no_rights(make_person: MakePerson, house: Household) -> None:
    session = house.say("Begin.", text("Begun."))
    for scopes, count in ((["chat:write"], 3), (["chat:read"], 0)):
        page = make_person(DESKTOP, scopes=scopes).open(f"chat/{session}")
        expect(setting(page, "Rights")).to_be_visible()
        expect(setting(page, "Rights").get_by_role("button")).to_have_count(0)
        header = page.get_by_role("list", name="Workspace, model, rights and folder")
        expect(header.get_by_role("button")).to_have_count(count)


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "light"), (DESKTOP, "dark")])
def test_no_menu_breaks_a_rule(make_person: MakePerson, house: Household, size: dict[str, object], scheme: str) -> None:
    page = make_person(size, color_scheme=scheme, bypass_csp=True).open(
        f"chat/{house.say('Begin.', trustLevel='direct')}"
    )
    expect(setting(page, "Rights")).to_be_visible()
    broken = violations(page)
    page.goto(f"{page.url.partition('#')[0]}#/chat")
    expect(setting(page, "Folder")).to_be_visible()
    for name in ("Workspace", "Model", "Rights", "Folder"):
        setting(page, name).get_by_role("button").click()
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        broken += [f"{name}: {line}" for line in violations(page)]
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    pick(page, "Rights", "With your own rights")
    expect(page.get_by_role("dialog", name="Run with your own rights?")).to_be_visible()
    assert broken + violations(page) == []
