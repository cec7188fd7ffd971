"""Forms and dialogs of the lists: conversations, workspaces, costs, keys, schedules, capabilities and activity."""

import json

from playwright.sync_api import FilePayload, Page, expect

from tests.browser.console import furnishing
from tests.browser.console.people import Person
from tests.browser.console.scenes.pressing import dialog, press, pressed
from tests.browser.console.spoken import spoken


def conversation_menu(person: Person) -> Page:
    page = person.open("conversations")
    page.locator(".rows .row-actions button").first.click()
    return dialog(page)


def conversations_found(person: Person) -> Page:
    page = person.open("conversations")
    page.locator("main input[type=search]").fill("lisbon")
    expect(page.locator(".rows .row")).to_have_count(1)
    return page


def conversations_not_found(person: Person) -> Page:
    page = person.open("conversations")
    page.locator("main input[type=search]").fill("nowhere at all")
    expect(page.locator(".empty")).to_be_visible()
    return page


def import_preview(person: Person) -> Page:
    page = person.open("conversations/import")
    export = json.dumps([furnishing.talk("Kettles", 900, 1)]).encode()
    file: FilePayload = {"name": "kettles.json", "mimeType": "application/json", "buffer": export}
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_role("button", name=spoken(page, "Import"))).to_be_visible()
    return page


def workspace_new(person: Person) -> Page:
    return pressed(person, "workspaces", "New workspace")


def workspace_delete(person: Person) -> Page:
    page = person.open("workspaces")
    page.locator(".row-actions button").last.click()
    return dialog(page)


def limit(person: Person) -> Page:
    return pressed(person, "costs", "Set a limit")


def device_new(person: Person) -> Page:
    return pressed(person, "keys", "Add a device")


def device_code(person: Person) -> Page:
    page = device_new(person)
    page.get_by_role("dialog").get_by_role("textbox").first.fill("Kitchen")
    press(page, "Show a code", page.get_by_role("dialog"))
    expect(page.locator(".pairing-code")).to_be_visible()
    return page


def phone_menu(person: Person) -> Page:
    """All screens, as a phone lists them."""
    page = person.open("inbox")
    more = page.locator("nav.bar button").last
    if more.is_visible():
        more.click()
    expect(page.locator("nav.column li a").last).to_be_visible()
    expect(page.locator("main .card").first).to_be_visible()
    return page


def schedule_runs(person: Person) -> Page:
    return pressed(person, "schedule", "Runs")


def plugin(person: Person) -> Page:
    return pressed(person, "capabilities", "demo")


def plugin_new(person: Person) -> Page:
    return pressed(person, "capabilities", "Install a plugin")


def agent(person: Person) -> Page:
    return pressed(person, "capabilities/agents", "boatwright")


def agent_new(person: Person) -> Page:
    return pressed(person, "capabilities/agents", "Write an agent")


def skill(person: Person) -> Page:
    return pressed(person, "capabilities/skills", "/checklist")


def server(person: Person) -> Page:
    return pressed(person, "capabilities/mcps", "tides")


def server_new(person: Person) -> Page:
    return pressed(person, "capabilities/mcps", "Add a server")


def activity_record(person: Person) -> Page:
    page = person.open("activity")
    page.locator(".row button.as-link").first.click()
    page.get_by_role("dialog").locator("summary").click()
    return dialog(page)


def activity_calls(person: Person) -> Page:
    page = person.open("activity")
    page.locator("main details summary").last.click()
    expect(page.locator("main .loading")).to_have_count(0)
    return page


def bot_new(person: Person) -> Page:
    page = person.open("bots")
    page.get_by_role("article", name="Matrix").get_by_role("button").click()
    return dialog(page)


def bot_settings(person: Person) -> Page:
    page = person.open("bots")
    page.get_by_role("article", name="Telegram").locator(".icon-only").last.click()
    return dialog(page)


def bot_self(person: Person) -> Page:
    return pressed(person, "bots", "This is me")
