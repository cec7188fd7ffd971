"""Scheduled agents: one of a module runs now, one of the owner's own waits for approval."""

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import at_both_sizes
from tests.browser.console.furnished_parts import Household, furnish_modules
from tests.browser.console.people import Person
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.long

OWN = """---
schedule: {enabled: true, time: "21:30"}
---
Look for plants that need water.
"""


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    made = Household(computer, model)
    furnish_modules(made, ("brain", "daily"))
    return made


@at_both_sizes
def test_an_agent_runs_now_and_shows_what_it_did(person: Person, house: Household) -> None:
    page = person.open("schedule")
    reflection = page.get_by_role("listitem").filter(has_text="Reflection")
    expect(reflection).to_contain_text("each day at")
    reflection.get_by_role("button", name="Run now").click()
    expect(page.locator(".toast")).to_be_visible()
    reflection.get_by_role("button", name="Runs").click()
    shown = page.get_by_role("dialog", name="Runs of Reflection")
    expect(shown.locator("details").first).to_be_visible()
    shown.locator("summary").first.click()
    expect(shown.get_by_role("heading", name="Its file")).to_be_visible()


def test_an_own_agent_waits_until_it_is_approved(person: Person, house: Household) -> None:
    file = house.computer.vault / "Daily" / ".agents" / "plants.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(OWN)
    house.ask("POST", "/api/scheduler/reload")
    page = person.open("schedule")
    line = page.get_by_role("listitem").filter(has_text="waits for your approval")
    line.get_by_role("button", name="Approve").click()
    expect(line).to_have_count(0)
    agents = {each["name"]: each["status"] for each in house.ask("GET", "/api/scheduler")["agents"]}
    assert agents["plants"] == "ready"


@at_both_sizes
def test_a_reminder_is_made_and_removed(person: Person, house: Household) -> None:
    page = person.open("schedule")
    page.get_by_label("Remind me of").fill("Take the bread out")
    page.get_by_label("When").fill("every weekday at 7")
    page.get_by_role("button", name="Remind me").click()
    line = page.get_by_role("listitem").filter(has_text="Take the bread out")
    expect(line).to_contain_text("every weekday at 7")
    assert [each["text"] for each in house.ask("GET", "/api/reminders")["reminders"]] == ["Take the bread out"]
    line.get_by_role("button", name="Remove").click()
    expect(line).to_have_count(0)


@at_both_sizes
def test_a_task_is_ticked_in_its_file_and_open_again(person: Person, house: Household, word: str) -> None:
    file = house.computer.vault / "Notes" / f"{word}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"# Bank\n\n- [ ] Call {word} 📅 2026-11-24\n")
    page = person.open("schedule")
    line = page.get_by_role("listitem").filter(has_text=f"Call {word}")
    expect(line).to_contain_text("2026")
    expect(line.get_by_role("link", name=f"Notes/{word}.md · Bank")).to_have_attribute(
        "href", f"#/files/Notes?file={word}.md&line=3"
    )
    line.get_by_role("checkbox", name=f"Call {word}").click()
    expect(line).to_have_count(0)
    assert "- [x] Call" in file.read_text()
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(line).to_have_count(1)
    assert "- [ ] Call" in file.read_text()
