"""A form of an MCP server: its own words, its fields, and the owner's answer."""

from typing import Any

import pytest
from msgspec import to_builtins
from playwright.sync_api import expect

from parachute.capabilities.mcp_servers.forms import form_of
from parachute.events.inbox.models import Item
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.test_inbox_cards import BOTH, opened

pytestmark = pytest.mark.long

FIELDS = {
    "boat": {"type": "string", "title": "Boat", "description": "Its name, as the harbour knows it."},
    "guests": {"type": "integer", "title": "Guests", "minimum": 1, "default": 2},
    "mail": {"type": "string", "title": "E-mail", "format": "email"},
    "berth": {"type": "string", "title": "Berth", "enum": ["north", "south"]},
    "extras": {"type": "array", "title": "Extras", "items": {"enum": ["water", "power"]}, "default": ["water"]},
    "dog": {"type": "boolean", "title": "A dog comes along"},
}
SCHEMA = {"type": "object", "properties": FIELDS, "required": ["boat", "guests"]}


@BOTH
def test_a_form_is_answered_with_what_is_shown(make_person: MakePerson, size: dict[str, Any]) -> None:
    form = to_builtins(form_of("A berth is free from Friday to Sunday.\nWhich boat shall lie there?", SCHEMA))
    details = {"server": "harbour", "tools": ["book_berth"], "conversations": ["Trip"], **form}
    item = Item("mcp_question", "k", "harbour asks you something", "harbour", "", details, ("answer", "decline"))
    page, answered = opened(make_person(size, bypass_csp=True), item)
    send = page.get_by_role("button", name="Send to the server")
    expect(
        page.get_by_role("heading", name="The MCP server harbour asks you something, during book_berth in “Trip”.")
    ).to_be_visible()
    expect(send).to_be_disabled()
    page.get_by_label("Boat", exact=True).fill("Anna")
    page.get_by_label("Berth", exact=True).select_option("north")
    page.get_by_label("power", exact=True).check()
    page.get_by_label("A dog comes along", exact=True).check()
    assert violations(page) == []
    with page.expect_response("**/api/inbox/answer"):  # the card goes before it is answered
        send.click()
    expect(page.get_by_role("article")).to_have_count(0)
    assert answered[0]["values"] == {"boat": "Anna", "berth": "north", "extras": ["water", "power"], "dog": "true"}
