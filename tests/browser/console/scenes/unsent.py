"""Messages, entries and changes that wait on the device, and a change that the computer does not take."""

from playwright.sync_api import Page, expect

from tests.browser.console import furnishing
from tests.browser.console.people import Person
from tests.browser.console.scenes.letters import forgotten, kept
from tests.browser.console.scenes.talks import talk

_TEXT = "The seeds are in the shed, on the shelf behind the ladder."
_BEFORE = {"title": "", "content": "Water the peas.", "version": "1"}


def messages_unsent(person: Person) -> Page:
    page = talk(person, "versions")
    session = page.url.rpartition("/")[2]
    _keep(page, "chat", content="And when do I sow the peas?", chat={"session": session})
    refused = {"isRefused": True, "problem": "The conversation has changed since."}
    _keep(page, "chat", content="Which ones come first?", chat={"session": session}, **refused)
    return _shown(page, ".message.waiting")


def entries_unsent(person: Person) -> Page:
    page = person.open("journal")
    _keep(page, "journal", content=_TEXT)
    _keep(page, "edit", content="The peas have water.", edit=_edit())
    sound = {"type": "audio/webm", "name": "recording.webm", "seconds": 83}
    _keep(page, "journal", content="", sound=sound, isHeld=True)
    return _shown(page, ".unsent")


def entry_conflict(person: Person) -> Page:
    page = person.open("journal")
    theirs = {**_BEFORE, "content": "Water the peas, and the basil on the balcony.", "version": "2"}
    _keep(page, "edit", content="Water the peas in the evening.", edit=_edit(theirs=theirs), isRefused=True)
    return _shown(page, ".conflict")


def entry_conflict_deleted(person: Person) -> Page:
    page = person.open("journal")
    _keep(page, "edit", content="Water the peas in the evening.", edit=_edit(theirs=None), isRefused=True)
    return _shown(page, ".conflict")


def _edit(**fields: object) -> dict[str, object]:
    return {"entry": "para:daily:aaaaaaaaaaaa", "title": "", "before": _BEFORE, **fields}


def _keep(page: Page, kind: str, **fields: object) -> None:
    number = page.evaluate("() => (window.letters = (window.letters ?? 0) + 1)")
    letter = {"id": f"{number}" * 24, "kind": kind, "at": f"2026-01-05T10:0{number}:00Z", "date": furnishing.day()}
    kept(page, {**letter, **fields})


def _shown(page: Page, what: str) -> Page:
    """Load the page anew while nothing can be sent; what it shows is gone from the disk then, and never arrives."""
    page.route("**/api/**", lambda route: route.fallback() if route.request.method == "GET" else route.abort())
    page.reload()
    expect(page.locator("main").locator(what).first).to_be_visible()
    forgotten(page)
    page.locator(what).first.scroll_into_view_if_needed()
    return page
