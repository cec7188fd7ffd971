"""Computers for tests of the console, with a model of the household, and browsers that are signed in."""

from typing import Any
from urllib.parse import urlsplit

import httpx2
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from parachute.base.clock import now
from parachute.web.first_boot.models import Progress
from parachute.web.first_boot.store import ProgressStore
from tests.support.computer import Computer
from tests.support.installation import PLAIN, Installation
from tests.support.messages_api import MessagesAPI
from tests.support.noon import around_noon
from tests.support.server import Server
from tests.support.waiting import wait_until

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 860}}
MILLISECONDS = 60_000.0
MINUTES = 4 * 60_000.0
"""For what takes a minute on a machine that does nothing else: an update, a restore."""


def computer_with(model: MessagesAPI, **settings: Any) -> Computer:
    """A computer that asks the scripted model, and was set up; a context manager."""
    # Of a journal's days none ends meanwhile.
    made = Computer(settings=settings, environment={**model.credentials, "TZ": around_noon()})
    _set_up(made)
    return made


def server_with(model: MessagesAPI, **settings: Any) -> Server:
    """A server in the test's process that asks the scripted model, and was set up; a context manager."""
    made = Server(settings=settings, environment=model.credentials)
    _set_up(made)
    return made


def _set_up(made: Installation) -> None:
    ProgressStore(made.home.root).write(Progress(done_at=now()))


def wait_for_promise(page: Page, program: str, what: str, argument: Any = None) -> None:
    """Evaluate until what is promised is true; `wait_for_function` takes the promise itself for a yes."""
    wait_until(lambda: page.evaluate(program, argument), what)


def wait_for_worker(page: Page) -> None:
    """Wait until the service worker answers for a page."""
    ready = "async () => { await navigator.serviceWorker.ready; return !!navigator.serviceWorker.controller; }"
    wait_for_promise(page, ready, "the worker answers for the page")


def pairing_link(computer: Installation, **fields: Any) -> str:
    """The address that signs a browser in, once."""
    answer = httpx2.post(f"{computer.url}/api/pairing/codes", json=fields, timeout=60, **PLAIN)
    answer.raise_for_status()
    return str(answer.json()["url"])


WITH_WORKER: dict[str, Any] = {"service_workers": "allow"}
"""For what opens without a connection, and for whatever may go through the worker."""


class Person:
    """Somebody with a browser of their own; `problems` is what their pages complained about.

    The worker is kept out, as it is from a phone that comes without TLS: it would fetch the whole program for each of them.
    """

    def __init__(self, browser: Browser, computer: Installation, size: dict[str, Any], **options: Any) -> None:
        self.computer = computer
        self.context: BrowserContext = browser.new_context(
            **{
                "reduced_motion": "reduce",
                "timezone_id": around_noon(),
                "service_workers": "block",
                **size,
                **options,
            }
        )
        self.context.set_default_timeout(MILLISECONDS)
        self.problems: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda message: self._told(message) if message.type == "error" else None)

    def _told(self, message: ConsoleMessage) -> None:
        # Without the port, which may have the number of an answer in it.
        self.problems.append(f"{message.text} {urlsplit(message.location['url']).path}")

    def sign_in(self, **fields: Any) -> Page:
        """Open the console with a code of now."""
        self.page.goto(pairing_link(self.computer, **fields))
        self.page.locator("nav.bar").wait_for(state="attached")
        return self.page

    def open(self, place: str) -> Page:
        """Go to a screen, such as `chat`, and wait for its heading."""
        self.page.goto(f"{self.computer.url}/#/{place}")
        self.page.locator("main .page-header h1").wait_for()
        return self.page

    def forgive_refusals(self) -> None:
        """Forget what a browser itself writes about an answer that is no success: it was meant to come."""
        self.problems[:] = [problem for problem in self.problems if "Failed to load resource" not in problem]
