"""Suggestions in the browser: read, changed, decided about and taken back; and what is left to one conversation."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.console import furnishing
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.browser.console.proposals import call, install_official, know, waiting, write
from tests.support.computer import Computer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long
WHOLE = True

AXE = Path(__file__).parents[3] / "console" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """Brain and the journal."""
    install_official(computer, "brain", "daily")


def card(page: Page, name: str) -> Locator:
    """The card of a suggestion."""
    return page.get_by_role("article", name=name)


def entity(computer: Computer, para_id: str) -> str:
    """The text of what Brain knows."""
    return str(call(computer, "GET", f"/api/brain/entities/{para_id}")["content"])


def test_one_comes_by_itself_is_read_approved_and_taken_back(make_person: MakePerson, computer: Computer) -> None:
    kevin = know(computer, "Kevin", "Advisor.")
    page = make_person(PHONE).open("suggestions")
    expect(page.get_by_role("heading", name="No suggestions")).to_be_visible()
    write(computer, "Kevin married in May.", 1)
    shown = card(page, "Update: Kevin")
    expect(shown.get_by_text("Journal · ")).to_be_visible()
    expect(shown.get_by_label("Difference").get_by_text(re.compile(r"^\+- .*Kevin married in May"))).to_be_visible()
    assert "married" not in entity(computer, kevin)
    shown.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Update: Kevin: approved.")).to_be_visible()
    expect(shown).to_have_count(0)
    assert "married" in entity(computer, kevin)
    page.get_by_role("button", name="Decided").click()
    line = page.get_by_role("listitem").filter(has_text="Update: Kevin")
    line.get_by_role("button", name="Look").click()
    expect(page.get_by_role("dialog").get_by_label("Difference").get_by_text("married")).to_be_visible()
    page.keyboard.press("Escape")
    line.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("undone; it waits for your decision again")).to_be_visible()
    assert "married" not in entity(computer, kevin)
    page.get_by_role("button", name="Waiting", exact=True).click()
    shown.get_by_role("button", name="Reject").click()
    expect(shown).to_have_count(0)


def test_words_are_changed_by_keyboard_alone(make_person: MakePerson, computer: Computer) -> None:
    write(computer, "Lunch with Ottilie.", 1)
    page = make_person(DESKTOP).open("suggestions")
    edit = card(page, "New: Ottilie").get_by_role("button", name="Edit")
    edit.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Change the suggestion")
    name = dialog.get_by_label("Name", exact=True)
    name.focus()
    name.fill("Ottilie Blum")
    name.press("Enter")
    expect(dialog).to_have_count(0)
    expect(card(page, "New: Ottilie")).to_have_count(0)
    made = call(computer, "GET", "/api/suggestions?status=modified")["suggestions"][0]
    assert made["result"]["name"] == "Ottilie Blum"


def test_what_changed_since_says_so_and_waits(person: Person, computer: Computer) -> None:
    who = know(computer, "Paula")
    write(computer, "Paula married in May.", 1)
    page = person.open("suggestions")
    shown = card(page, "Update: Paula")
    expect(shown).to_be_visible()
    version = call(computer, "GET", f"/api/brain/entities/{who}")["version"]
    change = {"data": {"tags": ["x"]}, "expected_version": version}
    call(computer, "PUT", f"/api/brain/entities/{who}", change)
    person.problems.clear()
    shown.get_by_role("button", name="Approve").click()
    expect(shown.get_by_text("Not applied yet:")).to_be_visible()
    # The browser itself notes the refusal of the server.
    assert all("409" in problem for problem in person.problems)
    person.problems.clear()
    shown.get_by_role("button", name="Reject").click()
    expect(shown).to_have_count(0)


def test_all_are_approved_with_the_result_of_each(make_person: MakePerson, computer: Computer) -> None:
    found = [*write(computer, "Tea with Walpurga.", 1), *write(computer, "A walk with Hedwig.", 1)]
    ids = [each["id"] for each in found]
    call(computer, "POST", "/api/suggestions/batch", {"title": "People of today", "ids": ids})
    write(computer, "Coffee with Irmgard.", 1)
    page = make_person(PHONE).open("suggestions")
    pair = card(page, "People of today")
    for name in ("New: Walpurga", "New: Hedwig"):
        expect(pair.get_by_text(name)).to_be_visible()
    expect(page.get_by_role("link", name="Review later")).to_be_visible()
    page.get_by_role("button", name="Approve all 2").click()
    results = page.get_by_role("dialog", name="Results")
    expect(results.get_by_role("listitem")).to_have_count(2)
    expect(results.get_by_text("approved", exact=True)).to_have_count(2)
    results.get_by_role("button", name="Close").last.click()
    expect(page.get_by_role("heading", name="No suggestions")).to_be_visible()
    assert waiting(computer) == []
    page.get_by_role("button", name="Sorting").click()
    expect(page.get_by_text("It has not run yet.")).to_be_visible()


def test_a_key_that_only_reads_has_no_buttons(make_person: MakePerson, computer: Computer) -> None:
    (made,) = write(computer, "Dinner with Frieda.", 1)
    page = make_person(DESKTOP, scopes=["suggestions:read", "brain:read"]).open("suggestions")
    shown = card(page, "New: Frieda")
    expect(shown.get_by_label("Difference")).to_contain_text("# Frieda")
    expect(shown.get_by_role("button")).to_have_count(0)
    owner = make_person(DESKTOP).open("inbox")
    item = card(owner, "suggests adding Frieda to Knowledge")
    expect(item.get_by_label("Difference")).to_contain_text("# Frieda")
    item.get_by_role("button", name="Reject").click()
    expect(item).to_have_count(0)
    # The answer is sent as whatever waits is: the card is gone before.
    wait_until(
        lambda: call(computer, "GET", f"/api/suggestions/{made['id']}")["status"] == "rejected",
        "the computer knows the answer",
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_anybody(make_person: MakePerson, computer: Computer, scheme: str) -> None:
    (decided,) = write(computer, f"Tea with {'Gisela' if scheme == 'dark' else 'Mathilda'}.", 1)
    call(computer, "POST", f"/api/suggestions/{decided['id']}/approve")
    write(computer, f"Supper with {'Roswitha' if scheme == 'dark' else 'Adelheid'}.", 1)
    page = make_person(PHONE, color_scheme=scheme, bypass_csp=True).open("suggestions")
    page.get_by_label("Difference").first.wait_for()
    check_accessible(page)
    page.get_by_role("button", name="Decided").click()
    page.get_by_role("button", name="Undo").first.wait_for()
    check_accessible(page)


def test_a_conversation_is_left_less_than_it_may(person: Person, computer: Computer) -> None:
    page = person.open("chat")
    page.get_by_label("Message", exact=True).fill("Hello.")
    page.get_by_role("button", name="Send").click()
    expect(page).to_have_url(re.compile(r"#/chat/[0-9a-f-]{36}$"))
    expect(page.get_by_role("log").get_by_text("Hello.", exact=True).last).to_be_visible()
    session = page.url.rpartition("/")[2]
    dialog = permissions(page)
    expect(dialog.get_by_role("button", name="Everything")).to_have_attribute("aria-pressed", "true")
    dialog.get_by_role("button", name="Guest").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert shown(computer, session)["template"] == "guest"
    dialog = permissions(page)
    expect(dialog.get_by_label("brain-search")).to_be_checked()
    dialog.get_by_label("Files and commands", exact=True).last.select_option("some")
    dialog.get_by_label(re.compile("^Read")).check()
    dialog.get_by_label("Folders", exact=True).last.select_option("some")
    dialog.get_by_label("Daily", exact=True).check()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    found = shown(computer, session)
    assert found["sandbox_override"] is None
    dialog = permissions(page)
    dialog.get_by_label("Memory in MB").fill("700")
    dialog.get_by_label("Processors").fill("0.5")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert shown(computer, session)["sandbox_override"] == {"memory_megabytes": 700, "cpus": 0.5}
    dialog = permissions(page)
    expect(dialog.get_by_label("Memory in MB")).to_have_value("700")
    for label in ("Memory in MB", "Processors"):
        dialog.get_by_label(label).fill("")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert shown(computer, session) == found
    assert (found["template"], found["capabilities"], found["allowed_folders"]) == (None, ["Read"], ["Daily"])
    assert found["network"] == {"mode": "off", "hosts": []}
    # What is wider than allowed is refused with the server's sentence, and nothing changes.
    dialog = permissions(page)
    dialog.get_by_label("Network").select_option("list")
    dialog.get_by_label("Hosts").fill("not a host!")
    person.problems.clear()
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Notes").get_by_text("not a host")).to_be_visible()
    assert all("422" in problem or "400" in problem for problem in person.problems)
    person.problems.clear()
    assert shown(computer, session) == found


def test_a_conversation_of_a_workspace_is_left_less_than_that_allows(
    make_person: MakePerson, computer: Computer
) -> None:
    boat = {"name": "Quay", "network": {"mode": "list", "hosts": ["example.org"]}, "memory_megabytes": 600}
    slug = furnishing.call(computer, "POST", "/api/workspaces", json=boat)["workspace"]["slug"]
    (session, *_) = furnishing.add_conversations(computer, 1)
    furnishing.call(computer, "PATCH", f"/api/chat/{session}/config", json={"workspaceId": slug})
    dialog = permissions(make_person(PHONE).open(f"chat/{session}"))
    expect(dialog).to_contain_text("the workspace Quay allows")
    expect(dialog).to_contain_text("At most 600")
    dialog.get_by_label("Network").select_option("Only these hosts")
    expect(dialog).to_contain_text("The workspace allows: example.org")
    dialog.get_by_label("Hosts").fill("example.org")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert shown(computer, session)["network"] == {"mode": "list", "hosts": ["example.org"]}


def permissions(page: Page) -> Locator:
    """The dialog with what is left to the conversation that is open."""
    page.get_by_role("button", name="Settings of this conversation").click()
    page.get_by_role("dialog").get_by_role("button", name="Permissions").click()
    return page.get_by_role("dialog", name="Permissions")


def shown(computer: Computer, session: str) -> dict[str, Any]:
    """The permissions of a conversation."""
    return dict(call(computer, "GET", f"/api/chat/{session}")["permissions"])


def check_accessible(page: Page) -> None:
    """See that axe-core finds nothing that bars somebody."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run().then(({violations}) => violations.map(({id, nodes}) => [id, nodes[0].html]))")
    assert found == []
