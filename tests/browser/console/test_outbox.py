"""Messages and changes that are written without a connection: each waits on the device in its place, and arrives once."""

import uuid
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from tests.browser.console import furnishing
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import PHONE, Person
from tests.browser.console.test_chat import PICTURE
from tests.support.computer import Computer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """The journal."""
    furnishing.install(computer, "daily")


@pytest.fixture
def word() -> str:
    """A word that no other test writes."""
    return uuid.uuid4().hex[:8]


def said(computer: Computer, session: str) -> list[str]:
    """The messages of the person in a conversation, once nothing of it is being answered."""
    status = f"/api/chat/{session}/stream-status"
    computer.wait_until(lambda: not furnishing.call(computer, "GET", status)["active"], "it was answered")
    messages = computer.wait_until(
        lambda: furnishing.call(computer, "GET", f"/api/chat/{session}")["messages"], "its transcript is written"
    )
    texts = [
        message.get("said") or "".join(block.get("text", "") for block in message["content"]) for message in messages
    ]
    return [text for message, text in zip(messages, texts, strict=True) if message["role"] == "user"]


def sessions(computer: Computer, word: str) -> list[str]:
    """The conversations whose title has a word: one gets it a moment after it has begun."""

    def found() -> list[str]:
        all_of_them = furnishing.call(computer, "GET", "/api/chat?limit=200")["sessions"]
        return [session["id"] for session in all_of_them if word in (session["title"] or "")]

    computer.wait_until(found, "the conversation has its title")
    return found()


def entries(computer: Computer, word: str) -> list[dict[str, Any]]:
    """Today's entries with a word."""
    found = furnishing.call(computer, "GET", "/api/daily/today")["entries"]
    return [entry for entry in found if word in entry["content"]]


def write(page: Page, text: str) -> None:
    """Send a message."""
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_label("Message", exact=True)).to_have_value("")


