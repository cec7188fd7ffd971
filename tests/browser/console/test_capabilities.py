"""Agents, skills, MCP servers and plugins: written, installed, approved, tried and removed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.furnished_parts import Household
from tests.browser.console.people import PHONE, Person
from tests.capabilities.mcp_servers.programs import plain
from tests.capabilities.mcp_servers.remote_servers import RemoteServer, browse
from tests.capabilities.plugins.building import repository
from tests.capabilities.plugins.git_server import GitServer, git_server
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def house(computer: Computer, model: MessagesAPI) -> Household:
    return Household(computer, model)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    with git_server(tmp_path_factory.mktemp("git")) as running:
        yield running


@at_both_sizes
def test_an_agent_is_written_read_and_removed(person: Person, house: Household) -> None:
    page = person.open("capabilities/agents")
    page.get_by_role("button", name="Write an agent").click()
    form = page.get_by_role("dialog", name="Write an agent")
    form.get_by_label("Name").fill("boatwright")
    form.get_by_label("What is it for?").fill("Knows wood and ropes.")
    form.get_by_label("Prompt").fill("You help with an old boat.")
    form.get_by_label("Tools").fill("Read, Grep")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    page.get_by_role("button", name="boatwright", exact=True).click()
    shown = page.get_by_role("dialog", name="boatwright")
    expect(shown).to_contain_text("You help with an old boat.")
    expect(shown).to_contain_text("Read, Grep")
    page.keyboard.press("Escape")
    line = page.get_by_role("listitem").filter(has_text="Knows wood and ropes.")
    line.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(line).to_have_count(0)


def test_a_skill_is_written_and_removed(person: Person, house: Household) -> None:
    page = person.open("capabilities/skills")
    page.get_by_role("button", name="Write a skill").click()
    form = page.get_by_role("dialog", name="Write a skill")
    form.get_by_label("Name").fill("checklist")
    form.get_by_label("What is it for?").fill("Makes a checklist.")
    form.get_by_label("Instructions").fill("Ask for the days first.")
    form.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="/checklist").click()
    expect(page.get_by_role("dialog", name="/checklist")).to_contain_text("Ask for the days first.")
    page.keyboard.press("Escape")
    line = page.get_by_role("listitem").filter(has_text="Makes a checklist.")
    line.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(line).to_have_count(0)


def test_an_agent_is_changed_and_the_change_taken_back(person: Person, house: Household) -> None:
    house.ask(
        "POST", "/api/agents", {"name": "cook", "prompt": "You cook.", "description": "Knows food.", "tools": ["Read"]}
    )
    page = person.open("capabilities/agents")
    page.get_by_role("button", name="cook", exact=True).click()
    page.get_by_role("dialog", name="cook").get_by_role("button", name="Change").click()
    form = page.get_by_role("dialog", name="Change cook")
    expect(form.get_by_label("Tools")).to_have_value("Read")
    form.get_by_label("Prompt").fill("You cook well.")
    form.get_by_label("Tools").fill("")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    changed = house.ask("GET", "/api/agents/cook")
    assert (changed["system_prompt"], changed["tools"], changed["description"]) == ("You cook well.", [], "Knows food.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    page.get_by_role("button", name="cook", exact=True).click()
    expect(page.get_by_role("dialog", name="cook")).to_contain_text("You cook.")
    # Somebody else is faster.
    page.get_by_role("dialog", name="cook").get_by_role("button", name="Change").click()
    house.ask("PUT", "/api/agents/cook", {"prompt": "You bake."})
    form.get_by_label("Prompt").fill("You fry.")
    form.get_by_role("button", name="Save").click()
    asked = page.get_by_role("dialog", name="Replace the other changes?")
    asked.get_by_role("button", name="Cancel").click()
    assert house.ask("GET", "/api/agents/cook")["system_prompt"] == "You bake."
    form.get_by_role("button", name="Save").click()
    asked.get_by_role("button", name="Replace").click()
    expect(form).to_have_count(0)
    assert house.ask("GET", "/api/agents/cook")["system_prompt"] == "You fry."
    house.ask("DELETE", "/api/agents/cook")
    person.forgive_refusals()


def test_a_skill_is_changed_and_keeps_its_other_fields(person: Person, house: Household) -> None:
    content = "---\nname: knots\ndescription: Ties knots.\nlicense: MIT\n---\n\nTie a bowline.\n"
    house.ask("POST", "/api/skills", {"name": "knots", "content": content})
    page = person.open("capabilities/skills")
    page.get_by_role("button", name="/knots").click()
    page.get_by_role("dialog", name="/knots").get_by_role("button", name="Change").click()
    form = page.get_by_role("dialog", name="Change /knots")
    expect(form.get_by_label("Instructions")).to_have_value("Tie a bowline.")
    form.get_by_label("Instructions").fill("Tie a reef knot.")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    file = house.computer.vault / ".claude" / "skills" / "knots" / "SKILL.md"
    assert file.read_text() == content.replace("bowline", "reef knot")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="/knots").click()
    expect(page.get_by_role("dialog", name="/knots")).to_contain_text("Tie a bowline.")
    assert file.read_text() == content
    # An open dialog would ask for what is gone.
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    house.ask("DELETE", "/api/skills/knots")


def test_signing_in_to_a_server_elsewhere_and_out(make_person: MakePerson, house: Household) -> None:
    person = make_person(PHONE)
    with RemoteServer(oauth=True) as elsewhere:
        house.ask("POST", "/api/mcps", {"name": "elsewhere", "url": elsewhere.url})
        page = person.open("capabilities/mcps")
        page.get_by_role("button", name="elsewhere", exact=True).click()
        shown = page.get_by_role("dialog", name="elsewhere")
        shown.get_by_role("button", name="Sign in").click()
        link = shown.get_by_role("link", name="Open the page on which you sign in").get_attribute("href")
        shown.get_by_label("If the page does not come back by itself").fill(browse(link or ""))
        shown.get_by_role("button", name="Finish").click()
        expect(shown.get_by_text("act", exact=True)).to_be_visible()
        line = page.get_by_role("listitem").filter(has_text="elsewhere")
        expect(line.get_by_text("connected", exact=True)).to_be_attached()
        shown.get_by_role("button", name="Sign out").click()
        page.get_by_role("dialog", name="Sign out of elsewhere?").get_by_role("button", name="Sign out").click()
        expect(shown.get_by_role("button", name="Sign in")).to_be_visible()
        expect(line.get_by_text("needs you to sign in")).to_be_attached()
        kept = json.loads((house.computer.home.root / "mcp-logins.json").read_text())
        assert [each["access"] for each in kept] == [None]
        # An open dialog would ask for what is gone.
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        house.ask("DELETE", "/api/mcps/elsewhere")


def test_a_server_is_added_tried_and_removed(person: Person, house: Household) -> None:
    folder = house.computer.folder / "servers"
    folder.mkdir(exist_ok=True)
    (folder / "words.py").write_text(plain(""))
    page = person.open("capabilities/mcps")
    page.get_by_role("button", name="Add a server").click()
    form = page.get_by_role("dialog", name="Add a server")
    form.get_by_label("Name", exact=True).fill("words")
    form.get_by_label("Where does it run?").select_option("Here, as a program in a sandbox")
    form.get_by_label("Command").fill("python3")
    form.get_by_label("Arguments").fill(f"-c\nexec({json.dumps(plain(''))})")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    page.get_by_role("button", name="words", exact=True).click()
    shown = page.get_by_role("dialog", name="words")
    shown.get_by_role("button", name="Test").click()
    expect(page.get_by_text("words answers and offers 1 tool")).to_be_visible()
    expect(shown.get_by_text("act", exact=True)).to_be_visible()
    shown.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name="Remove words?").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="words", exact=True)).to_have_count(0)


def test_a_plugin_is_installed_approved_updated_and_removed(
    make_person: MakePerson, house: Household, server: GitServer, tmp_path: Path
) -> None:
    made = repository(tmp_path / "sailing")
    page = make_person().open("capabilities")
    page.get_by_role("button", name="Install a plugin").click()
    form = page.get_by_role("dialog", name="Install a plugin")
    form.get_by_label("Address").fill(server.publish(made))
    form.get_by_role("button", name="Install").click()
    expect(form).to_have_count(0)
    expect(page.get_by_text("programs need your approval")).to_be_visible()
    page.get_by_role("button", name="demo", exact=True).click()
    shown = page.get_by_role("dialog", name="demo")
    expect(shown).to_contain_text("What it may do")
    shown.get_by_role("button", name="Approve").click()
    expect(shown.get_by_role("button", name="Approve")).to_have_count(0)
    (made.folder / "skills" / "greet" / "SKILL.md").write_text(
        "---\nname: greet\ndescription: Greets coldly.\n---\nBe cold.\n"
    )
    made.commit()
    server.publish(made)
    shown.get_by_role("button", name="Check for an update").click()
    expect(shown).to_contain_text("Be cold.")
    shown.get_by_role("button", name="Update").click()
    expect(page.get_by_text("demo is up to date.")).to_be_visible()
    shown.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name="Remove demo?").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("demo", exact=True)).to_have_count(0)
    assert house.ask("GET", "/api/plugins")["plugins"] == []
