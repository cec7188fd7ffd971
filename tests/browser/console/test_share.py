"""Things that other apps share with the console: on the device before anything else, then where its owner says."""

import hashlib
from collections.abc import Mapping

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import furnishing
from tests.browser.console.conftest import MakePerson
from tests.browser.console.kept_answers import wait_for
from tests.browser.console.people import PHONE, WITH_WORKER, Person, wait_for_worker
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long
WHOLE = True

_FORM = """({address, fields, files}) => {
  const form = document.createElement("form");
  Object.assign(form, {method: "post", enctype: "multipart/form-data", action: address});
  for (const [name, value] of Object.entries(fields)) {
    const field = document.createElement("textarea");
    Object.assign(field, {name, value});
    form.append(field);
  }
  const chosen = document.createElement("input");
  Object.assign(chosen, {type: "file", name: "files", multiple: true});
  const given = new DataTransfer();
  for (const {name, type, text, size} of files) given.items.add(new File([text ?? new Uint8Array(size).fill(7)], name, {type}));
  chosen.files = given.files;
  form.append(chosen);
  document.body.append(form);
  form.submit();
}"""
"""A share sheet is no page: what it sends has the origin `null`, like a form on a page without an origin."""

PICTURE = {"name": "pier.svg.png", "type": "image/png", "text": "no real picture"}


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """The journal."""
    furnishing.install(computer, "daily")


@pytest.fixture
def phone(make_person: MakePerson) -> Person:
    """A phone whose worker answers."""
    person = make_person(PHONE, **WITH_WORKER)
    person.open("journal")
    wait_for_worker(person.page)
    person.page.reload()
    expect(person.page.get_by_label("New entry")).to_be_visible()
    wait_for(person.page, "/api/pairing/me")
    return person


def share(person: Person, *files: Mapping[str, object], here: str = "about:blank", **fields: str) -> Page:
    """Share something as the system does, and wait for the page that comes of it."""
    page = person.page
    page.goto(here)
    given = {"address": f"{person.computer.url}/console/share", "fields": fields, "files": files}
    with page.expect_navigation(url="**/#/share*"):
        page.evaluate(_FORM, given)
    return page


def entries(computer: Computer) -> list[dict[str, object]]:
    """Today's entries."""
    found: list[dict[str, object]] = furnishing.call(computer, "GET", "/api/daily/entries?limit=1000")["entries"]
    return found


def inbox(computer: Computer) -> dict[str, bytes]:
    """The files of the folder for what has no place yet."""
    return {path.name.partition(" ")[2]: path.read_bytes() for path in (computer.vault / "Inbox").glob("*")}


def test_a_link_and_files_become_an_entry(phone: Person, computer: Computer, word: str) -> None:
    pdf = {"name": f"{word}.pdf", "type": "application/pdf", "text": "%PDF-"}
    sound = {"name": f"{word}.ogg", "type": "audio/ogg", "text": "hum"}
    page = share(phone, PICTURE, pdf, sound, title=f"About {word}", text="Read https://example.org/a?b=c (late)")
    expect(page.get_by_label("Add words")).to_have_value(f"About {word}\n\nRead https://example.org/a?b=c (late)")
    expect(page.get_by_text("pier.svg.png")).to_be_visible()
    page.get_by_label("Add words").fill(f"For {word}")
    page.get_by_role("button", name="Journal, today").click()
    expect(page.get_by_role("article").get_by_text(f"For {word}")).to_be_visible()
    expect(page.get_by_role("article").get_by_role("link", name=f"{word}.pdf")).to_be_visible()
    [entry] = [each for each in entries(computer) if word in str(each["content"])]
    assert str(entry["audio_path"]).endswith(f"{word}.ogg")
    assert next(computer.vault.glob(f"Daily/assets/*/{word}.pdf")).read_text() == "%PDF-"
    phone.forgive_refusals()  # the picture is none


def test_what_was_shared_becomes_a_note_whose_names_harm_nobody(phone: Person, computer: Computer, word: str) -> None:
    names = ("../../.env", f"{word}/AGENTS.md", "\u202etxt.exe", "." * 300, "opencode.json")
    files = [{"name": name, "type": "text/plain", "text": f"{number}"} for number, name in enumerate(names)]
    page = share(phone, *files, title=f"../{word}\n# x", text="<script>alert(1)</script>")
    page.get_by_role("button", name="Note in the folder Inbox").click()
    page.wait_for_url("**/#/files/Inbox")
    found = inbox(computer)
    assert "<script>alert(1)</script>" in found[f"{word} # x.md"].decode()
    assert {found[name] for name in ("env", f"{word} AGENTS.md", "txt.exe", "file-4", "opencode.json")} == {
        b"0",
        b"1",
        b"2",
        b"3",
        b"4",
    }
    assert all(path.name[:2] == "20" for path in (computer.vault / "Inbox").iterdir())


def test_it_goes_with_a_message_and_is_forgotten_then(phone: Person, model: MessagesAPI, word: str) -> None:
    note = {"name": f"{word}.txt", "type": "text/plain", "text": "Beans: 3"}
    page = share(phone, note, text=f"What is in {word}?")
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_label("Message", exact=True)).to_have_value(f"What is in {word}?")
    expect(page.get_by_text(f"{word}.txt")).to_be_visible()
    page.reload()
    expect(page.get_by_text(f"{word}.txt")).to_be_visible()
    expect(page.get_by_label("Message", exact=True)).to_have_value(f"What is in {word}?")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_be_visible()
    phone.open("share")
    expect(page.get_by_text("Nothing waits here")).to_be_visible()


