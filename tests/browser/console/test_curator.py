"""A project's notes change: one watcher is reviewed, and what comes of it is approved and taken back in the browser."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import DESKTOP, PHONE
from tests.browser.console.proposals import call
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long

ROOT = '---\nwatch:\n  - "Projects/*"\n---\n\n# All\n\n## History\n'
LINE = "The boat is red now (Projects/boat)"


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """The curator waits for nobody to finish."""
    return {"curator": {"quiet_seconds": 0}}


@pytest.fixture(scope="module", autouse=True)
def boat(computer: Computer) -> None:
    """A project, which the vault watches."""
    folder = computer.vault / "Projects/boat"
    folder.mkdir(parents=True)
    (computer.vault / "AGENTS.md").write_text(ROOT)
    (folder / "AGENTS.md").write_text("A blue boat.\n")
    call(computer, "GET", "/api/contexts/watches")


def test_a_change_of_a_project_becomes_a_line_and_goes_again(
    make_person: MakePerson, computer: Computer, model: MessagesAPI
) -> None:
    arguments = {"file": "AGENTS.md", "section": "history", "content": f"- {LINE}"}
    model.script(tool_use("mcp__parachute__update_context", arguments), text("The boat is red."))
    page = make_person(PHONE).open("suggestions")
    expect(page.get_by_role("heading", name="No suggestions")).to_be_visible()
    (computer.vault / "Projects/boat/AGENTS.md").write_text("A red boat.\n")
    card = page.get_by_role("article", name="Update: AGENTS.md")
    expect(card.get_by_text("contexts/curator · ")).to_be_visible()
    expect(card.get_by_text("Projects/boat/AGENTS.md has changed.")).to_be_visible()
    expect(card.get_by_label("Difference").get_by_text(LINE)).to_be_visible()
    assert (computer.vault / "AGENTS.md").read_text() == ROOT
    (run,) = call(computer, "GET", "/api/contexts/curator")["runs"]
    assert run["status"] == "completed"
    card.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Update: AGENTS.md: approved.")).to_be_visible()
    written = (computer.vault / "AGENTS.md").read_text()
    assert written.startswith(ROOT)
    assert written.endswith(f"UTC -->\n- {LINE}\n")
    page.get_by_role("button", name="Decided").click()
    line = page.get_by_role("listitem").filter(has_text="Update: AGENTS.md")
    line.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("undone; it waits for your decision again")).to_be_visible()
    assert (computer.vault / "AGENTS.md").read_text() == ROOT


def test_watches_are_shown_and_a_review_is_asked_for(make_person: MakePerson, computer: Computer) -> None:
    page = make_person(DESKTOP).open("workspaces")
    section = page.locator("section", has=page.get_by_role("heading", name="Linked instructions"))
    row = section.get_by_role("listitem").filter(has_text="AGENTS.md")
    expect(row.get_by_text("Projects/*: Projects/boat/AGENTS.md")).to_be_visible()
    expect(section.get_by_text("The curator proposes changes, and you decide.")).to_be_visible()
    row.get_by_role("button", name="Review now").click()
    expect(page.get_by_text("AGENTS.md is reviewed next.")).to_be_visible()
    expect(section.get_by_text("Review of AGENTS.md: asked for")).to_be_visible()
