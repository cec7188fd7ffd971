"""A fresh computer, from the address that it prints to a household that uses it: on a phone, and without a shell."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.support.computer import PLAIN, Computer
from tests.support.messages_api import MessagesAPI, text

pytestmark = pytest.mark.long

NAMES = ("Brain", "Chat", "Daily")


@pytest.fixture(scope="module")
def computer() -> Iterator[Computer]:
    """A computer that nobody has seen yet."""
    with Computer() as running:
        yield running


def printed_address(computer: Computer) -> str:
    """What `parachute pair` prints, as `parachute start` does at a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "parachute.cli", "pair", "--json"],
        env={"PARACHUTE_HOME": str(computer.home.root), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    return str(json.loads(done.stdout)["url"])


def test_a_fresh_computer_is_everyones(computer: Computer, browser: Browser, model: MessagesAPI) -> None:
    model.default(text("Good morning, household."))
    owner = Person(browser, computer, PHONE)
    page = owner.page
    page.goto(printed_address(computer))
    page.get_by_role("link", name="Set up a new computer").click()

    page.get_by_label("Where the model runs").select_option("compatible")
    page.get_by_label("Address of the server").fill(model.url)
    page.get_by_label("Model", exact=True).fill("household-1")
    page.get_by_role("button", name="Save and try it").click()
    expect(page.get_by_text("Good morning, household.")).to_be_visible()
    page.get_by_role("link", name="Next", exact=True).click()

    page.get_by_role("button", name="Agree and install all 3").click()
    expect(page.get_by_text("installed", exact=True)).to_have_count(3)
    for name in NAMES:
        expect(page.get_by_role("main").get_by_text(name, exact=True)).to_be_visible()
    page.get_by_role("link", name="Next", exact=True).click()

    # A key for the family, and a second browser.
    page.get_by_label("What is it?").select_option("app")
    page.get_by_label("What may it do?").select_option("family")
    page.get_by_label("What is it called?").fill("Kitchen tablet")
    page.get_by_role("button", name="Make a key").click()
    key = page.get_by_text(re.compile(r"^para_.{43}$")).inner_text()
    page.get_by_role("button", name="Done").click()
    with httpx2.Client(
        base_url=computer.url, **PLAIN, timeout=60, headers={"authorization": f"Bearer {key}"}
    ) as tablet:
        assert tablet.get("/api/daily/entries").status_code == 200
        assert tablet.get("/api/chat").status_code == 403
    page.get_by_label("What is it called?").fill("Desk")
    page.get_by_role("button", name="Show a code").click()
    code = page.locator(".pairing-code").inner_text()
    second = Person(browser, computer, DESKTOP)
    second.page.goto(computer.url)
    second.page.get_by_label("Code or key").fill(code)
    second.page.keyboard.press("Enter")
    expect(second.page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("2 other devices and keys are in:")).to_be_visible()
    page.get_by_role("link", name="Next", exact=True).click()

    page.get_by_role("link", name="Skip", exact=True).click()
    page.get_by_role("button", name="Finish").click()

    page.get_by_label("Message", exact=True).fill("Good morning!")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("log").get_by_text("Good morning, household.")).to_be_visible()

    page.get_by_role("button", name="Stop everything").locator("visible=true").click()
    expect(page.get_by_role("alert").get_by_text("Everything is stopped")).to_be_visible()
    expect(second.page.get_by_role("alert").get_by_text("Everything is stopped")).to_be_visible()
    second.page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("alert").get_by_text("Everything is stopped")).to_be_hidden()
    page.get_by_label("Message", exact=True).fill("Still there?")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("log").get_by_text("Good morning, household.")).to_have_count(2)
    assert (owner.problems, second.problems) == ([], [])
    owner.context.close()
    second.context.close()