def test_without_a_connection_it_waits_and_is_sent_once(phone: Person, computer: Computer, word: str) -> None:
    phone.context.set_offline(True)
    page = share(phone, {"name": f"{word}.txt", "type": "text/plain", "text": "x"}, text=f"From the tunnel {word}")
    page.get_by_role("button", name="Journal, today").click()
    expect(page.get_by_text("It is sent when the computer answers.")).to_be_visible()
    page.reload()
    expect(page.get_by_text(f"From the tunnel {word}")).to_be_visible()
    phone.context.set_offline(False)
    page.reload()
    expect(page.get_by_text("Nothing waits here")).to_be_visible()
    assert sum(word in str(each["content"]) for each in entries(computer)) == 1
    phone.forgive_refusals()


def test_signed_out_it_is_kept_and_goes_on_after_signing_in(phone: Person, computer: Computer, word: str) -> None:
    phone.context.clear_cookies()
    page = share(phone, text=f"Seen {word}")
    expect(page.get_by_text("What you have shared is kept on this device.")).to_be_visible()
    code = furnishing.call(computer, "POST", "/api/pairing/codes", json={})["code"]
    page.get_by_label("Code or key").fill(code)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_label("Add words")).to_have_value(f"Seen {word}")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Nothing waits here")).to_be_visible()
    phone.forgive_refusals()


def test_a_large_file_goes_on_where_a_killed_page_was(phone: Person, computer: Computer, word: str) -> None:
    video = {"name": f"{word}.mp4", "type": "video/mp4", "size": 200 * 1024 * 1024}
    page = share(phone, video)
    page.get_by_role("button", name="Note in the folder Inbox").click()
    folder = computer.vault / ".parachute/pieces"
    wait_until(lambda: any(path.stat().st_size > 20 << 20 for path in folder.glob("*")), "a part of it is here")
    page.close()
    begun = max(path.stat().st_size for path in folder.glob("*"))
    phone.page = phone.context.new_page()
    page = phone.open("share")
    expect(page.get_by_text("Nothing waits here")).to_be_visible(timeout=180_000)
    assert begun > 20 << 20
    digest = hashlib.sha256(b"\7" * (200 * 1024 * 1024)).hexdigest()
    assert hashlib.sha256(inbox(computer)[f"{word}.mp4"]).hexdigest() == digest
    assert not any(folder.glob("*"))


@pytest.mark.parametrize(
    ("files", "fields", "said"),
    [
        ([{"name": f"{number}.txt", "type": "text/plain", "text": "x"} for number in range(51)], {}, "too many files"),
        ([], {"text": "a" * 100_001}, "too long"),
        ([], {}, "Nothing was shared"),
    ],
    ids=["many files", "long", "nothing"],
)
def test_what_is_too_much_is_not_taken(
    phone: Person, files: list[Mapping[str, object]], fields: dict[str, str], said: str
) -> None:
    page = share(phone, *files, **fields)
    expect(page.get_by_text(said)).to_be_visible()
    phone.open("share")
    expect(page.get_by_text("Nothing waits here")).to_be_visible()


def test_a_page_of_another_site_plants_nothing(phone: Person) -> None:
    phone.page.route(
        "http://elsewhere.test/", lambda route: route.fulfill(content_type="text/html", body="<p>Free!</p>")
    )
    page = share(phone, here="http://elsewhere.test/", text="Buy this")
    expect(page.get_by_text("A page of another site has tried to share something")).to_be_visible()
    phone.open("share")
    expect(page.get_by_text("Nothing waits here")).to_be_visible()


def test_a_frame_in_another_page_reaches_nobody_who_keeps_it(phone: Person) -> None:
    page = phone.page
    page.goto("about:blank")
    page.evaluate("document.body.append(Object.assign(document.createElement('iframe'), {name: 'hidden'}))")
    given = {"address": f"{phone.computer.url}/console/share", "fields": {"text": "Buy this"}, "files": []}
    to_frame = (
        "form.target = 'hidden'; form.submit(); return new Promise((done) => (frames[0].frameElement.onload = done))"
    )
    page.evaluate(_FORM.replace("form.submit()", to_frame), given)
    phone.open("share")
    expect(page.get_by_text("Nothing waits here")).to_be_visible()
    phone.forgive_refusals()


def test_a_browser_without_the_worker_is_told_that_nothing_was_taken(
    make_person: MakePerson, computer: Computer
) -> None:
    person = make_person(PHONE)
    page = person.page
    page.goto("about:blank")
    given = {"address": f"{computer.url}/console/share", "fields": {"text": "Lost"}, "files": []}
    with page.expect_navigation():
        page.evaluate(_FORM, given)
    expect(page.get_by_text("Nothing was taken")).to_be_visible()
    person.forgive_refusals()


def test_the_page_behind_a_link_is_asked_for_and_what_went_wrong_is_said(phone: Person, word: str) -> None:
    page = share(phone, text=f"https://127.0.0.1/{word}")
    page.get_by_role("button", name="Save the page behind the link").click()
    expect(page.get_by_text("only pages of the internet are read")).to_be_visible()
    expect(page.get_by_label("Add words")).to_have_value(f"https://127.0.0.1/{word}")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Nothing waits here")).to_be_visible()
    phone.forgive_refusals()


def test_shortcuts_lead_where_they_say(phone: Person) -> None:
    page = phone.page
    page.goto(f"{phone.computer.url}/#/chat?palette=open")
    expect(page.get_by_role("combobox", name="Search, or type what to do")).to_be_visible()
    page.goto("about:blank")
    page.goto(f"{phone.computer.url}/#/journal?write=now")
    expect(page.get_by_label("New entry")).to_be_focused()
    page.wait_for_url("**/#/journal")
