"""Over TLS, as on a phone at home: conversations and the journal are read without a connection, and again when it is back."""

import os
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import chromium
from tests.browser.console import furnishing
from tests.browser.console.kept_answers import wait_for
from tests.browser.console.people import PHONE, WITH_WORKER, Person, wait_for_worker
from tests.support.computer import Computer
from tests.support.installation import PLAIN

pytestmark = pytest.mark.long
WHOLE = True

AWAY = "The computer does not answer. You see what was loaded last."


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """With a certificate."""
    return {"tls": {"enabled": True}}


@pytest.fixture(scope="module", autouse=True)
def sessions(computer: Computer) -> list[str]:
    """Conversations, beside a journal."""
    computer.wait_until(
        lambda: httpx2.get(f"{computer.url}/api/tls", timeout=60, **PLAIN).json()["ready"], "there is a certificate"
    )
    made = furnishing.add_conversations(computer, 3)
    furnishing.install(computer, "daily")
    furnishing.add_entry(computer, "Rain all day.")
    furnishing.add_entry(computer, "First frost.", 1)
    return made


@pytest.fixture(scope="module")
def browser(computer: Computer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The browser of somebody who trusts the computer: without that no worker would be let in."""
    home = tmp_path_factory.mktemp("home")
    subprocess.run(
        [sys.executable, "-m", "parachute.cli", "tls", "trust"],
        env={"PARACHUTE_HOME": str(computer.home.root), "PATH": os.environ["PATH"], "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    with chromium(home=home) as running:
        yield running


@pytest.fixture
def page(browser: Browser, computer: Computer) -> Iterator[Page]:
    """A phone that is signed in over TLS, and whose worker answers for its page."""
    secure = SimpleNamespace(url=f"https://127.0.0.1:{computer.port}")
    person = Person(browser, cast("Computer", secure), PHONE, **WITH_WORKER)
    code = furnishing.call(computer, "POST", "/api/pairing/codes", json={})["code"]
    person.page.goto(f"{secure.url}/#pair={code}")
    person.page.locator("nav.bar").wait_for(state="attached")
    assert person.page.evaluate("isSecureContext")
    wait_for_worker(person.page)
    wait_for(person.page, "/api/pairing/me")
    yield person.open("conversations")
    person.context.close()


def go(page: Page, name: str) -> None:
    """Go to a screen by the bar below."""
    page.locator("nav.bar").get_by_role("link", name=name, exact=True).click()


def test_the_newest_conversations_open_offline(page: Page, sessions: list[str]) -> None:
    wait_for(page, *(f"/api/chat/{session}?limit=50" for session in sessions))
    page.context.set_offline(True)
    page.reload()
    expect(page.get_by_text(AWAY)).to_be_visible()
    # None of them was opened here.
    for title in furnishing.TITLES[:2]:
        go(page, "History")
        page.get_by_role("link", name=title).click()
        expect(page.get_by_text(f"{title}?")).to_be_visible()
        expect(page.get_by_text("Let us look at it together.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text(AWAY)).to_have_count(0)


def test_the_last_month_of_the_journal_is_read_offline(page: Page) -> None:
    wait_for(page, *(f"/api/daily/entries?date={furnishing.day(back)}&limit=1000" for back in (0, 1, 30)))
    go(page, "Journal")
    expect(page.get_by_text("Rain all day.")).to_be_visible()
    page.context.set_offline(True)
    page.reload()
    expect(page.get_by_text("Rain all day.")).to_be_visible()
    expect(page.get_by_text(AWAY)).to_be_visible()
    page.get_by_role("link", name="Day before").click()
    expect(page.get_by_text("First frost.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text(AWAY)).to_have_count(0)
