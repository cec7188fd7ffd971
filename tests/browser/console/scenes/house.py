"""The computer itself: settings, hosts, the emergency kit, and everything stopped."""

from playwright.sync_api import Page, expect

from tests.browser.console.people import Person
from tests.browser.console.scenes.pressing import dialog, press, pressed


def settings_found(person: Person) -> Page:
    page = person.open("computer/settings?search=audit")
    expect(page.locator(".computer-settings > li").first).to_be_visible()
    return page


def settings_changed(person: Person) -> Page:
    page = person.open("computer/settings?search=audit.keep_days")
    page.locator(".computer-settings input").fill("30")
    press(page, "Save")
    expect(page.locator(".toast")).to_be_visible()
    return page


def settings_all(person: Person) -> Page:
    page = person.open("computer/settings")
    press(page, "Show all")
    return page


def setting_of_rights(person: Person) -> Page:
    page = person.open("computer/settings?search=network.mode")
    page.locator(".computer-settings select").first.select_option("list")
    return dialog(page)


def repository_new(person: Person) -> Page:
    return pressed(person, "computer/network", "Add a repository")


def token_new(person: Person) -> Page:
    return pressed(person, "computer/network", "Store a token")


def doctor_details(person: Person) -> Page:
    page = person.open("computer/doctor")
    expect(page.locator("main progress, main .loading")).to_have_count(0)
    for each in page.locator("main details summary").all():
        each.click()
    return page


def stop_question(person: Person) -> Page:
    page = person.open("computer")
    page.locator("main .section .panic button").first.click()
    return page


def stopped(person: Person) -> Page:
    """The banner of a computer that was stopped."""
    page = person.page
    state = {"panic": {"since": "2026-11-30T10:00:00Z", "by": "browser"}}
    page.route("**/api/panic", lambda route: route.fulfill(json=state))
    person.open("inbox")
    page.reload()
    expect(page.locator(".banner")).to_be_visible()
    expect(page.locator("main .card").first).to_be_visible()
    return page
