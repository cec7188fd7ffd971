"""Nothing that was written is lost: drafts, and entries and messages without a connection."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import furnishing
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import PHONE, WITH_WORKER
from tests.support.computer import Computer

pytestmark = pytest.mark.long


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """The journal."""
    furnishing.install(computer, "daily")


def entries(page: Page, words: str) -> int:
    """Count today's entries on the computer with these words."""
    found = page.evaluate("async () => (await (await fetch('/api/daily/today')).json()).entries")
    return sum(words in entry["content"] for entry in found)


def test_drafts_stay_and_go_when_they_are_sent(make_person: MakePerson) -> None:
    page = make_person(PHONE, **WITH_WORKER).open("chat")
    page.get_by_label("Message", exact=True).fill("Half a message")
    page.get_by_role("link", name="Journal").first.click()
    page.get_by_label("New entry").fill("Half an entry")
    page.reload()
    expect(page.get_by_label("New entry")).to_have_value("Half an entry")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("New entry")).to_have_value("")
    page.get_by_role("link", name="Chat", exact=True).first.click()
    expect(page.get_by_label("Message", exact=True)).to_have_value("Half a message")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_be_visible()
    page.get_by_role("link", name="Journal").first.click()
    expect(page.get_by_label("New entry")).to_have_value("")
    page.reload()
    expect(page.get_by_label("New entry")).to_have_value("")
    assert page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('draft/'))") == []


def test_what_is_written_without_a_connection_is_sent_once(make_person: MakePerson) -> None:
    # Without a service worker: nothing but what this page has loaded is there, whatever a worker would have kept by now.
    person = make_person(PHONE)
    page = person.open("journal")
    expect(page.get_by_label("New entry")).to_be_visible()
    person.context.set_offline(True)
    page.get_by_label("New entry").fill("Written in the tunnel.")
    page.get_by_role("button", name="Save").click()
    unsent = page.get_by_role("region", name="Not sent yet")
    expect(unsent.get_by_text("Written in the tunnel.")).to_be_visible()
    expect(page.get_by_label("New entry")).to_have_value("")
    person.context.set_offline(False)
    expect(page.get_by_role("article").get_by_text("Written in the tunnel.")).to_be_visible()
    expect(unsent).to_have_count(0)
    assert entries(page, "Written in the tunnel.") == 1
    person.forgive_refusals()


def test_an_entry_whose_answer_was_lost_is_not_written_twice(make_person: MakePerson) -> None:
    # Without a service worker: what passes through one is not always shown to `route`.
    person = make_person(PHONE)
    page = person.open("journal")
    expect(page.get_by_label("New entry")).to_be_visible()

    def lose(route: object) -> None:
        route.fetch()  # type: ignore[attr-defined]
        route.abort()  # type: ignore[attr-defined]

    page.route(
        "**/api/daily/entries", lambda route: lose(route) if route.request.method == "POST" else route.continue_()
    )
    page.get_by_label("New entry").fill("Once and no more.")
    page.get_by_role("button", name="Save").click()
    unsent = page.get_by_role("region", name="Not sent yet")
    expect(unsent.get_by_text("Once and no more.")).to_be_visible()
    page.unroute("**/api/daily/entries")
    unsent.get_by_role("button", name="Send").click()
    expect(unsent).to_have_count(0)
    assert entries(page, "Once and no more.") == 1
    person.forgive_refusals()


def test_a_draft_of_a_change_is_not_written_over_what_came_meanwhile(
    make_person: MakePerson, computer: Computer
) -> None:
    person = make_person(PHONE)
    place = computer.vault / "Plan.md"
    place.write_text("The plan.\n")
    page = person.open("files?file=Plan.md")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text", exact=True).fill("The plan, mine.\n")
    page.reload()
    place.write_text("The plan, theirs.\n")
    page.reload()
    expect(page.get_by_text("The plan, theirs.")).to_be_visible()
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Text", exact=True)).to_have_value("The plan, mine.\n")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="On the computer").or_(page.locator(".files-both section"))).to_contain_text(
        "The plan, theirs."
    )
    assert place.read_text() == "The plan, theirs.\n"
    person.forgive_refusals()


def test_a_change_of_an_entry_survives_a_reload(make_person: MakePerson, computer: Computer) -> None:
    furnishing.call(computer, "POST", "/api/daily/entries", json={"content": "Half a thought"})
    person = make_person(PHONE)
    page = person.open("journal")
    article = page.get_by_role("article").filter(has_text="Half a thought")
    article.get_by_role("button", name="Edit").click()
    page.get_by_label("Text", exact=True).fill("A whole thought")
    page.reload()
    article.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Text", exact=True)).to_have_value("A whole thought")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_role("article").get_by_text("A whole thought")).to_be_visible()
    assert entries(page, "A whole thought") == 1
    assert page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('draft/entry'))") == []


def test_signing_out_asks_before_it_deletes(make_person: MakePerson) -> None:
    person = make_person(PHONE)
    page = person.open("chat")
    page.get_by_label("Message", exact=True).fill("Half a message")
    person.open("keys").get_by_role("button", name="Sign out").click()
    dialog = page.get_by_role("dialog", name="Sign out and delete what is not sent?")
    dialog.get_by_role("button", name="Cancel").click()
    person.open("chat")
    expect(page.get_by_label("Message", exact=True)).to_have_value("Half a message")
    person.open("keys").get_by_role("button", name="Sign out").click()
    dialog.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to your computer")).to_be_visible()
    assert page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('draft/'))") == []
