"""Nothing that is said is lost: a recording is on the device until the computer has the whole of it, whatever happens between."""

import hashlib
import os
import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import MICROPHONE
from tests.browser.console import furnishing
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import PHONE, WITH_WORKER, pairing_link
from tests.browser.console.recordings import Disturbed, begin, lengthen, let_requests, slices, stop_requests, unsent
from tests.support.computer import Computer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long
BROWSER_OPTIONS = MICROPHONE

MANY = int(os.environ.get("PARACHUTE_RECORDINGS", "8"))
"""Recordings of the test with chance: 300 before a release."""

SEED = int(os.environ.get("PARACHUTE_SEED", "20"))
KINDS = (
    *("kill while recording", "reload while recording", "kill", "reload"),
    *("offline", "503", "507", "lost answer"),
)


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """The journal."""
    furnishing.install(computer, "daily")


def arrived(computer: Computer) -> list[str]:
    """The hashes of all recordings that the computer has."""
    found = computer.vault.glob("Daily/assets/*/*.webm")
    return sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in found)


def spoken(computer: Computer) -> list[str]:
    """The recordings of all entries."""
    entries = furnishing.call(computer, "GET", "/api/daily/entries?limit=1000")["entries"]
    return sorted(entry["audio_path"] for entry in entries if entry.get("audio_path"))


@pytest.mark.timeout(60 + 30 * MANY)
def test_all_arrive_once_and_whole(make_person: MakePerson, computer: Computer) -> None:
    before = arrived(computer)
    chance, person, said = random.Random(SEED), make_person(PHONE), []
    for number in range(MANY):
        said.append(Disturbed(person, chance).record(KINDS[number % len(KINDS)]))
    assert arrived(computer) == sorted([*before, *said])
    assert len(spoken(computer)) == len(set(spoken(computer))) == len(arrived(computer))
    assert list((computer.vault / "Daily/assets/.incoming").iterdir()) == []
    person.problems.clear()


def test_what_waits_is_heard_saved_and_deleted_after_a_question(make_person: MakePerson, tmp_path: Path) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    begin(page)
    page.reload()
    expect(unsent(page).get_by_text("Recording, 0:0")).to_be_visible()
    digest = lengthen(page, 1)
    unsent(page).get_by_role("button", name="Play").click()
    expect(unsent(page).locator("audio")).to_have_js_property("error", None)
    wait_until(lambda: unsent(page).locator("audio").evaluate("(audio) => audio.readyState > 1"), "it is heard")
    with page.expect_download() as saved:
        unsent(page).get_by_role("button", name="Save as a file").click()
    assert hashlib.sha256(saved.value.path().read_bytes()).hexdigest() == digest
    assert saved.value.suggested_filename.endswith(".webm")
    unsent(page).get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert slices(page) > 0
    unsent(page).get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(unsent(page)).to_have_count(0)
    assert slices(page) == 0


def test_little_room_is_said_and_a_full_browser_keeps_what_was_said(
    make_person: MakePerson, computer: Computer
) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    devtools = person.context.new_cdp_session(page)
    used = page.evaluate("async () => (await navigator.storage.estimate()).usage")

    def say(free: int) -> None:
        # Chromium itself says that there are some gigabytes, whatever it then gives.
        page.evaluate(f"navigator.storage.estimate = async () => ({{ quota: {free} + 512000, usage: 0 }})")

    say(0)
    page.get_by_role("button", name="Record your voice").click()
    expect(page.get_by_role("alert").get_by_text("This browser has no room left for a recording.")).to_be_visible()
    say(3_000_000)
    begin(page)
    expect(page.get_by_role("alert").filter(has_text="Room for about")).to_be_visible()
    kept = slices(page)
    devtools.send("Storage.overrideQuotaForOrigin", {"origin": computer.url, "quotaSize": used + 60_000})
    expect(page.get_by_text("the recording ended")).to_be_visible()
    assert slices(page) >= kept
    expect(unsent(page).get_by_text("Recording, ")).to_be_visible()
    devtools.send("Storage.overrideQuotaForOrigin", {"origin": computer.url})
    unsent(page).get_by_role("button", name="Send now").click()
    expect(unsent(page)).to_have_count(0)


