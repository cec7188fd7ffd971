"""Things that other apps have shared, as the service worker keeps it."""

from playwright.sync_api import Page, expect

from tests.browser.console.people import Person
from tests.browser.console.scenes.letters import forgotten, kept


def shared_asks(person: Person) -> Page:
    return _shared(person)


def shared_nothing(person: Person) -> Page:
    page = person.open("keys")
    forgotten(page)
    page.goto(f"{person.computer.url}/#/share?problem=elsewhere")
    expect(page.locator("main .notice")).to_be_visible()
    return page


def shared_refused(person: Person) -> Page:
    return _shared(person, target="note", isRefused=True, problem="The disk has no room for this file.")


def _shared(person: Person, **fields: object) -> Page:
    page = person.open("keys")
    files = [{"name": "report.pdf", "type": "application/pdf", "size": 12_345}]
    letter = {
        **{
            "id": "a" * 24,
            "kind": "shared",
            "at": "2026-01-05T10:00:00Z",
            "date": "2026-01-05",
            "content": "About bread",
        },
        "shared": {"title": "About bread", "link": "", "files": files},
    }
    kept(page, {**letter, **fields})
    page.goto(f"{person.computer.url}/#/share")
    expect(page.locator("main .shared")).to_be_visible()
    # The screens after this one are shown without it.
    forgotten(page)
    return page
