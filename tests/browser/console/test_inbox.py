"""Items that wait: each is counted everywhere, read before it is answered, and answered once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.furnished_parts import (
    FETCH,
    Household,
    furnish_modules,
    furnish_question,
    furnish_workspace,
    furnished_capabilities,
    propose_note,
    write_plan,
)
from tests.browser.console.people import PHONE, Person
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long
WHOLE = True


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    """A workspace, and modules to which something can be proposed."""
    made = Household(computer, model)
    furnish_modules(made, ("brain",))
    furnish_workspace(made)
    return made


@pytest.fixture(scope="module")
def plugin(house: Household, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A plugin whose programs wait."""
    with furnished_capabilities(house, Path(tmp_path_factory.mktemp("git"))):
        yield


def test_an_empty_inbox_says_what_belongs_there(person: Person, house: Household) -> None:
    page = person.open("inbox")
    expect(page.get_by_role("heading", name="Nothing needs your decision")).to_be_visible()
    page.get_by_role("link", name="Start a conversation").click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()


def test_a_host_is_allowed_for_good_and_that_is_taken_back(make_person: MakePerson, house: Household) -> None:
    page = make_person(PHONE).open("chat")
    house.say("What will the weather be?", tool_use("Bash", FETCH), text("I have asked."))
    expect(page.get_by_label("1 needs your decision").last).to_be_visible()
    page.get_by_role("navigation", name="More").get_by_role("link", name="Waiting").click()
    shown = page.get_by_role("article", name="wants to reach weather.example.org.")
    expect(shown.get_by_role("button", name="Allow for this conversation")).to_be_visible()
    shown.get_by_role("button", name="Always in chats without a workspace").click()
    expect(page.get_by_role("heading", name="Nothing needs your decision")).to_be_visible()
    # The answer is sent as whatever waits is: the card is gone before.
    wait_until(
        lambda: [each["choice"] for each in house.ask("GET", "/api/network/decisions")["decisions"]] == ["always"],
        "the computer knows the answer",
    )
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert house.ask("GET", "/api/network/decisions")["decisions"] == []


def test_a_question_is_answered_on_one_device_and_gone_on_the_other(make_person: MakePerson, house: Household) -> None:
    one, other = make_person(PHONE).open("inbox"), make_person().open("inbox")
    furnish_question(house)
    for page in (one, other):
        expect(page.get_by_role("article")).to_contain_text("Which colour should the hull have?")
    answer = one.get_by_role("button", name="Answer", exact=True)
    expect(answer).to_be_disabled()
    one.get_by_label("Navy blue").check()
    answer.click()
    for page in (one, other):
        expect(page.get_by_role("article")).to_have_count(0)
        expect(page.get_by_role("heading", name="Nothing needs your decision")).to_be_visible()


@at_both_sizes
def test_a_held_change_is_shown_as_a_difference_and_applied(person: Person, house: Household) -> None:
    write_plan(house)
    page = person.open("inbox")
    shown = page.get_by_role("article", name="wants to change plan.md in boat.")
    shown.get_by_text("plan.md +").click()
    expect(shown.get_by_text("Sand the hull")).to_be_visible()
    shown.get_by_role("button", name="Apply", exact=True).click()
    expect(page.get_by_role("heading", name="Nothing needs your decision")).to_be_visible()
    plan = house.computer.vault / "Projects" / "boat" / "plan.md"
    # The card goes when the answer is on its way.
    wait_until(plan.exists, "the change is applied")
    assert "Sand the hull" in plan.read_text()
    plan.unlink()


def test_a_suggestion_is_turned_down(person: Person, house: Household) -> None:
    propose_note(house)
    page = person.open("inbox")
    shown = page.get_by_role("article", name="A conversation suggests changing Kevin in Knowledge.")
    expect(shown).to_contain_text("Sails to Helgoland in May.")
    shown.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", name="Nothing needs your decision")).to_be_visible()


def test_escape_closes_and_changes_nothing(make_person: MakePerson, house: Household, plugin: None) -> None:
    page = make_person().open("inbox")
    look = page.get_by_role("button", name="See what it brings")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    look.focus()
    page.keyboard.press("Enter")
    shown = page.get_by_role("dialog", name="The plugin sailing wants to run programs.")
    expect(shown).to_contain_text("hook UserPromptSubmit")
    page.keyboard.press("Escape")
    expect(shown).to_have_count(0)
    expect(look).to_be_focused()
    assert len(house.waiting()) == 1
