"""A recording that was broken off, or that did not arrive, is kept on the device and sent later."""

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import MICROPHONE
from tests.browser.console import furnishing
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import PHONE
from tests.support.computer import Computer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long
BROWSER_OPTIONS = MICROPHONE

SLICES = """async () => await new Promise((resolve) => {
  const asked = indexedDB.open("parachute-outbox");
  asked.onsuccess = () => {
    const keys = asked.result.transaction("letters").objectStore("letters").getAllKeys();
    keys.onsuccess = () => { asked.result.close(); resolve(keys.result.filter((key) => key[0] === "slice").length); };
  };
})"""


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """The journal."""
    furnishing.install(computer, "daily")


def test_a_recording_survives_a_page_that_is_killed_and_a_failed_upload(
    make_person: MakePerson, computer: Computer
) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    page.get_by_role("button", name="Record your voice").click()
    wait_until(lambda: page.evaluate(SLICES), "a slice is on the disk", seconds_between=0.2)
    page.close()
    person.page = page = person.context.new_page()
    person.open("journal")
    unsent = page.get_by_role("region", name="Not sent yet")
    expect(unsent.get_by_text("Recording, 0:0")).to_be_visible()
    page.route("**/api/daily/assets/**", lambda route: route.abort())
    unsent.get_by_role("button", name="Send").click()
    expect(unsent.get_by_text("The recording was interrupted.")).to_have_count(0)
    assert page.evaluate(SLICES) > 0
    page.unroute("**/api/daily/assets/**")
    before = set(computer.vault.glob("Daily/assets/**/*.webm"))
    unsent.get_by_role("button", name="Send").click()
    expect(unsent).to_have_count(0)
    (kept,) = set(computer.vault.glob("Daily/assets/**/*.webm")) - before
    assert kept.stat().st_size > 0
    assert page.evaluate(SLICES) == 0
    person.forgive_refusals()
