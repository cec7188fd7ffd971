"""The console opens without a connection, with the last lists to read, and forgets them when somebody signs out."""

import json

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.browser.console.conftest import MakePerson
from tests.browser.console.furnished_parts import Household, furnish_question
from tests.browser.console.kept_answers import kept, wait_for, wait_for_nothing
from tests.browser.console.people import PHONE, WITH_WORKER, wait_for_worker
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    """A question waits."""
    made = Household(computer, model)
    furnish_question(made)
    return made


def ready(page: Page) -> None:
    """Wait until the worker answers for this page, and let it see the page's requests."""
    wait_for_worker(page)
    page.reload()
    expect(page.get_by_text("Which colour should the hull have?")).to_be_visible()
    wait_for(page, "/api/inbox", "/api/pairing/me")


def test_the_last_lists_are_read_offline(make_person: MakePerson, house: Household) -> None:
    person = make_person(PHONE, **WITH_WORKER)
    page = person.open("inbox")
    ready(page)
    person.context.set_offline(True)
    page.reload()
    expect(page.get_by_text("Which colour should the hull have?")).to_be_visible()
    expect(page.get_by_text("The computer does not answer.")).to_be_visible()
    person.context.set_offline(False)
    expect(page.get_by_text("The computer does not answer. You see what was loaded last.")).to_have_count(0)
    person.forgive_refusals()


def test_nothing_is_left_after_signing_out(make_person: MakePerson, house: Household) -> None:
    person = make_person(**WITH_WORKER)
    page = person.open("inbox")
    ready(page)
    assert "hull" not in str(kept(page)), "it is encrypted"
    part = next(each for each in page.context.cookies() if each["name"].endswith("parachute-reading"))
    assert not part["httpOnly"]
    person.open("keys").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to your computer")).to_be_visible()
    wait_for_nothing(page)
    assert [each["name"] for each in page.context.cookies()] == []
    person.context.set_offline(True)
    page.reload()
    expect(page.get_by_text("Which colour should the hull have?")).to_have_count(0)
    assert kept(page) == {}
    person.context.set_offline(False)
    person.forgive_refusals()


def test_a_removed_browser_forgets_what_it_kept(make_person: MakePerson, house: Household) -> None:
    person = make_person(**WITH_WORKER)
    page = person.open("inbox")
    ready(page)
    for session in house.ask("GET", "/api/pairing/sessions")["sessions"]:
        house.ask("DELETE", f"/api/pairing/sessions/{session['id']}")
    expect(page.get_by_role("heading", name="Sign in to your computer")).to_be_visible()
    wait_for_nothing(page)
    person.forgive_refusals()


def test_what_is_kept_cannot_be_read_without_the_part_of_the_session(make_person: MakePerson, house: Household) -> None:
    person = make_person(PHONE, **WITH_WORKER)
    page = person.open("inbox")
    ready(page)
    # As when the session has run out while the device was away.
    page.context.clear_cookies(name="parachute-reading")
    person.context.set_offline(True)
    page.reload()
    expect(page.get_by_role("alert").first).to_be_visible()
    expect(page.get_by_text("Which colour should the hull have?")).to_have_count(0)
    assert kept(page) != {}
    person.context.set_offline(False)
    person.forgive_refusals()


def test_it_can_be_installed(make_person: MakePerson, house: Household) -> None:
    page = make_person(**WITH_WORKER).open("inbox")
    address = page.locator("link[rel=manifest]").get_attribute("href")
    found = httpx2.get(f"{house.computer.url}/{address}", timeout=60, **PLAIN)
    assert found.headers["content-type"] == "application/manifest+json"
    manifest = json.loads(found.text)
    assert (manifest["start_url"], manifest["scope"], manifest["display"]) == ("/", "/", "standalone")
    for icon in manifest["icons"]:
        drawn = httpx2.get(f"{house.computer.url}{icon['src']}", timeout=60, **PLAIN)
        assert drawn.headers["content-type"] == icon["type"]
        if icon["type"] == "image/png":
            width = int.from_bytes(drawn.content[16:20])
            assert f"{width}x{width}" == icon["sizes"]
    worker = httpx2.get(f"{house.computer.url}/console/worker.js", timeout=60, **PLAIN)
    assert (worker.headers["service-worker-allowed"], worker.headers["cache-control"]) == ("/", "no-cache")
    client = page.context.new_cdp_session(page)
    errors = client.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [error["errorId"] for error in errors if error["errorId"] != "in-incognito"] == []


def test_an_answer_that_was_given_offline_arrives(make_person: MakePerson, house: Household) -> None:
    person = make_person(PHONE, **WITH_WORKER)
    page = person.open("inbox")
    expect(page.get_by_text("Which colour should the hull have?")).to_be_visible()
    person.context.set_offline(True)
    page.get_by_label("White").check()
    page.get_by_role("button", name="Answer", exact=True).click()
    waits = page.get_by_role("region", name="Not sent yet")
    expect(waits.get_by_text("White")).to_be_visible()
    expect(page.get_by_role("button", name="Answer", exact=True)).to_have_count(0)
    assert len(house.waiting()) == 1
    person.context.set_offline(False)
    expect(waits).to_have_count(0)
    expect(page.get_by_text("The computer does not answer. You see what was loaded last.")).to_have_count(0)
    house.computer.wait_until(lambda: house.waiting() == [], "what was answered has arrived")
    person.forgive_refusals()
