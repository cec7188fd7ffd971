"""Notes of a device without a push service for what begins to wait while nobody looks at the console."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import chromium
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import WITH_WORKER, wait_for_promise
from tests.support.computer import Computer

pytestmark = pytest.mark.long

NO_PUSH = "delete ServiceWorkerRegistration.prototype.pushManager"
"""A browser without a push service; Chromium's private windows, which tests have, complain to whoever asks for it."""

LOOKED_AWAY = "Object.defineProperty(document, 'hidden', { get: () => true })"
SHOWN = "navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((shown) => shown.map((each) => each.body).join())"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that shows notifications."""
    with chromium(whole=True) as running:
        yield running


def test_what_begins_to_wait_is_shown_by_the_device(make_person: MakePerson, computer: Computer) -> None:
    person = make_person(permissions=["notifications"], **WITH_WORKER)
    person.context.add_init_script(f"{LOOKED_AWAY}; {NO_PUSH}")
    person.page.reload()
    page = person.open("keys")
    switch = page.get_by_role("switch", name="Tell this device")
    expect(switch).not_to_be_checked()
    switch.check()
    page.reload()
    expect(page.get_by_role("switch", name="Tell this device")).to_be_checked()
    expect(page.get_by_text("this browser has no push service")).to_be_visible()
    # What waits already is no news.
    person.open("inbox")
    expect(page.get_by_role("heading", name="Nothing needs your decision")).to_be_visible()
    assert page.evaluate(SHOWN) == ""
    servers = {"mcpServers": {"tides": {"command": "python3", "args": ["tides.py"]}}}
    (computer.vault / ".mcp.json").write_text(json.dumps(servers))
    wait_for_promise(page, f"{SHOWN}.then((text) => text.includes('tides'))", "the notice is shown")


def test_a_browser_that_does_not_permit_it_says_so(make_person: MakePerson) -> None:
    page = make_person(**WITH_WORKER).open("keys")
    page.evaluate("Notification.requestPermission = () => Promise.resolve('denied')")
    page.get_by_role("switch", name="Tell this device").click()
    expect(page.get_by_text("blocks notifications of this page")).to_be_visible()
    expect(page.get_by_role("switch", name="Tell this device")).not_to_be_checked()
