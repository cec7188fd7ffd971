"""Cards of all kinds that wait for their owner, consents, and suggestions."""

import json

from playwright.sync_api import Page, Route, expect

from tests.browser.console.people import Person
from tests.browser.console.scenes.pressing import dialog, press, pressed
from tests.browser.console.spoken import spoken
from tests.modules.registry.building import write_module
from tests.support.inbox_items import EVIL, ITEMS, as_shown


def inbox_kinds(person: Person) -> Page:
    """One of each kind, with a name that can be read."""
    page = person.page
    names = json.dumps(EVIL)[1:-1]
    items = json.loads(json.dumps([as_shown(each) for each in ITEMS]).replace(names, "garden"))
    page.route("**/api/inbox", lambda route: route.fulfill(json={"items": items, "problems": []}))
    preview = {"title": "x", "before": None, "after": None, "diff": " # Kevin\n-a\n+b", "problem": None}
    page.route("**/api/suggestions/*/preview", lambda route: route.fulfill(json=preview))
    consent = {"text": ["It may do nothing."], "changes": [], "files": []}
    page.route("**/api/modules/*/approval", lambda route: route.fulfill(json=consent))
    person.open("inbox")
    page.reload()  # the list of the computer itself is there since the sign-in
    expect(page.get_by_role("article")).to_have_count(len(items))
    return page


def inbox_empty(person: Person) -> Page:
    page = person.page
    page.route("**/api/inbox", lambda route: route.fulfill(json={"items": [], "problems": []}))
    person.open("inbox")
    page.reload()
    expect(page.locator(".empty")).to_be_visible()
    return page


def inbox_plugin(person: Person) -> Page:
    return pressed(person, "inbox", "See what it brings")


def suggestion_edit(person: Person) -> Page:
    return pressed(person, "suggestions", "Edit")


def suggestions_decided(person: Person) -> Page:
    page = person.open("suggestions")
    press(page, "Decided")
    expect(page.locator("main .loading")).to_have_count(0)
    return page


def suggestions_sorting(person: Person) -> Page:
    page = person.open("suggestions")
    press(page, "Sorting")
    expect(page.locator("main .loading")).to_have_count(0)
    return page


def no_answer(person: Person) -> Page:
    """The computer cannot be reached."""

    def fail(route: Route) -> None:
        route.abort()

    page = person.open("costs")
    page.route("**/api/**", fail)
    page.get_by_role("button", name=spoken(page, "7 days")).click()
    expect(page.get_by_role("alert").first).to_be_visible()
    return page


def consent_of_module(person: Person) -> Page:
    """The consent to a module that is not there yet."""
    page = pressed(person, "modules", "Install a module")
    source = person.computer.folder / "sources" / "garden"
    if not source.exists():
        write_module(source, "garden")
    page.get_by_role("dialog").get_by_role("textbox").first.fill(str(source))
    press(page, "Fetch and review", page.get_by_role("dialog"))
    expect(page.get_by_text(spoken(page, "It asks for"))).to_be_visible()
    return dialog(page)
