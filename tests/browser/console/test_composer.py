"""Writing a message: skills and commands after a slash, files, people and agents after an @, and files that go with it."""

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.console import furnishing
from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import PHONE, Person
from tests.browser.console.test_chat import PICTURE
from tests.support.computer import Computer
from tests.support.gate import Gate
from tests.support.messages_api import MessagesAPI
from tests.support.replies import Pause, Reply, text

pytestmark = pytest.mark.long
WHOLE = True


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """Skills, an agent, a person, files, and a workspace that has one of the skills."""
    furnishing.install(computer, "brain")
    for name in ("tides", "recipes"):
        body = {"name": name, "description": f"Knows {name}.", "content": "Look it up."}
        furnishing.call(computer, "POST", "/api/skills", json=body)
    broken = computer.vault / ".claude" / "skills" / "tired"
    broken.mkdir(parents=True)
    (broken / "SKILL.md").write_text("---\nname: another\n---\n")
    agent = {"name": "skipper", "description": "Plans trips.", "prompt": "You plan trips."}
    furnishing.call(computer, "POST", "/api/agents", json=agent)
    person = {"entity_type": "person", "name": "Maria Silva", "data": {}, "content": ""}
    furnishing.call(computer, "POST", "/api/brain/entities", json=person)
    (computer.vault / "Harbours").mkdir()
    (computer.vault / "Harbours" / "Cuxhaven.md").write_text("secret-of-cuxhaven\n")
    (computer.vault / "Harbours" / "Old town.md").write_text("Old.\n")
    boat = {"name": "Boat", "capabilities": {"skills": ["recipes"]}}
    furnishing.call(computer, "POST", "/api/workspaces", json=boat)


def write(page: Page, words: str) -> None:
    """Type at the end of the message, as a keyboard does."""
    page.get_by_label("Message", exact=True).press_sequentially(words)


def test_a_slash_offers_the_skills_that_can_be_called(make_person: MakePerson) -> None:
    person = make_person(bypass_csp=True)
    page = person.open("chat")
    message, offered = page.get_by_label("Message", exact=True), page.get_by_role("listbox", name="Suggestions")
    write(page, "/")
    expect(offered.get_by_role("option")).to_have_count(2)
    expect(offered.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    assert violations(page) == []
    write(page, "t")
    expect(offered.get_by_role("option")).to_have_count(1)
    expect(message).to_have_attribute("aria-activedescendant", str(offered.get_by_role("option").get_attribute("id")))
    page.keyboard.press("Escape")
    expect(offered).to_have_count(0)
    message.fill("")
    write(page, "/t")
    expect(offered.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(message).to_have_value("/tides ")
    expect(offered).to_have_count(0)
    write(page, "and /re")
    expect(offered).to_have_count(0)
    message.fill("")
    page.get_by_label("Workspace, model, rights and folder").get_by_role("button", name="Workspace").click()
    page.get_by_role("dialog").get_by_role("button", name="Boat").click()
    write(page, "/")
    expect(offered.get_by_role("option")).to_have_text(["/recipesKnows recipes."])


def test_an_at_names_files_people_and_agents(make_person: MakePerson, model: MessagesAPI) -> None:
    page = make_person().open("chat")
    message, offered = page.get_by_label("Message", exact=True), page.get_by_role("listbox", name="Suggestions")
    write(page, "Ask @ski")
    offered.get_by_role("option", name="skipper").click()
    expect(message).to_have_value("Ask skipper ")
    expect(message).to_be_focused()
    write(page, "about @mar")
    offered.get_by_role("option", name="Maria Silva").click()
    write(page, "and @Harb")
    expect(offered.get_by_role("option", name="Harbours Folder")).to_be_visible()
    page.keyboard.press("Tab")
    expect(offered.get_by_role("option")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    expect(offered.get_by_role("option", name="Old town.md")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(message).to_have_value("Ask skipper about Maria Silva and Harbours/Cuxhaven.md ")
    write(page, "or @Harbours/old")
    offered.get_by_role("option", name="Old town.md").click()
    expect(message).to_have_value("Ask skipper about Maria Silva and Harbours/Cuxhaven.md or `Harbours/Old town.md` ")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_be_visible()
    sent = str(model.conversation[-1].body["messages"])
    assert "Harbours/Cuxhaven.md" in sent
    assert "secret-of-cuxhaven" not in sent, "naming a file does not read it"


def test_a_finger_takes_a_suggestion(person: Person) -> None:
    page = person.open("chat")
    write(page, "@ski")
    page.get_by_role("option", name="skipper").tap()
    expect(page.get_by_label("Message", exact=True)).to_have_value("skipper ")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def file(name: str, content: bytes, kind: str = "text/plain") -> FilePayload:
    """A file as one chooses it."""
    return {"name": name, "mimeType": kind, "buffer": content}


def test_files_are_refused_with_a_reason_and_the_others_go(make_person: MakePerson) -> None:
    person = make_person(PHONE, bypass_csp=True)
    page = person.open("chat")
    chooser = page.locator("input[type=file][multiple]")
    large = file("large.png", bytes(5_000_001), "image/png")
    chooser.set_input_files([file("a.txt", b"a"), large, file("boat.png", PICTURE, "image/png")])
    chooser.set_input_files([file("b.txt", b"b")])
    chosen = page.locator(".composer .attachments li:not(.refused)")
    expect(chosen).to_have_text(["a.txt", "boat.png", "b.txt"])
    expect(page.get_by_role("alert").get_by_text("large.png is larger than 5 MB.")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Remove b.txt").click()
    page.get_by_label("Message", exact=True).fill("Two files.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_be_visible()
    for _ in range(2):
        sent = page.get_by_role("list", name="Files of this message")
        expect(sent.get_by_role("listitem")).to_have_count(2)
        sent.get_by_role("button", name="Show boat.png large").click()
        large_picture = page.get_by_role("dialog", name="boat.png").get_by_role("img")
        expect(large_picture).to_have_js_property("naturalWidth", 1)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.reload()


def test_files_dropped_during_an_answer_wait_for_the_next_message(make_person: MakePerson, model: MessagesAPI) -> None:
    gate = Gate()
    model.script(Reply((*text("Until here").parts, Pause(gate), *text(" and on").parts)))
    page = make_person().open("chat")
    page.get_by_label("Message", exact=True).fill("Slowly.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Until here")).to_be_visible()
    page.locator(".composer").evaluate(
        """(composer) => {
          const files = new DataTransfer();
          for (const name of ['a.txt', 'b.txt']) files.items.add(new File([name], name, { type: 'text/plain' }));
          composer.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
        }"""
    )
    expect(page.locator(".composer .attachments li")).to_have_count(2)
    page.get_by_label("Message", exact=True).fill("One word more.")
    page.get_by_role("button", name="Add to this answer").click()
    expect(page.get_by_text("One word more.")).to_be_visible()
    expect(page.locator(".composer .attachments li")).to_have_count(2)
    gate.open()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    page.get_by_label("Message", exact=True).fill("Now the files.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("list", name="Files of this message").get_by_role("listitem")).to_have_count(2)
