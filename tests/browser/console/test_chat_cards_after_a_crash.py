"""Cards at the end of a turn after a crash: what they said and can do is kept."""

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import MakePerson
from tests.browser.console.furnished_parts import Household
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long
WHOLE = True


def test_each_turn_keeps_its_cards_in_both_windows_and_after_a_crash(
    make_person: MakePerson, computer: Computer, model: MessagesAPI, word: str
) -> None:
    house = Household(computer, model)
    project = computer.vault / "Projects" / word
    project.mkdir(parents=True)
    house.ask("POST", "/api/workspaces", {"name": word, "working_directory": f"Projects/{word}"})
    first = tool_use("Bash", {"command": "echo 1 > first; echo 2 > second"})
    session = house.say("Work.", first, text("Done."), workspaceId=word)
    house.say("Go on.", tool_use("Bash", {"command": "echo 3 > third"}), text("Done."), sessionId=session)
    computer.kill_core()
    person = make_person()
    one = person.open(f"chat/{session}")
    other = person.context.new_page()
    other.goto(one.url)
    for page in (one, other):
        regions = page.get_by_role("region", name="In this turn")
        expect(regions).to_have_count(2)
        expect(regions.first.get_by_text("2 files")).to_be_visible()
        expect(regions.last.get_by_text("third")).to_be_visible()
    region = one.get_by_role("region", name="In this turn").first
    region.get_by_role("button", name="Show").click()
    region.get_by_role("listitem").filter(has_text="second").get_by_role("button", name="Undo").click()
    expect(region.locator(".undone")).to_have_text("second")
    region.get_by_role("button", name="Undo").first.click()
    for page in (one, other):
        expect(page.get_by_text("first⁩ and ⁨second⁩ are as they were before.")).to_be_visible()
    assert [path.name for path in project.iterdir()] == ["third"]