class Held:
    """Requests that change something at an address, on their way until `let_go`."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.routes, self._is_open = page, list[Route](), False
        page.route(address, lambda route: self._meet(route))

    def _meet(self, route: Route) -> None:
        if self._is_open or route.request.method == "GET":
            route.fallback()
        else:
            self.routes.append(route)

    def wait(self) -> Route:
        """Wait for the first, and return it."""
        # What a page does is heard while it is asked something.
        wait_until(lambda: self.page.title() and self.routes, "it is on its way")
        return self.routes[0]

    def let_go(self) -> None:
        """Let these go on, and all others."""
        self._is_open = True
        for route in self.routes:
            route.continue_()


def unsent(page: Page) -> Any:
    """The messages that wait."""
    return page.locator(".message.waiting")


def test_messages_wait_in_their_place_and_arrive_in_order(
    make_person: MakePerson, computer: Computer, word: str
) -> None:
    person = make_person(PHONE)
    page = person.open("chat")
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    person.context.set_offline(True)
    write(page, f"First {word}.")
    expect(unsent(page)).to_have_count(1)
    write(page, f"Second {word}.")
    expect(unsent(page)).to_have_count(2)
    expect(unsent(page).first).to_contain_text(f"First {word}.")
    person.context.set_offline(False)
    expect(page.get_by_label("Agent", exact=True)).to_have_count(2)
    expect(unsent(page)).to_have_count(0)
    (session,) = sessions(computer, word)
    assert said(computer, session) == [f"First {word}.", f"Second {word}."]
    expect(page).to_have_url(f"{computer.url}/#/chat/{session}")
    # In a conversation that there is.
    person.context.set_offline(True)
    write(page, f"Third {word}.")
    expect(unsent(page)).to_have_count(1)
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_label("Message", exact=True)).to_have_value(f"Third {word}.")
    write(page, f"Third {word}, better.")
    expect(unsent(page)).to_have_count(1)
    person.context.set_offline(False)
    expect(page.get_by_label("Agent", exact=True)).to_have_count(3)
    assert said(computer, session)[2:] == [f"Third {word}, better."]
    person.forgive_refusals()


def test_a_tab_that_is_killed_and_two_that_send_lose_nothing_and_send_once(
    make_person: MakePerson, computer: Computer, word: str
) -> None:
    person = make_person(PHONE)
    page = person.open("chat")
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    person.context.set_offline(True)
    write(page, f"Before the end {word}.")
    expect(unsent(page)).to_have_count(1)
    page.close()
    person.context.set_offline(False)
    pages = [person.context.new_page() for _ in range(2)]
    for each in pages:
        each.goto(f"{computer.url}/#/journal")
    for each in pages:
        expect(each.get_by_label("New entry")).to_be_visible()
    nothing_waits(pages[0])
    (session,) = sessions(computer, word)
    assert said(computer, session) == [f"Before the end {word}."]
    # Two windows show the same, and one of them sends it.
    person.context.set_offline(True)
    pages[0].get_by_label("New entry").fill(f"In both {word}.")
    pages[0].get_by_role("button", name="Save").click()
    for each in pages:
        expect(each.get_by_role("region", name="Not sent yet").get_by_text(f"In both {word}.")).to_be_visible()
    person.context.set_offline(False)
    for each in pages:
        expect(each.get_by_role("region", name="Not sent yet")).to_have_count(0)
    assert len(entries(computer, word)) == 1
    person.forgive_refusals()


WAITING_NONE = """async () => !(await indexedDB.databases()).some(({name}) => name === "parachute-outbox") || new Promise((resolve, reject) => {
  const asked = indexedDB.open("parachute-outbox");
  asked.onerror = () => reject(asked.error);
  asked.onsuccess = () => {
    const database = asked.result;
    if (!database.objectStoreNames.contains("letters")) return database.close(), resolve(true);
    const count = database.transaction("letters").objectStore("letters").count();
    count.onsuccess = () => (database.close(), resolve(count.result === 0));
  };
})"""


@pytest.mark.parametrize("fault", ["lost", "503"])
def test_a_message_whose_answer_does_not_come_is_said_once(
    make_person: MakePerson, computer: Computer, word: str, fault: str
) -> None:
    person = make_person(PHONE)
    page = person.open("chat")

    def fail(route: Route) -> None:
        if fault == "lost":
            route.fetch()
            route.abort()
        else:
            route.fulfill(status=503, json={"detail": "Starting.", "key": "starting"})

    page.route("**/api/chat?text=delta", fail)
    write(page, f"Once {word}.")
    expect(unsent(page)).to_have_count(1)
    # It is shown before its answer is lost.
    page.unroute_all(behavior="wait")
    page.reload()
    nothing_waits(page)
    (session,) = sessions(computer, word)
    assert said(computer, session) == [f"Once {word}."]
    page.goto(f"{computer.url}/#/chat/{session}")
    expect(page.get_by_label("Agent", exact=True)).to_have_count(1)
    person.forgive_refusals()


def test_pictures_wait_with_the_words_that_they_belong_to(
    make_person: MakePerson, computer: Computer, word: str
) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    picture = FilePayload(name=f"hull-{word}.png", mimeType="image/png", buffer=PICTURE)
    page.locator("input[type=file]").set_input_files([picture])
    expect(page.get_by_role("list", name="Pictures of the entry").get_by_role("listitem")).to_have_count(1)
    page.reload()
    expect(page.get_by_role("list", name="Pictures of the entry").get_by_role("listitem")).to_have_count(1)
    person.context.set_offline(True)
    page.get_by_label("New entry").fill(f"Painted {word}.")
    page.get_by_role("button", name="Save").click()
    region = page.get_by_role("region", name="Not sent yet")
    expect(region.get_by_text(f"hull-{word}.png")).to_be_visible()
    person.context.set_offline(False)
    shown = page.get_by_role("article").filter(has_text=f"Painted {word}.").get_by_role("img")
    expect(shown).to_have_js_property("naturalWidth", 1)
    (entry,) = entries(computer, word)
    assert entry["content"].count("](assets/") == 1
    # In a conversation.
    person.open("chat")
    page.locator("input[type=file]").set_input_files([picture])
    page.get_by_label("Message", exact=True).fill(f"Look {word}.")
    page.reload()
    expect(page.get_by_role("button", name=f"Remove hull-{word}.png")).to_be_visible()
    person.context.set_offline(True)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(unsent(page)).to_contain_text(f"hull-{word}.png")
    person.context.set_offline(False)
    expect(page.get_by_label("Agent", exact=True)).to_have_count(1)
    (session,) = sessions(computer, word)
    assert said(computer, session) == [f"Look {word}."]
    (message,) = [
        m for m in furnishing.call(computer, "GET", f"/api/chat/{session}")["messages"] if m["role"] == "user"
    ]
    assert message["attachments"] == [f"hull-{word}.png"]
    person.forgive_refusals()


def nothing_waits(page: Page) -> None:
    """Wait until all has arrived; `wait_for_function` takes the promise itself for a yes."""
    wait_until(lambda: page.evaluate(WAITING_NONE), "nothing waits")


def edit(page: Page, person: Person, before: str, after: str) -> None:
    """Change an entry without a connection."""
    article = page.get_by_role("article").filter(has_text=before.split("\n", 1)[0])
    article.get_by_role("button", name="Change").or_(article.get_by_role("button", name="Edit")).first.click()
    person.context.set_offline(True)
    page.get_by_label("Text", exact=True).fill(after)
    page.get_by_role("button", name="Save", exact=True).last.click()


def changed(computer: Computer, entry: str, content: str) -> None:
    """Change an entry on the computer."""
    furnishing.call(computer, "PUT", f"/api/daily/entries/{entry}", json={"content": content})


@pytest.fixture
def entry(computer: Computer, word: str) -> dict[str, Any]:
    """An entry of two paragraphs."""
    body = {"content": f"Top {word}.\n\nMiddle.\n\nEnd."}
    return dict(furnishing.call(computer, "POST", "/api/daily/entries", json=body))


def test_changes_of_other_paragraphs_become_one(
    make_person: MakePerson, computer: Computer, word: str, entry: dict[str, Any]
) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    edit(page, person, f"Top {word}.", f"Top {word}, mine.\n\nMiddle.\n\nEnd.")
    expect(page.get_by_role("article").get_by_text("Changed on this device, not sent yet")).to_be_visible()
    expect(page.get_by_role("article").get_by_text(f"Top {word}, mine.")).to_be_visible()
    changed(computer, entry["id"], f"Top {word}.\n\nMiddle.\n\nEnd, theirs.")
    person.context.set_offline(False)
    expect(page.get_by_role("region", name="Not sent yet")).to_have_count(0)
    expect(page.get_by_role("article").get_by_text("End, theirs.")).to_be_visible()
    (found,) = entries(computer, word)
    assert found["content"] == f"Top {word}, mine.\n\nMiddle.\n\nEnd, theirs."
    person.forgive_refusals()


@pytest.mark.parametrize(
    ("choice", "left"),
    [("Keep mine", ["mine"]), ("Keep the computer's", ["theirs"]), ("Keep both", ["theirs", "mine"])],
)
def test_changes_of_the_same_paragraph_are_a_choice(
    make_person: MakePerson, computer: Computer, word: str, entry: dict[str, Any], choice: str, left: list[str]
) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    edit(page, person, f"Top {word}.", f"Top {word}, mine.")
    region = page.get_by_role("region", name="Not sent yet")
    expect(region.get_by_text(f"Top {word}, mine.")).to_be_visible()
    changed(computer, entry["id"], f"Top {word}, theirs.")
    person.context.set_offline(False)
    conflict = region.get_by_role("article", name="This entry was changed here and on the computer")
    expect(conflict.get_by_text(f"Top {word}, mine.")).to_be_visible()
    expect(conflict.get_by_text(f"Top {word}, theirs.")).to_be_visible()
    # Nothing is decided by itself, nor by a reload.
    page.reload()
    expect(conflict).to_be_visible()
    assert [found["content"] for found in entries(computer, word)] == [f"Top {word}, theirs."]
    conflict.get_by_role("button", name=choice).click()
    if choice == "Keep the computer's":
        page.get_by_role("dialog").get_by_role("button", name=choice).click()
    expect(region).to_have_count(0)
    # What is on its way waits no more, and may not have arrived.
    nothing_waits(page)
    assert [found["content"] for found in entries(computer, word)] == [f"Top {word}, {side}." for side in left]
    person.forgive_refusals()


def test_an_entry_that_was_deleted_meanwhile_does_not_come_back_by_itself(
    make_person: MakePerson, computer: Computer, word: str, entry: dict[str, Any]
) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    edit(page, person, f"Top {word}.", f"Top {word}, mine.")
    furnishing.call(computer, "DELETE", f"/api/daily/entries/{entry['id']}")
    person.context.set_offline(False)
    page.get_by_role("button", name="Write mine as a new entry").click()
    nothing_waits(page)
    (found,) = entries(computer, word)
    assert found["content"] == f"Top {word}, mine."
    person.forgive_refusals()


def test_a_change_that_is_changed_again_on_its_way_arrives_too(
    make_person: MakePerson, computer: Computer, word: str, entry: dict[str, Any]
) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    edit(page, person, f"Top {word}.", f"Top {word}, first.")
    expect(page.get_by_role("article").get_by_text("Changed on this device, not sent yet")).to_be_visible()
    held = Held(page, "**/api/daily/entries/*")
    person.context.set_offline(False)
    held.wait()
    edit(page, person, f"Top {word}, first.", f"Top {word}, second.")
    expect(page.get_by_label("Text", exact=True)).to_have_count(0)
    person.context.set_offline(False)
    held.let_go()
    nothing_waits(page)
    (found,) = entries(computer, word)
    assert found["content"] == f"Top {word}, second."
    person.forgive_refusals()


FULL = "() => void (IDBObjectStore.prototype.put = () => { throw new DOMException('', 'QuotaExceededError'); })"


def test_words_and_pictures_arrive_from_a_browser_without_room(
    make_person: MakePerson, computer: Computer, word: str
) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    page.evaluate(FULL)
    picture = FilePayload(name=f"hull-{word}.png", mimeType="image/png", buffer=PICTURE)
    page.locator("input[type=file]").set_input_files([picture])
    page.get_by_label("New entry").fill(f"Painted {word}.")
    page.get_by_role("button", name="Save").click()
    shown = page.get_by_role("article").filter(has_text=f"Painted {word}.").get_by_role("img")
    expect(shown).to_have_js_property("naturalWidth", 1)
    # A message stays in its field, also after a reload, until the computer has it.
    person.open("chat")
    page.route("**/api/chat?text=delta", lambda _: None)
    page.get_by_label("Message", exact=True).fill(f"Look {word}.")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("log").get_by_text(f"Look {word}.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Message", exact=True)).to_have_value(f"Look {word}.")


def test_what_is_said_before_a_conversation_has_begun_is_said_in_it(
    make_person: MakePerson, computer: Computer, word: str
) -> None:
    person = make_person(PHONE)
    page = person.open("chat")
    held = Held(page, "**/api/chat?text=delta")
    write(page, f"First {word}.")
    held.wait()
    page.get_by_label("Message", exact=True).fill(f"Second {word}.")
    page.get_by_role("button", name="Add").or_(page.get_by_role("button", name="Send", exact=True)).first.click()
    expect(unsent(page)).to_contain_text(f"Second {word}.")
    held.let_go()
    nothing_waits(page)
    (session,) = sessions(computer, word)
    assert said(computer, session) == [f"First {word}.", f"Second {word}."]
    person.forgive_refusals()


AN_HOUR_BACK = """() => {
  const now = Date.now;
  window.Date = class extends Date {
    constructor(...given) { super(...(given.length ? given : [now() - 3600000])); }
    static now() { return now() - 3600000; }
  };
}"""


def test_a_clock_that_is_set_back_leaves_the_order(make_person: MakePerson, computer: Computer, word: str) -> None:
    person = make_person(PHONE)
    page = person.open("chat")
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    person.context.set_offline(True)
    write(page, f"First {word}.")
    expect(unsent(page)).to_have_count(1)
    page.evaluate(AN_HOUR_BACK)
    write(page, f"Second {word}.")
    expect(unsent(page)).to_have_count(2)
    person.context.set_offline(False)
    nothing_waits(page)
    (session,) = sessions(computer, word)
    assert said(computer, session) == [f"First {word}.", f"Second {word}."]
    person.forgive_refusals()


def test_an_entry_that_is_refused_after_its_writer_has_left_waits_with_the_reason(
    make_person: MakePerson, word: str
) -> None:
    person = make_person(PHONE)
    page = person.open("journal")
    held = Held(page, "**/api/daily/entries")
    page.get_by_label("New entry").fill(f"Refused {word}.")
    page.get_by_role("button", name="Save").click()
    held.wait()
    page.get_by_role("link", name="Chat", exact=True).first.click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    page.get_by_role("link", name="Journal").first.click()
    page.get_by_label("New entry").fill(f"The next one {word}.")
    held.wait().fulfill(status=422, json={"detail": f"Too long {word}.", "key": "invalid_input"})
    region = page.get_by_role("region", name="Not sent yet")
    expect(region.get_by_text(f"Refused {word}.")).to_be_visible()
    expect(region.get_by_text(f"Too long {word}.")).to_be_visible()
    expect(page.get_by_label("New entry")).to_have_value(f"The next one {word}.")
    person.forgive_refusals()


def test_a_request_that_nobody_answers_keeps_nothing_else(
    make_person: MakePerson, computer: Computer, word: str
) -> None:
    person = make_person(PHONE)
    page = person.page
    page.clock.install()
    person.open("journal")
    held = Held(page, "**/api/daily/entries")
    page.get_by_label("New entry").fill(f"Later {word}.")
    page.get_by_role("button", name="Save").click()
    held.wait()
    page.clock.fast_forward(61_000)
    region = page.get_by_role("region", name="Not sent yet")
    expect(region.get_by_text(f"Later {word}.")).to_be_visible()
    page.unroute("**/api/daily/entries")
    region.get_by_role("button", name="Send now").click()
    nothing_waits(page)
    assert len(entries(computer, word)) == 1
    person.forgive_refusals()


def test_a_message_for_a_conversation_that_is_gone_waits_where_new_ones_are_written(
    make_person: MakePerson, computer: Computer, word: str
) -> None:
    person = make_person(PHONE)
    page = person.open("chat")
    write(page, f"First {word}.")
    expect(page.get_by_label("Agent", exact=True)).to_have_count(1)
    (session,) = sessions(computer, word)
    said(computer, session)
    person.context.set_offline(True)
    write(page, f"Second {word}.")
    expect(unsent(page)).to_have_count(1)
    furnishing.call(computer, "DELETE", f"/api/chat/{session}")
    person.context.set_offline(False)
    expect(unsent(page)).to_have_count(0)
    page.goto(f"{computer.url}/#/chat")
    expect(unsent(page)).to_contain_text(f"Second {word}.")
    # Another conversation does not take it.
    write(page, f"Other {word}.")
    expect(page.get_by_label("Agent", exact=True)).to_have_count(1)
    (other,) = sessions(computer, word)
    assert said(computer, other) == [f"Other {word}."]
    page.goto(f"{computer.url}/#/chat")
    expect(unsent(page)).to_contain_text(f"Second {word}.")
    person.forgive_refusals()


def test_what_is_typed_while_a_conversation_begins_by_itself_goes_with_it(
    make_person: MakePerson, computer: Computer, word: str
) -> None:
    person = make_person(PHONE)
    page = person.open("chat")
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    person.context.set_offline(True)
    write(page, f"First {word}.")
    expect(unsent(page)).to_have_count(1)
    page.get_by_label("Message", exact=True).fill(f"Half {word}")
    picture = FilePayload(name=f"hull-{word}.png", mimeType="image/png", buffer=PICTURE)
    page.locator("input[type=file]").set_input_files([picture])
    chosen = page.get_by_role("button", name=f"Remove hull-{word}.png")
    expect(chosen).to_be_visible()
    person.context.set_offline(False)
    expect(page.get_by_label("Agent", exact=True)).to_have_count(1)
    expect(page.get_by_label("Message", exact=True)).to_have_value(f"Half {word}")
    expect(chosen).to_be_visible()
    page.get_by_role("link", name="New conversation").click()
    expect(page.get_by_label("Message", exact=True)).to_have_value("")
    expect(chosen).to_have_count(0)
    person.forgive_refusals()
