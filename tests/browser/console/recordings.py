"""Recordings on the disk of a browser, and what may happen to them on their way."""

import contextlib
import random
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Error, Page, Request, Route, expect

from tests.browser.console.people import Person
from tests.support.waiting import wait_until

_OPENED = """new Promise((resolve) => {
  const asked = indexedDB.open("parachute-outbox");
  // The console makes it, with what belongs into it: one that is made here would be without.
  asked.onupgradeneeded = () => asked.transaction.abort();
  asked.onerror = () => resolve(undefined);
  asked.onsuccess = () => resolve(asked.result);
})"""

_SLICES = f"""async () => {{
  const database = await {_OPENED};
  if (!database) return 0;
  const keys = await new Promise((resolve) => {{
    const asked = database.transaction("letters").objectStore("letters").getAllKeys();
    asked.onsuccess = () => resolve(asked.result);
  }});
  database.close();
  return keys.filter((key) => key[0] === "slice").length;
}}"""

_LENGTHEN = f"""async (size) => {{
  const database = await {_OPENED};
  const letters = database.transaction("letters", "readwrite").objectStore("letters");
  const keys = await new Promise((resolve) => (letters.getAllKeys().onsuccess = (event) => resolve(event.target.result)));
  const more = new Uint8Array(size);
  for (let start = 0; start < size; start += 65536) crypto.getRandomValues(more.subarray(start, Math.min(size, start + 65536)));
  const [, id] = keys.find((key) => key[0] === "letter");
  await new Promise((resolve) => (letters.put(new Blob([more]), ["slice", id, 1000000]).onsuccess = resolve));
  const slices = [];
  for (const key of [...keys.filter((key) => key[0] === "slice"), ["slice", id, 1000000]]) {{
    slices.push(await new Promise((resolve) => (letters.get(key).onsuccess = (event) => resolve(event.target.result))));
  }}
  database.close();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await new Blob(slices).arrayBuffer()));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}}"""

SENT = ("**/api/daily/recordings/**", "**/api/daily/entries")
FULL = {"detail": "The disk is full.", "key": "disk_full", "hint": None}


def slices(page: Page) -> int:
    """Count the slices of sound on the disk of the browser."""
    return int(page.evaluate(_SLICES))


def lengthen(page: Page, size: int) -> str:
    """Make the one recording that waits longer, as if it had taken minutes, and return the hash of all of it."""
    return str(page.evaluate(_LENGTHEN, size))


def begin(page: Page, count: int = 1) -> None:
    """Record until so many slices are on the disk."""
    page.get_by_role("button", name="Record your voice").click()
    wait_until(lambda: slices(page) >= count, "slices are on the disk", seconds_between=0.1)


def unsent(page: Page) -> Any:
    """The part of the page with what waits."""
    return page.get_by_role("region", name="Not sent yet")


def stop_requests(page: Page, handler: Callable[[Route], None]) -> None:
    """Have a handler for all that sends a recording; questions for entries pass."""
    for pattern in SENT:
        page.route(pattern, lambda route: route.fallback() if _is_reading(route.request) else handler(route))


def let_requests(page: Page) -> None:
    """Take the handlers back."""
    for pattern in SENT:
        page.unroute(pattern)


def _is_reading(request: Request) -> bool:
    return request.method == "GET" and "/recordings/" not in request.url


class Disturbed:
    """One recording, and what happens to it at a moment that chance says."""

    def __init__(self, person: Person, chance: random.Random) -> None:
        self.person = person
        self.chance = chance

    def record(self, kind: str) -> str:
        """Record, disturb, and have it sent; return its hash."""
        page = self.person.open("journal")
        begin(page, self.chance.choice([1, 1, 2]))
        if kind == "kill while recording":
            self._kill()
        elif kind == "reload while recording":
            page.reload()
        else:
            stop_requests(page, lambda route: route.abort())
            page.get_by_role("button", name="Keep").click()
        page = self.person.page
        expect(unsent(page).get_by_role("button", name="Send now")).to_be_visible()
        digest = lengthen(page, self.chance.randrange(1, 900_000))
        if not kind.endswith("recording"):
            self._disturb(kind, self.chance.randrange(1, 7))
        self._finish()
        return digest

    def _disturb(self, kind: str, moment: int) -> None:
        """Send it, and disturb the request with this number."""
        page, count, met = self.person.page, 0, []

        def handle(route: Route) -> None:
            nonlocal count
            count += 1
            if count != moment:
                route.continue_()
                return
            if kind == "lost answer":
                route.fetch()
                route.abort()
            elif kind == "503":
                route.fulfill(status=503, json={"detail": "Busy.", "key": "busy", "hint": None})
            elif kind == "507":
                route.fulfill(status=507, json=FULL)
            elif kind == "offline":
                route.abort("internetdisconnected")
            # Any other is kept waiting: the page is killed or loaded anew meanwhile.
            met.append(route)

        # Over the one that lets nothing out: the page tries by itself, too, and may be done before somebody presses.
        stop_requests(page, handle)
        with contextlib.suppress(Error):
            unsent(page).get_by_role("button", name="Send now").click(timeout=2000)
        # What is being sent is not shown as waiting, and has not arrived yet.
        wait_until(lambda: met or slices(page) == 0, "the moment has come")
        if met and kind == "kill":
            self._kill()
        elif met and kind == "reload":
            let_requests(page)
            page.reload()
        let_requests(self.person.page)

    def _finish(self) -> None:
        """Press until nothing waits, as somebody does who sees it."""
        page = self.person.page
        page.locator("main .page-header h1").wait_for()

        def is_sent() -> bool:
            # It may be sent, and gone, just now.
            with contextlib.suppress(Error):
                if unsent(page).count():
                    unsent(page).get_by_role("button", name="Send now").click(timeout=2000)
            return slices(page) == 0

        wait_until(is_sent, "it is sent", seconds_between=0.2)
        expect(unsent(page)).to_have_count(0)

    def _kill(self) -> None:
        """End the process of the page, without a word to it."""
        page = self.person.page
        with page.expect_event("crash"), contextlib.suppress(Error):
            page.goto("chrome://crash")
        page.close()
        self.person.page = self.person.context.new_page()
        self.person.open("journal")
