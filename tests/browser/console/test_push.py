"""Notices of the computer on a phone: sent by the real sender to a push service, delivered to the worker, answered from there.

Chromium has no push service here. Its subscription is made up, and what the service was sent is decrypted and delivered by the
debugging protocol. That has no click on a notice either: the worker gets one that this test makes, of the notice that is shown.
"""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, CDPSession, Worker, expect

from parachute.base.clock import now
from parachute.web.first_boot.models import Progress
from parachute.web.first_boot.store import ProgressStore
from tests.browser.chromium import chromium
from tests.browser.console.people import PHONE, WITH_WORKER, Person
from tests.connectors.push.push_service import PushService, Reaching, Subscriber
from tests.support.browser import owners
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long

QUESTION = {
    "question": "Which colour shall the boat have?",
    "header": "Colour",
    "options": [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}],
    "multiSelect": False,
}
SUBSCRIPTION = """(keys) => {
  const made = {
    endpoint: keys.endpoint,
    options: { applicationServerKey: null },
    toJSON: () => ({ endpoint: keys.endpoint, keys: { p256dh: keys.key, auth: keys.secret } }),
    unsubscribe: async () => true,
  };
  PushManager.prototype.getSubscription = async () => null;
  PushManager.prototype.subscribe = async (options) => Object.assign(made, { asked: (window.asked = options) });
}"""
SHOWN = """async () => (await registration.getNotifications()).map(({ title, body, actions }) => (
  { title, body, actions: actions.map(({ title }) => title) }))"""
PRESS = """async (action) => {
  const [notification] = await registration.getNotifications();
  const event = new NotificationEvent("notificationclick", { notification, action });
  let work;
  // An event that no browser made lets nobody wait for it.
  Object.defineProperty(event, "waitUntil", { value: (promise) => (work = promise) });
  dispatchEvent(event);
  await work.catch(() => undefined);
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that shows notifications."""
    with chromium(whole=True) as running:
        yield running


@pytest.fixture
def api() -> Iterator[MessagesAPI]:
    """A scripted model."""
    with MessagesAPI() as made:
        yield made


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: MessagesAPI) -> Iterator[Reaching]:
    """A server that was set up, and reaches a push service."""
    service = PushService(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(service.certificate))
    made = Reaching(settings={"agents": {"spare": False}}, environment=api.credentials)
    made.service = service
    ProgressStore(made.home.root).write(Progress(done_at=now()))
    with made:
        yield made
    service.close()


class Phone(Person):
    """A phone whose browser subscribed; `deliver` is what its push service would do."""

    def __init__(self, browser: Browser, server: Any) -> None:
        super().__init__(browser, server, PHONE, permissions=["notifications"], **WITH_WORKER)
        self.keys = Subscriber()
        self.context.add_init_script(f"({SUBSCRIPTION})({json.dumps(self.keys.body)})")

    def deliver(self, session: CDPSession, registration: str, body: bytes) -> dict[str, Any]:
        """Deliver what the service was sent."""
        said = self.keys.read(body)
        message = {"origin": self.computer.url, "registrationId": registration, "data": json.dumps(said)}
        session.send("ServiceWorker.deliverPushMessage", message)
        return said

    def worker(self) -> Worker:
        return self.context.service_workers[0]

    def shown(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.worker().evaluate(SHOWN)
        return found


def test_a_phone_is_told_and_answers_from_the_notice(browser: Browser, server: Reaching, api: MessagesAPI) -> None:
    phone, service = Phone(browser, server), server.service
    phone.sign_in(name="Phone")
    page = phone.open("keys")
    page.evaluate("async () => void (await navigator.serviceWorker.ready)")
    session = phone.context.new_cdp_session(phone.context.new_page())
    registrations: list[str] = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda found: registrations.extend(each["registrationId"] for each in found["registrations"]),
    )
    session.send("ServiceWorker.enable")
    page.get_by_role("switch", name="Tell this device").check()
    expect(page.get_by_text("no notice yet")).to_be_visible()
    asked = page.evaluate("window.asked")
    assert (asked["userVisibleOnly"], asked["applicationServerKey"]) == (
        True,
        owners(server, "GET", "/api/push").json()["key"],
    )
    page.get_by_role("button", name="Send a test").click()
    phone.deliver(session, registrations[-1], service.wait(1)[2])
    wait_until(lambda: [each["title"] for each in phone.shown()] == ["Notices arrive here"], "the test is shown")
    phone.worker().evaluate("async () => (await registration.getNotifications()).forEach((each) => each.close())")
    page.get_by_label("A notice says").select_option("title and details")
    expect(page.get_by_text("last notice")).to_be_visible()

    # Nobody looks: the question is told with its answers, and one of them is given from the notice.
    page.close()
    windows = "clients.matchAll({ type: 'window' }).then(({ length }) => length)"
    wait_until(lambda: phone.worker().evaluate(windows) == 0, "the worker sees no page")
    api.script(tool_use("AskUserQuestion", {"questions": [QUESTION]}), text("Red it is."))
    answers: list[str] = []
    asking = threading.Thread(
        target=lambda: answers.append(owners(server, "POST", "/api/chat", {"message": "Paint the boat"}).text)
    )
    asking.start()
    said = phone.deliver(session, registrations[-1], service.wait(2)[2])
    wait_until(lambda: len(phone.shown()) == 1, "the question is shown")
    [shown] = phone.shown()
    assert shown["title"] == "An agent has a question"
    assert "Which colour shall the boat have?" in shown["body"]
    assert shown["actions"] == ["Red", "Blue"]
    phone.worker().evaluate(PRESS, "0")
    wait_until(lambda: owners(server, "GET", "/api/inbox").json()["items"] == [], "the answer arrives")
    assert phone.shown() == []
    asking.join()
    assert "Red it is." in answers[0]

    # Once more it does not wait any more: the device says so, and offers nothing.
    session.send(
        "ServiceWorker.deliverPushMessage",
        {"origin": server.url, "registrationId": registrations[-1], "data": json.dumps(said)},
    )
    wait_until(lambda: len(phone.shown()) == 1, "the question is shown again")
    phone.worker().evaluate(PRESS, "1")
    wait_until(
        lambda: [(each["body"], each["actions"]) for each in phone.shown()] == [(said["failed"], [])], "it says so"
    )
    phone.context.close()
