"""Backups with their emergency kit, a browser that nobody has signed in, and a computer that does not answer."""

from typing import Any

from playwright.sync_api import Page, expect

from parachute.ops.backup.kit.models import Kit
from parachute.web.pairing.links import matrix
from tests.browser.console.people import Person
from tests.browser.console.scenes.pressing import dialog, press

_AT = "2026-01-05T10:00:00Z"
_KIT = Kit("/media/usb/parachute", "9Zq2vYw7Kc4Tn8Rb1Xs6Md3Hf5Jg0Lp-uAeQoViWyEt", {}, "f" * 64)
_DONE: dict[str, Any] = {"at": _AT, "result": "ok", "message": None, "backup": "f00df00d", "succeeded_at": _AT}
_STATUS: dict[str, Any] = {
    "configured": True,
    "repository": _KIT.repository,
    "protected": False,
    "kit_opened_at": None,
    "credentials": [],
    "concerns": [],
    "create": _DONE,
    "verify": None,
    "drill": None,
    "running": None,
    "problem": None,
}
_ME: dict[str, Any] = {
    "signed_in": False,
    "kind": None,
    "id": None,
    "name": None,
    "scopes": [],
    "admin": False,
    "confirmed_until": None,
    "needs": None,
    "set_up": None,
    "program": None,
}


def kit_untested(person: Person) -> Page:
    return _backups(person)


def kit_opened(person: Person) -> Page:
    return _backups(person, protected=True, kit_opened_at=_AT)


def kit_shown(person: Person) -> Page:
    page = _backups(person)
    sheet: dict[str, Any] = {
        "repository": _KIT.repository,
        "password": _KIT.password,
        "credentials": {},
        "needs": None,
        "fingerprint": "ffff-ffff",
        "version": "0.1.0",
        "made_on": _AT[:10],
        "text": _KIT.text,
        "qr": matrix(_KIT.text),
    }
    page.route("**/api/backups/kit", lambda route: route.fulfill(json=sheet))
    press(page, "Show the kit")
    press(page, "Show the kit", dialog(page).get_by_role("dialog"))
    expect(page.locator(".kit-sheet")).to_be_visible()
    return page


def kit_test(person: Person) -> Page:
    page = _backups(person)
    press(page, "Test the kit")
    expect(page.locator(".kit-check")).to_be_visible()
    return page


def backup_failed(person: Person) -> Page:
    problem = "The repository /media/usb/parachute cannot be reached: timeout."
    return _backups(person, problem=problem, create={**_DONE, "result": "failed", "message": problem})


def sign_in(person: Person) -> Page:
    return _signed_out(person)


def sign_in_here(person: Person) -> Page:
    """The page on the computer itself, which names the program to type."""
    return _signed_out(person, program="/home/ada/parachute/.venv/bin/parachute")


def sign_in_refused(person: Person) -> Page:
    page = _signed_out(person)
    page.locator("input").first.fill("AAAA-BBBB")
    page.locator("form button").first.click()
    expect(page.get_by_role("alert")).to_be_visible()
    person.forgive_refusals()
    return page


def offline(person: Person) -> Page:
    """The network is away: what was loaded stays to be read."""
    page = person.page
    page.route("**/api/events*", lambda route: route.abort())
    person.open("journal")
    page.reload()  # the stream of changes is open since the sign-in
    expect(page.locator("main article").first).to_be_visible()
    expect(page.locator(".banner.warning")).to_be_visible()
    page.route("**/api/**", lambda route: route.abort())
    return page


def offline_elsewhere(person: Person) -> Page:
    """A screen of which nothing was loaded before."""
    page = offline(person)
    page.evaluate("location.hash = '#/capabilities/mcps'")
    expect(page.get_by_role("alert").first).to_be_visible()
    return page


def _backups(person: Person, **status: Any) -> Page:
    page = person.page
    page.route("**/api/backups", lambda route: route.fulfill(json={**_STATUS, **status}))
    person.open("computer/backups")
    page.reload()
    expect(page.locator("main .facts").first).to_be_visible()
    return page


def _signed_out(person: Person, **fields: Any) -> Page:
    page = person.page
    page.route("**/api/pairing/me", lambda route: route.fulfill(json={**_ME, **fields}))
    page.goto(f"{person.computer.url}/#/journal")
    page.reload()
    expect(page.locator("form input").first).to_be_visible()
    return page
