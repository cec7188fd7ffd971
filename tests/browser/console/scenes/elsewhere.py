"""Assistants elsewhere and devices that are told: what others have connected to the computer."""

from typing import Any

from playwright.sync_api import Page, expect

from parachute.web.pairing.links import matrix
from tests.browser.console.people import Person
from tests.browser.console.scenes.pressing import dialog, press

_SINCE = "2026-01-05T10:00:00Z"
_CLIENT: dict[str, Any] = {
    "id": "a1b2c3d4e5f6",
    "name": "Claude Desktop",
    "returns_to": "127.0.0.1:8765",
    "address": "https://parachute.local:3333/mcp",
    "since": _SINCE,
    "last_request": _SINCE,
    "limits": {
        "tools": ["daily-search", "brain-search"],
        "folders": ["Notes", "Projects/boat"],
        "kinds": ["entry", "person"],
        "workspaces": ["-"],
        "since": "2026-01-01",
        "until": None,
        "ends_on": "2027-01-01",
        "bytes_a_day": 1_000_000,
    },
    "today": {"answers": 3, "bytes": 420_000, "sentences": 212},
    "total": {"answers": 14, "bytes": 1_900_000, "sentences": 841},
}
_RECORD = {"timestamp": _SINCE, "target_endpoint": "daily-search", "success": True, "bytes": 2_100, "sentences": 12}
_FILES = [{"path": "Daily/journals/2026-01-04.md"}, {"path": "Daily/journals/2026-01-05.md"}]


def clients_some(person: Person) -> Page:
    _serve(person.page, "", {"clients": [_CLIENT, {**_CLIENT, "id": "b", "name": "ChatGPT", "last_request": None}]})
    page = person.open("clients")
    expect(page.locator("main .row")).to_have_count(2)
    return page


def client(person: Person) -> Page:
    _serve(person.page, f"/{_CLIENT['id']}", _CLIENT)
    records = [{**_RECORD, "files": _FILES}, {**_RECORD, "success": False}]
    _serve(person.page, f"/{_CLIENT['id']}/requests", {"records": records, "next": "more"})
    page = person.open(f"clients/{_CLIENT['id']}")
    expect(page.locator("main .row")).to_have_count(2)
    return page


def client_change(person: Person) -> Page:
    page = client(person)
    press(page, "Change")
    return dialog(page)


def client_consent(person: Person) -> Page:
    asked = {"id": "r", "name": "Claude Desktop", "returns_to": "127.0.0.1:8765", "is_here": True, "address": "x"}
    _serve(person.page, "/requests/r", asked)
    page = person.open("clients/consent/r")
    expect(page.locator("main .consent-answer")).to_be_visible()
    return page


def client_connect(person: Person) -> Page:
    """The ways in over TLS with a certificate of this home."""
    address = "https://parachute.local:3333/mcp"
    line = f"NODE_EXTRA_CA_CERTS=parachute.crt claude mcp add --transport http parachute {address}"
    tried = f"NODE_EXTRA_CA_CERTS=parachute.crt npx @modelcontextprotocol/inspector --cli {address} --method tools/list"
    way = {
        "address": address,
        "can_sign_in": False,
        "claude_code": line,
        "inspector": tried,
        "certificate": "/tls/ca.crt",
        "qr": matrix(address),
    }
    _serve(person.page, "/connect", way)
    page = person.open("clients/connect")
    expect(page.locator("main .connect-line")).to_have_count(3)
    expect(page.locator("main .qr")).to_be_visible()
    return page


def devices_told(person: Person) -> Page:
    told: dict[str, Any] = {
        "id": "a",
        "name": "Phone",
        "service": "fcm.googleapis.com",
        "state": "told",
        "since": _SINCE,
        "said_at": _SINCE,
        "problem": None,
        "is_current": True,
    }
    asked = {**told, "id": "b", "name": "Laptop", "state": "asked", "said_at": None, "is_current": False}
    failed = {
        **told,
        "id": "c",
        "name": "Tablet",
        "problem": "fcm.googleapis.com does not answer.",
        "is_current": False,
    }
    person.page.route("**/api/push", lambda route: route.fulfill(json={"key": "", "devices": [told, asked, failed]}))
    page = person.open("keys")
    notices = page.locator("main .section", has=page.get_by_role("switch"))
    expect(notices.locator(".row")).to_have_count(3)
    expect(notices.locator(".loading")).to_have_count(0)
    notices.scroll_into_view_if_needed()
    return page


def _serve(page: Page, path: str, answer: dict[str, Any]) -> None:
    page.route(f"**/api/mcp-clients{path}", lambda route: route.fulfill(json=answer))
