"""Files, the journal and knowledge: forms, searches, and what stood there before."""

from playwright.sync_api import Page, expect

from tests.browser.console.furnishing import call
from tests.browser.console.people import Person
from tests.browser.console.scenes.pressing import dialog, press
from tests.browser.console.spoken import spoken


def file_menu(person: Person) -> Page:
    page = person.open("files/Notes")
    page.locator(".row-actions button").first.click()
    return dialog(page)


def file_edit(person: Person) -> Page:
    page = person.open("files/Notes?file=garden.md")
    press(page, "Edit")
    expect(page.locator("main textarea")).to_be_visible()
    return page


def file_history(person: Person) -> Page:
    page = file_menu(person)
    press(page, "History", page.get_by_role("dialog"))
    expect(page.get_by_role("dialog").last.locator(".row").first).to_be_visible()
    return dialog(page)


def files_history(person: Person) -> Page:
    page = person.open("files")
    press(page, "History")
    return dialog(page)


def files_found(person: Person) -> Page:
    page = person.open("files")
    page.locator("main input[type=search]").fill("peas")
    expect(page.get_by_role("list", name=spoken(page, "Search results"))).to_be_visible()
    return page


def files_empty(person: Person) -> Page:
    call(person.computer, "POST", "/api/files/folders", json={"path": "Empty"})
    page = person.open("files/Empty")
    expect(page.locator(".empty")).to_be_visible()
    return page


def journal_edit(person: Person) -> Page:
    page = person.open("journal")
    page.locator("main article button").first.click()
    expect(page.locator("main article textarea")).to_be_visible()
    return page


def journal_history(person: Person) -> Page:
    page = person.open("journal")
    page.locator("main .button", has_text=spoken(page, "Earlier versions")).last.click()
    expect(page.locator("main .loading")).to_have_count(0)
    return page


def journal_found(person: Person) -> Page:
    page = person.open("journal")
    page.locator("main input[type=search]").fill("choir")
    expect(page.get_by_role("list", name=spoken(page, "Search results"))).to_be_visible()
    return page


def journal_on_this_day(person: Person) -> Page:
    page = person.open("journal")
    page.locator(".on-this-day summary").click()
    expect(page.locator(".on-this-day section").first).to_be_visible()
    return page


def journal_tagged(person: Person) -> Page:
    page = person.open("journal")
    page.locator("main input[type=search]").click()
    page.locator(".chip", has_text="#garden").click()
    expect(page.get_by_role("list", name=spoken(page, "Search results")).get_by_role("listitem")).to_have_count(2)
    return page


def journal_empty(person: Person) -> Page:
    page = person.open("journal/2026-01-02")
    expect(page.locator(".empty")).to_be_visible()
    return page


def entity(person: Person) -> Page:
    page = person.open(f"knowledge/entity/{_id(person, 'Garden')}")
    expect(page.locator("main .loading")).to_have_count(0)
    return page


def entity_edit(person: Person) -> Page:
    page = person.open(f"knowledge/entity/{_id(person, 'Garden')}/edit")
    expect(page.get_by_role("textbox").first).to_be_visible()
    return page


def entity_around(person: Person) -> Page:
    page = person.open(f"knowledge/entity/{_id(person, 'Garden')}/around")
    expect(page.locator(".picture a").first).to_be_visible()
    return page


def entity_link(person: Person) -> Page:
    page = entity(person)
    press(page, "Add a link")
    page.get_by_role("searchbox").last.fill("ma")
    return dialog(page)


def knowledge_found(person: Person) -> Page:
    page = person.open("knowledge")
    page.locator("main input[type=search]").fill("garden")
    expect(page.locator("main .loading")).to_have_count(0)
    return page


def _id(person: Person, name: str) -> str:
    found = call(person.computer, "GET", "/api/brain/search", params={"q": name})["results"]
    return next(str(each["para_id"]) for each in found if each["name"] == name)