_ASKING = """() => {
  const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (asked) => {
    await new Promise((resolve) => (window.allow = resolve));
    return (window.heard = await real(asked));
  };
}"""


def test_nobody_is_listened_to_who_left_while_the_browser_asked(make_person: MakePerson) -> None:
    page = make_person(PHONE).open("journal")
    page.evaluate(_ASKING)
    page.get_by_role("button", name="Record your voice").click()
    page.wait_for_function("() => window.allow")
    page.get_by_role("link", name="Waiting").first.click()
    expect(page.get_by_label("New entry")).to_have_count(0)
    page.evaluate("window.allow()")
    page.wait_for_function("() => window.heard?.getTracks().every((track) => track.readyState === 'ended')")
    assert slices(page) == 0


def test_a_recording_ends_where_somebody_signs_out_in_another_window(make_person: MakePerson) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    begin(page)
    other = person.context.new_page()
    other.goto(page.url.replace("journal", "keys"))
    other.get_by_role("button", name="Sign out").click()
    other.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Keep")).to_have_count(0)
    assert slices(other) == 0
    person.forgive_refusals()


def test_two_windows_send_it_once(make_person: MakePerson, computer: Computer) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    begin(page)
    stop_requests(page, lambda route: route.abort())
    page.get_by_role("button", name="Keep").click()
    expect(unsent(page)).to_be_visible()
    lengthen(page, 900_000)
    before = len(spoken(computer))
    other = person.context.new_page()
    let_requests(page)
    other.goto(f"{computer.url}/#/journal")
    unsent(page).get_by_role("button", name="Send now").click()
    for each in (page, other):
        expect(unsent(each)).to_have_count(0)
    wait_until(lambda: slices(page) == 0, "it is sent")
    assert len(spoken(computer)) == before + 1
    person.forgive_refusals()


def test_a_session_that_ended_keeps_it_until_somebody_signs_in(make_person: MakePerson, computer: Computer) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    begin(page)
    ended = {"detail": "Sign in.", "key": "not_signed_in", "hint": None}
    stop_requests(page, lambda route: route.fulfill(status=401, json=ended))
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_label("New entry")).to_have_count(0)
    assert slices(page) > 0
    before = len(spoken(computer))
    let_requests(page)
    page.goto(pairing_link(computer))
    expect(page).to_have_url(re.compile(r"/#/inbox$"))
    wait_until(lambda: slices(page) == 0, "it is sent")
    assert len(spoken(computer)) == before + 1
    person.forgive_refusals()


def test_signing_out_asks(make_person: MakePerson) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    begin(page)
    person.open("keys")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert slices(page) > 0
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    wait_until(lambda: slices(page) == 0, "it is gone")


def test_the_service_worker_sends_it_with_no_page_open(make_person: MakePerson, computer: Computer) -> None:
    person = make_person(PHONE, **WITH_WORKER)
    page = person.open("journal")
    page.evaluate("async () => void (await navigator.serviceWorker.ready)")
    begin(page)
    before = len(spoken(computer))
    person.context.set_offline(True)
    page.get_by_role("button", name="Keep").click()
    expect(unsent(page)).to_be_visible()
    devtools = person.context.new_cdp_session(page)
    registrations: list[str] = []
    devtools.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: registrations.extend(each["registrationId"] for each in event["registrations"]),
    )
    devtools.send("ServiceWorker.enable")
    wait_until(lambda: page.title() and registrations, "the worker is known")
    # Away from everything that would send it by itself.
    page.goto("about:blank")
    person.context.set_offline(False)
    devtools.send(
        "ServiceWorker.dispatchSyncEvent",
        {"origin": computer.url, "registrationId": registrations[0], "tag": "outbox", "lastChance": False},
    )
    wait_until(lambda: len(spoken(computer)) == before + 1, "the worker has sent it")
    person.forgive_refusals()
