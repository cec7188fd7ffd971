"""The official modules together, as a person sets them up and uses them from a terminal."""

import json
from datetime import date
from typing import Any

import pytest

from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.computer import Computer
from tests.support.making import Make

pytestmark = pytest.mark.long


@pytest.fixture
def house(make_computer: Make[Computer]) -> ModuleComputer:
    return make_computer(ModuleComputer)


def said(house: ModuleComputer, *arguments: str) -> str:
    """Return the output of a command that has to succeed."""
    done = house.command(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def value(house: ModuleComputer, *arguments: str) -> Any:
    return json.loads(said(house, *arguments, "--json"))


def test_set_up_write_and_find(house: ModuleComputer) -> None:
    assert "daily add" in said(house, "setup", "--yes")
    (house.vault / "Brain/entities/people").mkdir(parents=True, exist_ok=True)
    (house.vault / "Brain/entities/people/kevin.md").write_text("# Kevin\nAdvisor of the garden.\n")
    house.wait_until(lambda: house.command("brain", "resolve", "kevin").returncode == 0, "the file was read")
    day = None
    while day != date.today():  # once more if midnight came in between
        day = date.today()
        written, linked = said(house, "daily", "add", "Tea with Kevin.", "--title", "Afternoon").splitlines()
        listed = value(house, "daily", "today")
        shown = said(house, "daily", "today").splitlines()
    identifier = written.removeprefix("Written: ")
    assert linked == "Linked: Kevin"
    assert identifier.startswith("para:daily:")
    (today,) = listed
    assert (today["id"], today["title"], today["content"]) == (identifier, "Afternoon", "Tea with Kevin.")
    assert "Afternoon" in shown[0]
    assert shown[1] == "Tea with Kevin."
    assert value(house, "daily", "search", "tea")["entries"][0]["id"] == identifier
    (person,) = value(house, "brain", "search", "advisor")["results"]
    assert said(house, "brain", "resolve", "kevin") == f"{person['para_id']}  Kevin\n"
    assert "Brain/entities/people/kevin.md" in said(house, "brain", "search", "kevin")
    unknown = house.command("brain", "resolve", "Ottilie")
    assert (unknown.returncode, unknown.stderr) == (1, 'Error: Brain does not know anything called "Ottilie".\n')
    agents = value(house, "schedule", "list")["agents"]
    assert [(agent["module"], agent["name"], agent["status"]) for agent in agents] == [("daily", "reflection", "ready")]
    assert value(house, "events", "failed") == []


def test_what_the_readme_writes_leads_to_what_brain_knows(house: ModuleComputer) -> None:
    """README's first entry: proposed, named by the search, approved, and linked; also what is edited by hand (U4)."""
    missing = house.command("daily", "add", "x")
    assert missing.stderr.count("parachute setup --modules daily") == 1
    said(house, "setup", "--yes", "--modules", "daily,brain")
    added = value(house, "daily", "add", "Tea with Kevin, who moves to Berlin.")
    assert {(each["type"], each["name"]) for each in added["proposed"]} == {("person", "Kevin"), ("topic", "Berlin")}
    ids = {each["name"]: each["id"] for each in added["proposed"]}
    nothing = house.command("brain", "search", "berlin").stderr
    assert f"parachute suggestions approve {ids['Berlin']}" in nothing
    assert f"parachute daily show {added['id']}" in nothing

    said(house, "suggestions", "approve", ids["Kevin"], "--yes")
    kevin = value(house, "brain", "resolve", "Kevin")["para_id"]
    path = f"/api/daily/entries/{added['id']}"
    house.eventually(path, lambda entry: entry["mentions"] == [kevin], "the entry that led to Kevin mentions him")
    assert [each["source_id"] for each in value(house, "brain", "links", "Kevin")["mentions"]] == [added["id"]]

    other = value(house, "daily", "add", "Rain.")
    file = house.vault / other["path"]
    file.write_text(file.read_text().replace("Rain.", "Kevin was on the phone."))

    def is_linked(found: Any) -> bool:
        return other["id"] in [each["source_id"] for each in found["mentions"]]

    # Nobody asks for the entry: the file watcher is enough.
    house.eventually(f"/api/brain/links?id={kevin}", is_linked, "an entry that was edited by hand is linked")
    other_path = f"/api/daily/entries/{other['id']}"
    house.eventually(other_path, lambda entry: entry["mentions"] == [kevin], "the entry that led to him mentions him")
    assert value(house, "events", "failed") == []
