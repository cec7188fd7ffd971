"""Recordings in the console: how to get their text, its way into an entry, and a message that is spoken."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.automation.transcription.scripted_server import SAID, ScriptedServer, scripted_server
from tests.browser.chromium import MICROPHONE
from tests.browser.console import furnishing
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.furnished_lists import add_recording
from tests.browser.console.people import PHONE, Person
from tests.browser.console.recordings import begin, slices
from tests.support.computer import Computer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long
BROWSER_OPTIONS = MICROPHONE
TEXT = SAID["text"].strip()


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """The owner's server that transcribes."""
    with scripted_server() as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """A journal."""
    furnishing.install(computer, "daily")


@pytest.fixture
def person(make_person: MakePerson) -> Person:
    """Somebody whose page can be examined."""
    return make_person(PHONE, bypass_csp=True)


def voice(computer: Computer, *arguments: str) -> None:
    """Change the settings."""
    environment = {**os.environ, "PARACHUTE_HOME": str(computer.home.root), "HOME": str(computer.folder)}
    subprocess.run(
        [Path(sys.executable).with_name("parachute"), "config", *arguments],
        env=environment,
        check=True,
        capture_output=True,
    )


def test_without_a_transcriber_there_is_a_sentence(person: Person, computer: Computer) -> None:
    page = person.open("journal")
    begin(page)
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_text("Nothing here can turn recordings into text yet").first).to_be_visible()
    assert violations(page) == []
    page = person.open("chat")
    expect(page.get_by_label("Message")).to_be_visible()
    page.get_by_role("button", name="Dictate").click()
    expect(
        page.get_by_role("dialog").get_by_text("Nothing on this computer turns speech into text yet.")
    ).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Open the settings").click()
    expect(page).to_have_url(re.compile("#/computer/settings"))
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("voice.server", exact=True)).to_be_visible()


def test_a_day_asks_for_all_of_its_recordings_at_once(make_person: MakePerson, computer: Computer) -> None:
    for _ in range(4):
        add_recording(computer)
    person, asked = make_person(PHONE), list[str]()
    person.page.on("request", lambda request: asked.append(request.url))
    page = person.open("journal")
    expect(page.get_by_text("Nothing here can turn recordings into text yet").nth(3)).to_be_visible()
    assert len([url for url in asked if "/api/voice/transcriptions" in url]) == 1


def test_a_recording_becomes_the_text_of_its_entry(person: Person, computer: Computer, server: ScriptedServer) -> None:
    voice(computer, "set", "voice.server", server.url)
    server.free.clear()
    try:
        page = person.open("journal")
        before = page.get_by_role("article").filter(has_text=TEXT).count()
        begin(page)
        page.get_by_role("button", name="Keep").click()
        expect(page.get_by_text("Transcribing").first).to_be_visible()
        assert violations(page) == []
        server.free.set()
        expect(page.get_by_role("article").filter(has_text=TEXT)).not_to_have_count(before)
        expect(
            page.get_by_role("button", name=re.compile(r"^Transcribe the recording of .* again$")).first
        ).to_be_visible()
    finally:
        server.free.set()
        voice(computer, "unset", "voice.server")


def test_a_message_is_spoken(person: Person, computer: Computer, server: ScriptedServer) -> None:
    voice(computer, "set", "voice.server", server.url)
    try:
        page = person.open("chat")
        page.get_by_label("Message").fill("So:")
        page.get_by_role("button", name="Dictate").click()
        wait_until(lambda: slices(page) > 0, "something is recorded")
        page.get_by_role("button", name="Transcribe").click()
        expect(page.get_by_label("Message")).to_have_value(f"So: {TEXT}")
        assert violations(page) == []
        assert list((computer.vault / "Chat" / "recordings").glob("*.webm"))
    finally:
        voice(computer, "unset", "voice.server")
