"""A browser that may only chat sees only that."""

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import PHONE

pytestmark = pytest.mark.long


def test_who_may_only_chat_sees_only_that(make_person: MakePerson) -> None:
    page = make_person(scopes=["chat:read,write"]).page
    column = page.get_by_role("navigation", name="Screens")
    expect(column.get_by_role("link", name="Chat")).to_be_visible()
    for name in (
        "Waiting for you",
        "Workspaces",
        "Capabilities",
        "Activity",
        "Costs",
        "Modules",
        "Schedule",
    ):
        expect(column.get_by_role("link", name=name)).to_have_count(0)
    for place in ("inbox", "modules", "costs", "activity", "workspaces"):
        page.goto(f"{page.url.partition('#')[0]}#/{place}")
        expect(page).not_to_have_url(f"{page.url.partition('#')[0]}#/{place}")
    header = page.get_by_label("Workspace, model, rights and folder")
    expect(header.get_by_role("button", name="Rights")).to_have_count(0)
    header.get_by_role("button", name="Model").click()
    expect(page.get_by_role("dialog").get_by_role("listitem")).not_to_have_count(1)


def test_its_own_page_of_keys_adds_no_device(make_person: MakePerson) -> None:
    page = make_person(PHONE, scopes=["chat:read,write"]).open("keys")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.get_by_text("read and write conversations")).to_be_visible()
    expect(page.get_by_role("button", name="Add a device")).to_have_count(0)
    expect(page.get_by_role("heading", name="Signed-in browsers")).to_have_count(0)


def test_who_may_only_read_changes_nothing(make_person: MakePerson) -> None:
    scopes = [
        "chat:read",
        "workspaces:read",
        "modules:read",
        "usage:read",
        "agents:read",
        "skills:read",
        "plugins:read",
        "mcps:read",
    ]
    person = make_person(scopes=scopes)
    for place, button in (
        ("workspaces", "New workspace"),
        ("modules", "Install a module"),
        ("costs", "Set a limit"),
        ("capabilities/agents", "Write an agent"),
        ("capabilities/skills", "Write a skill"),
        ("capabilities/mcps", "Add a server"),
    ):
        page = person.open(place)
        expect(page.locator(".spinner")).to_have_count(0)
        expect(page.get_by_role("button", name=button)).to_have_count(0)
    expect(page.get_by_role("button", name="Stop everything")).to_have_count(0)
