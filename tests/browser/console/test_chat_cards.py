"""Cards at the end of a turn: each does in its place what it says, also after a reload and in a second window."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.furnished_parts import FETCH, Household, furnish_modules, propose_note
from tests.browser.console.people import DESKTOP, PHONE, Person
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long

HOSTILE = ("<img src=x onerror=alert(1)>", "‮txt.exe", "$(reboot)", "a" * 180)


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    return Household(computer, model)


@pytest.fixture
def project(house: Household, word: str) -> Path:
    """A workspace with a folder of its own, whose changes are applied at once."""
    folder = house.computer.vault / "Projects" / word
    folder.mkdir(parents=True)
    house.ask("POST", "/api/workspaces", {"name": word, "working_directory": f"Projects/{word}"})
    return folder


def works(house: Household, project: Path, script: str, **fields: str) -> str:
    """A turn in which the agent runs a shell script in the project; its conversation."""
    return house.say("Work.", tool_use("Bash", {"command": script}), text("Done."), workspaceId=project.name, **fields)


def cards(page: Page) -> Locator:
    """The cards of the newest turn."""
    return page.get_by_role("region", name="In this turn").last


@at_both_sizes
def test_a_file_is_taken_back_and_put_back_in_its_place(person: Person, house: Household, project: Path) -> None:
    session = works(house, project, "printf 'a\\nb\\n' > plan.md")
    page = person.open(f"chat/{session}")
    shown = cards(page)
    expect(shown.get_by_text("plan.md")).to_be_visible()
    expect(shown.get_by_text("+2")).to_be_visible()
    # What is short is there without a tap.
    expect(shown.get_by_label("Difference", exact=True).get_by_text("+a")).to_be_visible()
    expect(shown.get_by_role("button", name="Difference")).to_have_attribute("aria-pressed", "true")
    for _ in range(2):
        shown.get_by_role("button", name="Undo").click()
        expect(shown.get_by_text("is as it was before.")).to_be_visible()
        expect(shown.get_by_role("button", name="Redo")).to_be_focused()
        assert not (project / "plan.md").exists()
        page.reload()
        shown.get_by_role("button", name="Redo").click()
        expect(shown.get_by_text("+2")).to_be_visible()
        assert (project / "plan.md").read_text() == "a\nb\n"
    expect(shown.get_by_text("tokens")).to_be_visible()


def test_a_turn_that_ends_now_gets_its_cards_in_both_windows(
    make_person: MakePerson, house: Household, model: MessagesAPI, project: Path
) -> None:
    person = make_person()
    session = works(house, project, "true")
    one = person.open(f"chat/{session}")
    other = person.context.new_page()
    other.goto(one.url)
    expect(other.get_by_label("Message", exact=True)).to_be_visible()
    model.script(tool_use("Bash", {"command": "echo now > now.md"}), text("Written."))
    one.get_by_label("Message", exact=True).fill("Go on.")
    one.get_by_role("button", name="Send").click()
    for page in (one, other):
        expect(cards(page).get_by_text("now.md")).to_be_visible()


def test_hostile_names_are_text(make_person: MakePerson, house: Household, project: Path) -> None:
    names = " ".join(f"'{name}'" for name in HOSTILE)
    session = works(house, project, f'for name in {names}; do echo x > ./"$name"; done')
    person = make_person(PHONE)
    page = person.open(f"chat/{session}")
    shown = cards(page)
    shown.get_by_role("button", name="Show").click()
    for name in HOSTILE:
        expect(shown.get_by_text(name)).to_be_visible()
    assert page.locator(".cards img").count() == 0
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


@at_both_sizes
def test_a_host_is_allowed_and_that_is_taken_back(person: Person, house: Household, project: Path) -> None:
    session = works(house, project, FETCH["command"])
    page = person.open(f"chat/{session}")
    shown = cards(page)
    expect(shown.get_by_text("weather.example.org⁩ was refused.")).to_be_visible()
    shown.get_by_role("button", name="Always").click()
    expect(shown.get_by_text("weather.example.org⁩ is always allowed.")).to_be_visible()
    expect(shown).to_be_focused()
    page.reload()
    shown.get_by_role("button", name="Undo").click()
    expect(shown.get_by_text("weather.example.org⁩ was refused.")).to_be_visible()
    works(house, project, FETCH["command"], sessionId=session)
    cards(page).get_by_role("button", name="Allow once").click()
    expect(cards(page).get_by_text("is allowed in this conversation")).to_be_visible()
    assert house.waiting() == []
    cards(page).get_by_role("button", name="Try again").click()
    expect(page.get_by_label("You", exact=True).last).to_contain_text("You may reach weather.example.org now.")
    expect(page.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_be_visible()
    expect(page.locator(".cards").get_by_role("button", name="Try again")).to_have_count(0)


def test_what_waits_is_answered_in_its_place(make_person: MakePerson, house: Household, project: Path) -> None:
    session = works(house, project, "echo x > .envrc")
    page = make_person().open(f"chat/{session}")
    shown = cards(page)
    expect(shown.get_by_text("1 change waits for your decision.")).to_be_visible()
    shown.get_by_role("button", name="Apply").click()
    expect(shown.get_by_text("applied by you")).to_be_visible()
    assert (project / ".envrc").read_text() == "x\n"
    shown.get_by_role("button", name="Undo").click()
    expect(shown.get_by_text("is as it was before.")).to_be_visible()
    assert not (project / ".envrc").exists()


def test_a_suggestion_is_decided_beside_the_turn_that_made_it(make_person: MakePerson, house: Household) -> None:
    furnish_modules(house, ("brain",))
    propose_note(house)
    (item,) = [each for each in house.waiting() if each["kind"] == "suggestion"]
    person = make_person(PHONE, bypass_csp=True)
    page = person.open(f"chat/{item['session_id']}")
    shown = cards(page)
    shown.get_by_role("button", name="Show").click()
    expect(shown.get_by_text("- Sails to Helgoland in May.")).to_be_visible()
    assert violations(page) == []
    shown.get_by_role("button", name="Approve").click()
    expect(shown.locator(".card")).to_have_count(0)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    shown.get_by_role("button", name="Reject").click()
    expect(shown.locator(".card")).to_have_count(0)


@pytest.mark.parametrize(("size", "scheme", "language"), [(PHONE, "light", "en"), (DESKTOP, "dark", "de")])
def test_no_card_breaks_a_rule(
    make_person: MakePerson, house: Household, project: Path, size: dict[str, object], scheme: str, language: str
) -> None:
    session = works(house, project, f"echo 1 > a; echo 2 > b; echo x > .envrc; {FETCH['command']}")
    person = make_person(size, color_scheme=scheme, locale=language, bypass_csp=True)
    page = person.open(f"chat/{session}")
    shown = page.locator(".cards").last
    expect(shown.locator(".card")).to_have_count(3)
    shown.locator(".card-actions button").first.click()
    expect(shown.locator(".row").first).to_be_visible()
    assert violations(page) == []
    shown.locator(".card-actions button").nth(1).click()
    expect(shown.get_by_text("⁨a⁩")).to_be_visible()
    assert violations(page) == []
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
